#include "runtime/checkpoint/NumericsIdentity.h"
#include <gtest/gtest.h>

namespace recipe::rt {

TEST(NumericsIdentity, TheSameNumericsAreSilent) {
  for (const NumericsIdentity &one : {NumericsIdentity{0, ""}, {1, ""}, {1, "pairs"}, {1, "blocks"}, {7, "blocks"}})
    EXPECT_EQ(compareNumerics(one, one), "");
}

TEST(NumericsIdentity, AnOrderThatOneSideLacksComesWithAPrecisionThatDiffers) {
  EXPECT_EQ(compareNumerics({1, ""}, {1, "pairs"}), "");
  EXPECT_EQ(compareNumerics({1, "blocks"}, {1, ""}), "");
}

TEST(NumericsIdentity, DifferencesNameBothSides) {
  EXPECT_EQ(
      compareNumerics({1, "blocks"}, {1, "pairs"}),
      "the run goes on with other bits, numerics of the checkpoint: version 1, bf16 sums in blocks (AMX); of this "
      "step: version 1, bf16 sums in pairs");
  EXPECT_EQ(compareNumerics({1, "pairs"}, {2, "blocks"}),
            "the run goes on with other bits, numerics of the checkpoint: version 1, bf16 sums in pairs; of this step: "
            "version 2, bf16 sums in blocks (AMX)");
  // What is new may have no say in this recipe.
  EXPECT_EQ(compareNumerics({2, ""}, {1, ""}),
            "the run may go on with other bits, numerics of the checkpoint: version 2; of this step: version 1");
  EXPECT_EQ(compareNumerics({1, "pairs"}, {2, "pairs"}),
            "the run may go on with other bits, numerics of the checkpoint: version 1, bf16 sums in pairs; of this "
            "step: version 2, bf16 sums in pairs");
}

TEST(NumericsIdentity, WhatIsNotRecordedMayDiffer) {
  EXPECT_EQ(compareNumerics({0, ""}, {1, "pairs"}),
            "the run may go on with other bits, numerics of the checkpoint: not recorded, before version 1; of this "
            "step: version 1, bf16 sums in pairs");
  EXPECT_EQ(compareNumerics({1, ""}, {0, ""}),
            "the run may go on with other bits, numerics of the checkpoint: version 1; of this step: not recorded, "
            "before version 1");
}

} // namespace recipe::rt
