#include "runtime/tools/RankProcess.h"
#include <gtest/gtest.h>

using namespace recipe::rt;

TEST(ShareOfCpusTest, RanksGetDisjointParts) {
  std::vector<int> cpus = {0, 1, 4, 5, 6, 7};
  EXPECT_EQ(shareOfCpus(cpus, 0, 2, 3), std::vector<int>({0, 1, 4}));
  EXPECT_EQ(shareOfCpus(cpus, 1, 2, 3), std::vector<int>({5, 6, 7}));
  EXPECT_EQ(shareOfCpus(cpus, 2, 3, 1), std::vector<int>({4}));
}

TEST(ShareOfCpusTest, NobodyGetsAPartThatIsNotEnough) {
  EXPECT_TRUE(shareOfCpus({0, 1}, 0, 2, 2).empty());
  EXPECT_TRUE(shareOfCpus({0, 1}, 1, 4, 1).empty());
  EXPECT_EQ(shareOfCpus({3}, 0, 1, 1), std::vector<int>({3}));
}

TEST(IsLossTest, OnlyWhatARestartMayMend) {
  EXPECT_TRUE(isLoss(absl::DeadlineExceededError("")));
  EXPECT_TRUE(isLoss(absl::UnavailableError("")));
  EXPECT_FALSE(isLoss(absl::FailedPreconditionError("loss is not finite")));
  EXPECT_FALSE(isLoss(absl::InternalError("")));
  EXPECT_FALSE(isLoss(absl::OkStatus()));
}
