// Elsewhere: an artefact runs with other flags than those it was compiled with and says nothing. Here: target and
// recipe are inside, and what does not fit is refused.
#include "runtime/abi/Container.h"
#include "runtime/loader/CpuFeatures.h"
#include "tests/e2e/Workspace.h"
#include <gtest/gtest.h>

namespace recipe::test {

static void expectRefused(const Workspace &space, const std::string &command, const std::string &message) {
  auto before = space.listing();
  Outcome outcome = space.run(command);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find(message), std::string::npos) << outcome.err;
  EXPECT_EQ(space.listing(), before);
}

// A step asks for the features that its code uses only, and a good machine may have all that this compiler uses: the
// step also asks for one that no machine has yet.
TEST(Pitfall32, AnotherInstructionSet) {
  Workspace space;
  space.must("recipec compile gpt2.recipe -o step.bin");
  abi::Step step = space.step("step.bin");
  std::string cpu = step.objects(0).cpu();
  step.mutable_objects(0)->add_features("avx4096f");
  std::string bytes, error;
  ASSERT_TRUE(abi::serializeStep(step, bytes, error)) << error;
  space.files().write("step.bin", bytes);
  expectRefused(space, "reciperun step.bin", "step.bin: compiled for " + cpu + ", but this machine lacks avx4096f");
  // Looking at it and interpreting it do not take the machine.
  space.must("recipec inspect step.bin");
  space.must("recipec interpret step.bin");
}

TEST(Pitfall32, AWiderInstructionSet) {
  if (rt::hasCpuFeature("avx512f"))
    GTEST_SKIP() << "this machine runs x86-64-v4";
  Workspace space;
  space.must("recipec compile gpt2.recipe -o step.bin --set target.arch=x86-64-v4");
  expectRefused(space, "reciperun step.bin", "step.bin: compiled for x86-64-v4, but this machine lacks avx512");
}

TEST(Pitfall32, TheTargetAndTheRecipeAreInside) {
  Workspace space;
  space.must("recipec compile gpt2.recipe -o v3.bin --set target.arch=x86-64-v3 --set optim.betas=[0.8,0.9]");
  space.must("reciperun v3.bin --steps 1");
  abi::Step step = space.step("v3.bin");
  ASSERT_EQ(step.objects_size(), 1);
  EXPECT_EQ(step.objects(0).cpu(), "x86-64-v3");
  EXPECT_EQ(step.objects(0).triple(), "x86_64-unknown-linux-gnu");
  std::string manifest = space.must("reciperun v3.bin --print-manifest").out;
  EXPECT_NE(manifest.find("x86-64-v3"), std::string::npos);
  EXPECT_NE(manifest.find("avx2"), std::string::npos);
  bool found = false;
  for (const auto &entry : step.recipe().entries())
    if (entry.key() == "optim.betas") {
      found = true;
      EXPECT_EQ(entry.value(), "[0.8, 0.9]");
      EXPECT_EQ(entry.origin(), "--set");
    }
  EXPECT_TRUE(found);
}

TEST(Pitfall32, AnIllegalNumberOfRanks) {
  Workspace space;
  space.must("recipec compile gpt2.recipe -o step.bin --set data.batch_size=4 --set optim.grad_accum_steps=4");
  for (std::string nodes : {"0", "-1"})
    expectRefused(space, "reciperun step.bin --nodes " + nodes, "--nodes: Value " + nodes + " not in range 1 to ");
  for (std::string nodes : {"3", "8"})
    expectRefused(space, "reciperun step.bin --nodes " + nodes,
                  "step.bin: --nodes must be one of the numbers of ranks that the step was compiled for, got " + nodes +
                      " and 1, 2, 4");
}

TEST(Pitfall32, ACompiledInKey) {
  Workspace space;
  space.must("recipec compile gpt2.recipe -o step.bin");
  expectRefused(
      space, "reciperun step.bin --set optim.weight_decay=0",
      "step.bin: 'optim.weight_decay' is compiled in with the value 0.1; change the recipe and compile again");
  expectRefused(space, "reciperun step.bin --set model.config.n_layer=3",
                "step.bin: 'model.config.n_layer' belongs to 'model.config', which is compiled in; change the recipe");
  // A run-time key is what --set is for, and it is used.
  space.must("reciperun step.bin --set optim.lr=2e-3 --output-dir run");
  space.must("reciperun step.bin --output-dir plain");
  EXPECT_EQ(space.steps("run")[0]["learning_rate"].get<double>(),
            2 * space.steps("plain")[0]["learning_rate"].get<double>());
}

} // namespace recipe::test
