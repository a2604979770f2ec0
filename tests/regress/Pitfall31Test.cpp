// Elsewhere: the same source compiles or runs differently from one time to the next.
#include "tests/e2e/Workspace.h"
#include <gtest/gtest.h>

namespace recipe::test {

struct Pitfall31 : testing::TestWithParam<const char *> {};

TEST_P(Pitfall31, CompilesToTheSameBytesOnAnyNumberOfThreadsInAnyFolder) {
  Workspace space;
  std::string recipe = std::string(GetParam()) + ".recipe";
  space.must("recipec compile " + recipe + " --threads 1 -o one.bin");
  space.must("recipec compile " + recipe + " --threads 2 -o two.bin");
  space.must("mkdir elsewhere && cd elsewhere && recipec compile ../" + recipe + " -o ../again.bin");
  space.must("cmp one.bin two.bin");
  space.must("cmp one.bin again.bin");
  EXPECT_GT(space.files().read("one.bin").size(), 10000u);
}

TEST_P(Pitfall31, RunsToTheSameBitsEveryTime) {
  Workspace space;
  space.must("recipec compile " + std::string(GetParam()) + ".recipe -o step.bin");
  for (std::string dir : {"a", "b", "c"})
    space.must("reciperun step.bin --threads 2 --output-dir " + dir);
  for (std::string dir : {"b", "c"}) {
    space.must("cmp a/model.safetensors " + dir + "/model.safetensors");
    std::vector<nlohmann::json> expected = space.steps("a"), found = space.steps(dir);
    ASSERT_EQ(found.size(), size_t(kUpdates));
    for (size_t i = 0; i < found.size(); ++i)
      for (const char *key : {"loss", "grad_norm", "learning_rate"})
        EXPECT_EQ(found[i][key].get<double>(), expected[i][key].get<double>()) << key << " of update " << i + 1;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Pitfall31, testing::Values("gpt2", "llama"),
                         [](const auto &info) { return std::string(info.param); });

} // namespace recipe::test
