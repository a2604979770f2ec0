#include "tests/unit/frontend/Load.h"

#include <filesystem>

namespace recipe::frontend {
namespace {

TEST(Resolve, Defaults) {
  ResolvedRecipe r = valid(validRecipe);
  EXPECT_EQ(r.recipe.experiment().name(), "r");
  EXPECT_EQ(r.recipe.experiment().output_dir(), "/work/output");
  EXPECT_EQ(r.recipe.experiment().seed(), 0);
  EXPECT_EQ(r.recipe.model().precision(), Precision::fp32);
  EXPECT_EQ(r.recipe.data().eval_fraction(), 0);
  EXPECT_TRUE(r.recipe.data().shuffle());
  EXPECT_EQ(r.recipe.optim().name(), Optim::adamw);
  ASSERT_EQ(r.recipe.optim().betas_size(), 2);
  EXPECT_EQ(r.recipe.optim().betas(0), 0.9);
  EXPECT_EQ(r.recipe.optim().betas(1), 0.95);
  EXPECT_EQ(r.recipe.optim().eps(), 1e-8);
  EXPECT_EQ(r.recipe.optim().weight_decay(), 0.1);
  EXPECT_EQ(r.recipe.optim().scheduler(), Optim::cosine);
  EXPECT_EQ(r.recipe.optim().warmup_ratio(), 0.03);
  EXPECT_FALSE(r.recipe.optim().has_warmup_steps());
  EXPECT_EQ(r.recipe.optim().min_lr_ratio(), 0.1);
  EXPECT_EQ(r.recipe.optim().grad_accum_steps(), 1);
  EXPECT_EQ(r.recipe.optim().clip_grad_norm(), 1.0);
  EXPECT_EQ(r.recipe.distributed().world_size(), 1);
  EXPECT_EQ(r.recipe.distributed().data_parallel_size(), 1);
  EXPECT_EQ(r.recipe.numerics().mode(), Numerics::invariant);
  EXPECT_EQ(r.recipe.numerics().segments(), 8);
  EXPECT_EQ(r.recipe.numerics().batch_segments(), 8);
  EXPECT_EQ(r.recipe.memory().budget(), 0);
  EXPECT_EQ(r.recipe.target().device(), Target::cpu);
  EXPECT_EQ(r.recipe.target().arch(), "native");
  EXPECT_EQ(r.recipe.target().max_threads(), 16);
  EXPECT_EQ(r.recipe.logging().log_interval(), 10);
  EXPECT_EQ(r.recipe.logging().eval_interval(), 0);
  EXPECT_EQ(r.recipe.logging().eval_steps(), 0);
  EXPECT_EQ(r.recipe.logging().ckpt_interval(), 0);
  EXPECT_EQ(r.recipe.logging().keep_last(), 0);
}

TEST(Resolve, Provenance) {
  ResolvedRecipe r = valid(validRecipe, {"optim.max_steps=7"});
  EXPECT_EQ(originOf(r, "optim.lr"), "recipe:9:3");
  EXPECT_EQ(originOf(r, "optim.eps"), "default");
  EXPECT_EQ(originOf(r, "optim.max_steps"), "--set");
  EXPECT_EQ(originOf(r, "experiment.name"), "derived");
  EXPECT_EQ(originOf(r, "distributed.world_size"), "derived");
  EXPECT_EQ(toString(r.errorAt("optim.lr", "m")), "/work/r.recipe:9:7: error: m");
  EXPECT_EQ(toString(r.errorAt("optim.max_steps", "m")), "--set optim.max_steps=7: error: m");
  EXPECT_EQ(toString(r.errorAt("optim.eps", "m")), "/work/r.recipe: error: m");
}

TEST(Resolve, EveryBuiltKeyHasAnEntryOnce) {
  ResolvedRecipe r = valid(validRecipe);
  std::vector<std::string> keys;
  for (const Entry &entry : r.entries)
    keys.push_back(entry.key);
  std::vector<std::string> expected = {"experiment.name",
                                       "experiment.output_dir",
                                       "experiment.seed",
                                       "model.type",
                                       "model.config",
                                       "model.precision",
                                       "data.path",
                                       "data.eval_fraction",
                                       "data.seq_length",
                                       "data.batch_size",
                                       "data.shuffle",
                                       "data.num_workers",
                                       "data.prefetch_depth",
                                       "optim.name",
                                       "optim.lr",
                                       "optim.betas",
                                       "optim.eps",
                                       "optim.weight_decay",
                                       "optim.scheduler",
                                       "optim.warmup_ratio",
                                       "optim.min_lr_ratio",
                                       "optim.grad_accum_steps",
                                       "optim.clip_grad_norm",
                                       "optim.max_steps",
                                       "distributed.world_size",
                                       "distributed.data_parallel_size",
                                       "distributed.max_restarts",
                                       "numerics.mode",
                                       "numerics.segments",
                                       "numerics.batch_segments",
                                       "precision.compute",
                                       "precision.f32_products",
                                       "memory.budget",
                                       "memory.recompute",
                                       "fusion.enabled",
                                       "target.device",
                                       "target.arch",
                                       "target.max_threads",
                                       "logging.log_interval",
                                       "logging.eval_interval",
                                       "logging.eval_steps",
                                       "logging.ckpt_interval",
                                       "logging.keep_last"};
  EXPECT_EQ(keys, expected);
}

TEST(Resolve, SetLiesOverTheFile) {
  ResolvedRecipe r =
      valid(withLine(11, "  warmup_ratio: 0.2"),
            {"optim.lr=5e-4", "optim.lr=6e-4", "optim.betas=[0.8, 0.9]", "optim.warmup_steps=3",
             "model.config.hidden_size=16", "model.config.rope_scaling.factor=2.0", "target.arch=x86-64-v3"});
  EXPECT_EQ(r.recipe.optim().lr(), 6e-4);
  EXPECT_EQ(r.recipe.optim().betas(1), 0.9);
  EXPECT_EQ(r.recipe.optim().warmup_steps(), 3);
  EXPECT_FALSE(r.recipe.optim().has_warmup_ratio());
  EXPECT_EQ(r.recipe.model().config(), R"({"hidden_size":16,"rope_scaling":{"factor":2.0}})");
  EXPECT_EQ(r.recipe.target().arch(), "x86-64-v3");
}

TEST(Resolve, SetReplacesARefusedValue) {
  valid(withLine(11, "distributed: {tensor_parallel_size: 4}"), {"distributed.tensor_parallel_size=1"});
}

TEST(Resolve, BadSets) {
  struct Case {
    std::vector<std::string> sets;
    std::vector<std::string> expected;
  };
  const Case cases[] = {
      {{"optim.lr=-1"}, {"--set optim.lr=-1: error: 'optim.lr' must be >= 1e-30 and <= 1000, got -1"}},
      {{"optim.lr"}, {"--set optim.lr: error: must be key=value"}},
      {{"=1"}, {"--set =1: error: must be key=value"}},
      {{"optim.lr="}, {"--set optim.lr=: error: 'optim.lr' must be a number, got nothing"}},
      {{"lr=1"}, {"--set lr=1: error: unknown section 'lr', did you mean 'optim.lr'?"}},
      {{"optim.leraning_rate=1"},
       {"--set optim.leraning_rate=1: error: unknown key 'optim.leraning_rate', the keys of "
        "'optim' are name, lr, betas, eps, weight_decay, scheduler, warmup_ratio, "
        "warmup_steps, min_lr_ratio, grad_accum_steps, clip_grad_norm, max_steps"}},
      {{"optim.learning_rate=1"},
       {"--set optim.learning_rate=1: error: unknown key 'optim.learning_rate', did you mean 'optim.lr'?"}},
      {{"optim.betas=[0.9"}, {"--set optim.betas=[0.9: error: not valid YAML: end of sequence flow not found"}},
      {{"optim.warmup_steps=1", "optim.warmup_ratio=0.1"},
       {"--set optim.warmup_ratio=0.1: error: 'optim.warmup_ratio' excludes 'optim.warmup_steps', which is given by "
        "--set optim.warmup_steps=1"}},
      {{"precision.compute=bf16", "model.precision=fp32"},
       {"--set precision.compute=bf16: error: 'precision.compute' must equal model.precision, got bf16 and fp32"}},
      {{"optim.lr=\xff"}, {"--set optim.lr=\xef\xbf\xbd: error: must be UTF-8 text"}},
  };
  for (const Case &c : cases)
    EXPECT_EQ(messages(loadRecipeText(validRecipe, "r.recipe", c.sets)), c.expected);
}

TEST(Resolve, ProblemsOfTheFileComeBeforeThoseOfSets) {
  LoadedRecipe loaded = loadRecipeText(withLine(9, "  lr: 0"), "r.recipe", {"optim.eps=0", "data.batch_size=x"});
  EXPECT_EQ(messages(loaded), (std::vector<std::string>{
                                  "r.recipe:9:7: error: 'optim.lr' must be >= 1e-30 and <= 1000, got 0",
                                  "--set optim.eps=0: error: 'optim.eps' must be >= 1e-18 and <= 1, got 0",
                                  "--set data.batch_size=x: error: 'data.batch_size' must be a whole number, got x"}));
}

TEST(Resolve, RelativePathsFollowTheRecipe) {
  std::string text = withLine(5, "  path: ../tokens/./train.tok\n  eval_path: /abs/eval.tok");
  ResolvedRecipe r = valid(text, {}, "/a/b/r.recipe");
  EXPECT_EQ(r.recipe.data().path(0), "/a/tokens/train.tok");
  EXPECT_EQ(r.recipe.data().eval_path(), "/abs/eval.tok");
  EXPECT_EQ(r.recipe.experiment().output_dir(), "/a/b/output");

  std::string here = std::filesystem::current_path().string();
  EXPECT_EQ(valid(text, {}, "sub/r.recipe").recipe.data().path(0), here + "/tokens/train.tok");
  EXPECT_EQ(valid(text, {"data.path=mine.tok"}, "/a/b/r.recipe").recipe.data().path(0), here + "/mine.tok");
}

TEST(Resolve, WorldFromDataParallelAndBack) {
  ResolvedRecipe fromWorld = valid(withLine(11, "distributed: {world_size: 4}"));
  EXPECT_EQ(fromWorld.recipe.distributed().data_parallel_size(), 4);
  ResolvedRecipe fromData = valid(withLine(11, "distributed: {data_parallel_size: 2}"));
  EXPECT_EQ(fromData.recipe.distributed().world_size(), 2);
}

TEST(Resolve, BatchFigures) {
  // G = 4 * 2 * 3 = 24, S = gcd(24, 8) = 8, G / S = 3: a micro-batch of 4 is no whole number of segments.
  EXPECT_FALSE(loadRecipeText(withLine(7, "  batch_size: 4"), "r.recipe",
                              {"distributed.data_parallel_size=2", "optim.grad_accum_steps=3"})
                   .recipe);
  // G = 3 * 4 * 2 = 24, S = 8, G / S = 3.
  ResolvedRecipe r =
      valid(withLine(7, "  batch_size: 3"), {"distributed.data_parallel_size=4", "optim.grad_accum_steps=2"});
  EXPECT_EQ(r.accumulation, 2);
  EXPECT_EQ(r.globalBatch, 24);
  EXPECT_EQ(r.batchSegments, 8);
  EXPECT_EQ(r.legalRanks, (std::vector<int64_t>{1, 2, 4, 8}));
  // G = 16, S = 8, but a micro-batch of 8 leaves room for two ranks only.
  ResolvedRecipe wide = valid(validRecipe, {"optim.grad_accum_steps=2"});
  EXPECT_EQ(wide.batchSegments, 8);
  EXPECT_EQ(wide.legalRanks, (std::vector<int64_t>{1, 2}));
  // An odd global batch has one segment and runs on one rank.
  ResolvedRecipe odd = valid(withLine(7, "  batch_size: 5"));
  EXPECT_EQ(odd.batchSegments, 1);
  EXPECT_EQ(odd.legalRanks, (std::vector<int64_t>{1}));
}

TEST(Resolve, LegalRanksMeetTheirDefinition) {
  for (int64_t batch : {1, 2, 3, 8, 12})
    for (int64_t microbatches = 1; microbatches <= 64; ++microbatches)
      for (int64_t segments : {1, 2, 8, 16})
        for (int64_t ranks = 1; ranks <= 70; ++ranks) {
          std::vector<int64_t> legal = legalRankCounts(batch * microbatches, batch, segments);
          bool listed = std::find(legal.begin(), legal.end(), ranks) != legal.end();
          EXPECT_EQ(listed, segments % ranks == 0 && microbatches % ranks == 0);
        }
}

TEST(Resolve, AnchorsAndAliases) {
  ResolvedRecipe r = valid("model: {type: gpt2, config: &c {n_embd: 8, inner: {n_embd: 9}}}\n"
                           "data: {path: &p train.tok, eval_path: *p, seq_length: &n 16, batch_size: *n}\n"
                           "optim: {lr: 1, max_steps: *n}\n");
  EXPECT_EQ(r.recipe.data().eval_path(), "/work/train.tok");
  EXPECT_EQ(r.recipe.optim().max_steps(), 16);
}

TEST(Resolve, AmountsOfMemory) {
  struct Case {
    const char *text;
    int64_t bytes;
    const char *shown;
  };
  for (const Case &c : {Case{"64GiB", 64ll << 30, "64GiB"},
                        {"1.5 GiB", 3ll << 29, "1536MiB"},
                        {"1000", 1000, "1000"},
                        {"2GB", 2000000000, "1953125KiB"},
                        {"0", 0, "0"},
                        {"\"8 MiB\"", 8 << 20, "8MiB"}}) {
    ResolvedRecipe r = valid(withLine(11, std::string("memory: {budget: ") + c.text + "}"));
    EXPECT_EQ(r.recipe.memory().budget(), c.bytes) << c.text;
    EXPECT_EQ(valueOf(r, "memory.budget"), c.shown);
  }
}

TEST(Resolve, NeutralValuesOfUnbuiltKeysAreFine) {
  ResolvedRecipe r = valid(withLine(11, "distributed:\n"
                                        "  parallel_mode: data\n"
                                        "  tensor_parallel_size: 1\n"
                                        "  zero_optimization: false\n"
                                        "precision: {compute: fp32, keep_fp32: []}\n"
                                        "fusion: {rules: []}\n"
                                        "memory: {recompute: none}"));
  EXPECT_EQ(originOf(r, "distributed.tensor_parallel_size"), "recipe:13:3");
}

TEST(Resolve, InlineConfigBecomesJson) {
  ResolvedRecipe r = valid(withLine(3, "  config:\n"
                                       "    a: 1\n"
                                       "    b: 1.50\n"
                                       "    c: [true, false, null, ~]\n"
                                       "    d: \"7\"\n"
                                       "    e: two words\n"
                                       "    f: {g: 1e-05, h: +3, i: .5, j: 007}"));
  EXPECT_EQ(r.modelConfig.json, R"({"a":1,"b":1.50,"c":[true,false,null,null],"d":"7","e":"two words",)"
                                R"("f":{"g":1e-05,"h":3,"i":0.5,"j":7}})");
  EXPECT_EQ(toString(r.modelConfig.errorAt("f.h", "m")), "/work/r.recipe:9:19: error: m");
  EXPECT_EQ(toString(r.modelConfig.errorAt("nope", "m")), "/work/r.recipe:3:3: error: m");
}

} // namespace
} // namespace recipe::frontend
