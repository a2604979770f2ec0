// Elsewhere: a key of the model's configuration is read and then ignored. Here, end to end: changing one changes what
// is computed. (Every key of every model against the model's graph: unit/models/ConfigKeysTest.cpp.)
#include "tests/e2e/Workspace.h"
#include <gtest/gtest.h>
#include <set>

namespace recipe::test {

/// Loss and gradient norm of the first update, as text.
static std::string firstUpdate(const Workspace &space, const std::string &options) {
  space.must("recipec compile llama.recipe -o step.bin " + options);
  space.must("reciperun step.bin --steps 1 --output-dir run --overwrite");
  std::vector<nlohmann::json> steps = space.steps("run");
  EXPECT_EQ(steps.size(), 1u);
  return steps.empty() ? "" : steps[0]["loss"].dump() + " " + steps[0]["grad_norm"].dump();
}

TEST(Pitfall20, RotaryScalingAndItsFactorAreUsed) {
  Workspace space;
  std::set<std::string> updates;
  for (const char *options : {"", "--set model.config.rope_scaling='{rope_type: linear, factor: 2}'",
                              "--set model.config.rope_scaling='{rope_type: linear, factor: 4}'",
                              "--set model.config.rope_theta=5000", "--set model.config.rms_norm_eps=1e-3"})
    EXPECT_TRUE(updates.insert(firstUpdate(space, options)).second) << options << " changed nothing";
}

// A factor of 1 is no scaling: what differs above is the factor, not the presence of the key.
TEST(Pitfall20, AFactorOfOneChangesNothing) {
  Workspace space;
  EXPECT_EQ(firstUpdate(space, ""),
            firstUpdate(space, "--set model.config.rope_scaling='{rope_type: linear, factor: 1}'"));
}

} // namespace recipe::test
