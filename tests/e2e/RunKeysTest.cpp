// Each key that a run may change changes what the run does. That nothing of them is compiled in:
// tests/pipeline/RecipeKeysTest.cpp.
#include "tests/e2e/Workspace.h"
#include <gtest/gtest.h>
#include <set>

namespace recipe::test {

namespace {

/// What a change of the key shows in: the updates, the evaluations or how many there are.
const std::map<std::string, std::string> changes = {
    {"experiment.seed", "1"},       {"data.path", "other.tok"},    {"data.eval_path", "other.tok"},
    {"data.eval_fraction", "0.5"},  {"data.shuffle", "false"},     {"optim.lr", "2e-3"},
    {"optim.scheduler", "linear"},  {"optim.warmup_ratio", "0.5"}, {"optim.warmup_steps", "3"},
    {"optim.min_lr_ratio", "0.5"},  {"optim.max_steps", "3"},      {"logging.log_interval", "2"},
    {"logging.eval_interval", "2"}, {"logging.eval_steps", "1"},
};

/// Keys that change no number of a run, and the test that observes each.
const std::map<std::string, const char *> observedElsewhere = {
    {"experiment.output_dir", "RunKeysTest.OutputDir"},
    {"model.init_from", "e2e.weights"},
    {"distributed.max_restarts", "ProcessesTest.ALostRankIsReplacedFromTheNewestCheckpoint"},
    {"data.num_workers", "unit.runtime"},
    {"data.prefetch_depth", "unit.runtime"},
    {"logging.ckpt_interval", "e2e.checkpoints"},
    {"logging.keep_last", "e2e.checkpoints"},
};

/// Updates and evaluations of a run, without its times.
std::string observe(const Workspace &space, const std::string &arguments) {
  space.must("reciperun step.bin --output-dir seen " + arguments);
  std::string text;
  for (const nlohmann::json &record : space.steps("seen"))
    text += record["step"].dump() + " " + record["loss"].dump() + " " + record["grad_norm"].dump() + " " +
            record["learning_rate"].dump() + "\n";
  for (const nlohmann::json &record : space.evaluations("seen"))
    text += record["step"].dump() + " " + record["eval_loss"].dump() + " " + record["eval_tokens"].dump() + "\n";
  space.must("rm -r seen");
  return text;
}

} // namespace

TEST(RunKeysTest, EachChangesTheRun) {
  Workspace space;
  std::string text = space.files().read("text.txt");
  space.files().write("other.txt", text.substr(4000) + text.substr(0, 4000));
  space.must("recipedata tokenize other.txt -o other.tok");
  space.must("recipec compile gpt2.recipe -o step.bin --set data.eval_fraction=0.25");
  std::string base = observe(space, "");
  EXPECT_EQ(observe(space, ""), base);
  std::set<std::string> seen;
  const abi::Step step = space.step("step.bin");
  for (const abi::RunTimeKey &key : step.run_time_keys()) {
    if (observedElsewhere.count(key.key()))
      continue;
    auto change = changes.find(key.key());
    ASSERT_NE(change, changes.end()) << key.key() << " needs a change in this test";
    std::string changed = observe(space, "--set " + key.key() + "=" + change->second);
    EXPECT_NE(changed, base) << key.key() << " changes nothing";
    // Nor are two keys one.
    EXPECT_TRUE(seen.insert(changed).second) << key.key() << " does what another key does";
  }
  EXPECT_EQ(seen.size(), changes.size());
}

TEST(RunKeysTest, OutputDir) {
  Workspace space;
  space.must("recipec compile gpt2.recipe -o step.bin");
  space.must("reciperun step.bin --set experiment.output_dir=elsewhere");
  EXPECT_EQ(space.steps("elsewhere").size(), size_t(kUpdates));
  EXPECT_EQ(space.listing().count(space.files().path("output")), 0u);
}

} // namespace recipe::test
