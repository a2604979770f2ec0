// Elsewhere, ranks draw their dropout masks from local indices: equal masks on all ranks, for years. Here a mask is a
// function of the element's place in the global batch.
#include "tests/e2e/Workspace.h"
#include <gtest/gtest.h>

namespace recipe::test {

/// Loss and gradient norm of the first update on samples that are all alike: only dropout tells them apart.
static std::string firstUpdate(const Workspace &space, const std::string &compile, const std::string &run) {
  space.must("recipec compile gpt2.recipe -o step.bin --set data.batch_size=1 " + compile);
  space.must("reciperun step.bin --set data.path=same.tok --threads 1 --steps 1 --output-dir run --overwrite " + run);
  std::vector<nlohmann::json> steps = space.steps("run");
  EXPECT_EQ(steps.size(), 1u);
  return steps.empty() ? "" : steps[0]["loss"].dump() + " " + steps[0]["grad_norm"].dump();
}

TEST(Pitfall15, MasksFollowTheGlobalSample) {
  Workspace space;
  space.files().write("same.txt", std::string(1000, 'a'));
  space.must("recipedata tokenize same.txt -o same.tok");
  std::string alone = firstUpdate(space, "--set optim.grad_accum_steps=1", "");
  std::string both = firstUpdate(space, "--set optim.grad_accum_steps=2", "");
  EXPECT_EQ(firstUpdate(space, "--set optim.grad_accum_steps=2", "--nodes 2"), both);
  // With equal masks the mean over both samples would be that of one.
  EXPECT_NE(both, alone);
  std::string none = "--set model.config.resid_pdrop=0 --set model.config.embd_pdrop=0 --set model.config.attn_pdrop=0";
  EXPECT_EQ(firstUpdate(space, "--set optim.grad_accum_steps=2 " + none, "--nodes 2"),
            firstUpdate(space, "--set optim.grad_accum_steps=1 " + none, ""));
}

} // namespace recipe::test
