#include "compiler/frontend/Describe.h"

#include "compiler/frontend/RunValues.h"
#include "tests/unit/TempFolder.h"
#include "tests/unit/frontend/Load.h"

#include <array>
#include <map>
#include <set>

namespace recipe::frontend {
namespace {

TEST(Describe, RenderedRecipeSaysWhereValuesComeFrom) {
  std::string text = renderResolved(valid(validRecipe, {"optim.max_steps=7"}));
  EXPECT_NE(text.find("# global batch: 8 samples\n"
                      "# micro-batches per update and rank: 1\n"
                      "# batch segments: 8\n"
                      "# legal numbers of ranks: 1\n"
                      "experiment:\n"
                      "  name: r "),
            std::string::npos)
      << text;
  auto lineOf = [&](const std::string &start) {
    size_t begin = text.find(start), comment = text.find("  # ", begin);
    return begin == std::string::npos ? "" : text.substr(comment + 4, text.find('\n', begin) - comment - 4);
  };
  EXPECT_EQ(lineOf("  lr: 0.001 "), "recipe:9:3, run-time");
  EXPECT_EQ(lineOf("  max_steps: 7 "), "--set, run-time");
  EXPECT_EQ(lineOf("  betas: [0.9, 0.95] "), "default");
  EXPECT_EQ(lineOf("  config: {\"hidden_size\":8} "), "recipe:3:3");
}

TEST(Describe, RenderedRecipeMeansTheSame) {
  std::string strange = "  path: \"a b: #c \\\" 'd'\\\\\"\n  eval_path: '007'";
  for (const std::string &text :
       {std::string(validRecipe), withLine(5, strange), withLine(11, "  warmup_steps: 3\nmemory: {budget: 3GiB}"),
        withLine(11, "  betas: [0.123456789012345678, 1e-30]\n  weight_decay: 1e-22\n  clip_grad_norm: "
                     "1e22\nexperiment: {name: 'true'}"),
        withLine(11, "precision: {keep_fp32: []}\ndistributed: {zero_optimization: false, world_size: 2}")}) {
    ResolvedRecipe first = valid(text);
    ResolvedRecipe second = valid(renderResolved(first), {}, "/elsewhere/other.recipe");
    EXPECT_EQ(first.recipe.SerializeAsString(), second.recipe.SerializeAsString()) << text;
  }
}

std::map<std::string, abi::RunTimeKey> runTimeKeys(const abi::Step &step) {
  std::map<std::string, abi::RunTimeKey> keys;
  for (const abi::RunTimeKey &key : step.run_time_keys())
    keys[key.key()] = key;
  return keys;
}

TEST(Describe, StepHasEntriesAndManifest) {
  ResolvedRecipe r = valid(validRecipe, {"optim.grad_accum_steps=2"});
  abi::Step step;
  describeRecipe(r, step);
  ASSERT_EQ(step.recipe().entries_size(), static_cast<int>(r.entries.size()));
  const abi::ResolvedRecipe::Entry &lr = step.recipe().entries(14);
  EXPECT_EQ(lr.key(), "optim.lr");
  EXPECT_EQ(lr.value(), "0.001");
  EXPECT_EQ(lr.origin(), "recipe:9:3");
  EXPECT_TRUE(lr.run_time());
  EXPECT_EQ(step.manifest().name(), "r");
  EXPECT_EQ(step.manifest().max_threads(), 16u);
  EXPECT_EQ(step.manifest().seq_length(), 16);
  EXPECT_EQ(step.manifest().batch_size(), 8);
  EXPECT_EQ(step.manifest().global_batch(), 16);
  EXPECT_EQ(step.manifest().batch_segments(), 8);
  EXPECT_EQ(step.manifest().legal_ranks_size(), 2);
}

TEST(Describe, ModelConfigurationIsTheSameTextHoweverItIsWritten) {
  test::TempFolder folder;
  folder.write("c.json", "{\n  \"b\": {\"z\": 1e3, \"y\": [1, null]},\n  \"a\": \"x\"\n}\n");
  folder.write("file.recipe", withLine(3, "  config_path: c.json"));
  folder.write("inline.recipe", withLine(3, "  config: {a: x, b: {y: [1, null], z: 1e3}}"));
  for (const char *name : {"file.recipe", "inline.recipe"}) {
    LoadedRecipe loaded = loadRecipe(folder.path(name), {});
    ASSERT_TRUE(loaded.recipe) << name;
    abi::Step step;
    describeRecipe(*loaded.recipe, step);
    EXPECT_EQ(step.manifest().model_config(), R"({"a":"x","b":{"y":[1,null],"z":1000.0}})") << name;
    EXPECT_EQ(step.manifest().model_type(), "llama") << name;
  }
}

// One path is itself, several are a JSON list: what the runtime takes apart again.
TEST(Describe, PathsOfTheData) {
  for (const auto &[line, path, text] : std::vector<std::array<std::string, 3>>{
           {"  path: a.tok", "[\"/work/a.tok\"]", "/work/a.tok"},
           {"  path: [a.tok]", "[\"/work/a.tok\"]", "/work/a.tok"},
           {"  path: [a.tok, '/x, y']", "[\"/work/a.tok\",\"/x, y\"]", "[/work/a.tok, \"/x, y\"]"}}) {
    ResolvedRecipe recipe = valid(withLine(5, line));
    abi::Step step;
    describeRecipe(recipe, step);
    EXPECT_EQ(runTimeKeys(step)["data.path"].value(), path);
    EXPECT_EQ(runTimeKeys(step)["data.path"].kind(), abi::RunTimeKey::STRINGS);
    EXPECT_NE(renderResolved(recipe).find("  path: " + text + " "), std::string::npos) << renderResolved(recipe);
  }
}

TEST(Describe, RunTimeKeys) {
  abi::Step step;
  describeRecipe(valid(withLine(11, "  warmup_steps: 3\nexperiment: {output_dir: \"/o p\"}")), step);
  std::map<std::string, abi::RunTimeKey> keys = runTimeKeys(step);
  std::set<std::string> names;
  for (auto &[name, key] : keys)
    names.insert(name);
  EXPECT_EQ(names,
            (std::set<std::string>{
                "data.eval_fraction",  "data.eval_path",        "data.num_workers",         "data.path",
                "data.prefetch_depth", "data.shuffle",          "distributed.max_restarts", "experiment.output_dir",
                "experiment.seed",     "logging.ckpt_interval", "logging.eval_interval",    "logging.eval_steps",
                "logging.keep_last",   "logging.log_interval",  "model.init_from",          "optim.lr",
                "optim.max_steps",     "optim.min_lr_ratio",    "optim.scheduler",          "optim.warmup_ratio",
                "optim.warmup_steps"}));

  EXPECT_EQ(keys["optim.lr"].kind(), abi::RunTimeKey::NUMBER);
  EXPECT_EQ(keys["optim.lr"].value(), "0.001");
  EXPECT_EQ(keys["optim.lr"].slot(), static_cast<int32_t>(RunValue::lr));
  EXPECT_TRUE(keys["optim.lr"].has_minimum() && keys["optim.lr"].has_maximum());
  EXPECT_EQ(keys["optim.lr"].minimum(), 1e-30);
  EXPECT_FALSE(keys["optim.lr"].minimum_exclusive());
  EXPECT_EQ(keys["optim.lr"].maximum(), 1000);

  EXPECT_EQ(keys["optim.scheduler"].kind(), abi::RunTimeKey::ENUMERATION);
  EXPECT_EQ(keys["optim.scheduler"].value(), "cosine");
  ASSERT_EQ(keys["optim.scheduler"].enum_values_size(), 3);
  EXPECT_EQ(keys["optim.scheduler"].enum_values(0), "constant");
  EXPECT_EQ(keys["optim.scheduler"].enum_values(1), "linear");
  EXPECT_EQ(keys["optim.scheduler"].enum_values(2), "cosine");

  EXPECT_EQ(keys["optim.warmup_steps"].value(), "3");
  EXPECT_EQ(keys["optim.warmup_ratio"].value(), "") << "not set";
  ASSERT_EQ(keys["optim.warmup_ratio"].excludes_size(), 1);
  EXPECT_EQ(keys["optim.warmup_ratio"].excludes(0), "optim.warmup_steps");

  EXPECT_EQ(keys["experiment.output_dir"].kind(), abi::RunTimeKey::STRING);
  EXPECT_EQ(keys["experiment.output_dir"].value(), "/o p");
  EXPECT_EQ(keys["experiment.output_dir"].slot(), -1);
  EXPECT_EQ(keys["data.shuffle"].kind(), abi::RunTimeKey::BOOLEAN);
  EXPECT_EQ(keys["experiment.seed"].kind(), abi::RunTimeKey::INTEGER);
}

TEST(Describe, SlotsAreDistinctAndTheOnesOfThePrologue) {
  abi::Step step;
  describeRecipe(valid(validRecipe), step);
  std::set<int32_t> taken;
  for (const abi::RunTimeKey &key : step.run_time_keys())
    if (key.slot() >= 0) {
      EXPECT_TRUE(taken.insert(key.slot()).second) << key.key();
    }
  EXPECT_EQ(taken, (std::set<int32_t>{0, 1, 2, 3, 4, 5}));
}

} // namespace
} // namespace recipe::frontend
