// The commands of recipec, as a user meets them.
#include "runtime/loader/Loader.h"
#include "tests/e2e/Workspace.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <map>

namespace recipe::test {

static bool has(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

static bool exists(const Workspace &space, const std::string &name) {
  return space.listing().count(space.files().path(name)) != 0;
}

TEST(RecipecTest, VersionNamesItsParts) {
  Outcome outcome = Workspace().must("recipec --version");
  EXPECT_TRUE(has(outcome.out, "recipec ") && has(outcome.out, "LLVM 22") && has(outcome.out, "targets: cpu"))
      << outcome.out;
}

TEST(RecipecTest, CheckPrintsValuesOriginsAndMemory) {
  Workspace space;
  auto before = space.listing();
  Outcome outcome = space.must("recipec check llama.recipe --set optim.lr=5e-4");
  for (const char *part : {"lr: 5e-04", "# --set", "# default", "\nparameters ", "\nwork per token ",
                           "\nmemory of one rank, MiB\n", " workspace "})
    EXPECT_TRUE(has(outcome.out, part)) << part << "\n" << outcome.out;
  EXPECT_EQ(space.listing(), before);
  // It is what compile certifies.
  Outcome compiled = space.must("recipec compile llama.recipe -o x.bin --set optim.lr=5e-4");
  std::string table = outcome.out.substr(outcome.out.find("memory of one rank"));
  EXPECT_TRUE(has(compiled.out, table)) << compiled.out << table;
}

TEST(RecipecTest, StopAfterWritesNothingButDumps) {
  Workspace space;
  Outcome outcome = space.must("recipec compile gpt2.recipe --stop-after fuse --dump-dir ir --timing");
  EXPECT_TRUE(has(outcome.out, "  fuse ") && !has(outcome.out, "codegen")) << outcome.out;
  EXPECT_FALSE(exists(space, "gpt2.bin"));
  for (const char *name : {"ir/00-import.mlir", "ir/01-grad.mlir", "ir/06-fuse.mlir"})
    EXPECT_TRUE(exists(space, name)) << name;
  EXPECT_FALSE(exists(space, "ir/08-select-kernels.mlir"));
  // A dump can be compiled on.
  space.must("recipe-opt --fold-collectives --select-kernels --plan-arena ir/06-fuse.mlir -o planned.mlir");

  space.must("recipec compile gpt2.recipe --dump-dir few --dump-after plan-arena --dump-after codegen");
  EXPECT_TRUE(exists(space, "gpt2.bin")); // the recipe's name
  EXPECT_TRUE(exists(space, "few/09-plan-arena.mlir") && !exists(space, "few/06-fuse.mlir"));
  Outcome kernels = space.must("ls few/11-codegen | head -n 1");
  EXPECT_TRUE(has(kernels.out, ".ll")) << kernels.out;
}

// Problems of the recipe and of the configuration, without any that follow from another.
// Not the nearest op that is lacking, but the one at which computing again would have to stop.
TEST(RecipecTest, TheReportOfRecomputeNamesWhatIsInTheWay) {
  Workspace space;
  for (const auto &[mode, why] : std::map<std::string, std::string>{
           {"selective", "what 'train.contract' transformer.h.0.mlp.c_proj gives, which is not kept"},
           {"products", "what 'train.contract' transformer.h.0.mlp.c_proj gives, which is not kept"},
           {"full", "'train.contract' transformer.h.0.mlp.c_proj again, one product in a row too many"}}) {
    space.must("recipec compile gpt2.recipe --stop-after recompute --dump-dir " + mode +
               " --dump-after recompute --set memory.recompute=" + mode);
    std::string report = space.must("cat " + mode + "/*-recompute.txt").out;
    EXPECT_TRUE(has(report, "'train.add' transformer.h.0.mlp.residual: it would need " + why + "\n")) << report;
  }
}

TEST(RecipecTest, AllProblemsComeInOneRun) {
  Workspace space;
  space.files().write("many.recipe", "model:\n"
                                     "  type: gpt2\n"
                                     "  config: {vocab_size: 256.5, n_embd: 33, n_embd: 34, n_positions: 8,\n"
                                     "           n_layer: 1e999, n_head: 2, hidden_actt: gelu}\n"
                                     "data: {path: text.tok, seq_length: 16, batch_size: x}\n"
                                     "optim: {lr: -1, max_steps: 4}\n");
  Outcome outcome = space.run("recipec check many.recipe");
  EXPECT_EQ(outcome.code, 1);
  for (const char *line :
       {"many.recipe:3:43: error: 'model.config.n_embd' is already given at 3:31\n",
        "many.recipe:4:21: error: 'model.config.n_layer' must fit a double, got 1e999\n",
        "many.recipe:5:52: error: 'data.batch_size' must be a whole number, got x\n",
        "many.recipe:6:13: error: 'optim.lr' must be >= 1e-30 and <= 1000, got -1\n",
        "error: 'model.config.hidden_actt' is not a key of this configuration; did you mean 'activation_function'?\n",
        "error: 'model.config.vocab_size' must be an integer from 1 to 2147483647, got 256.5\n",
        "error: 'model.config.n_head' must divide n_embd, got 2 and 33\n",
        "error: 'model.config.n_positions' must be at least the recipe's seq_length, got 8 and 16\n"})
    EXPECT_TRUE(has(outcome.err, line)) << line << outcome.err;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 8) << outcome.err;

  // A file, and a sequence length that nobody knows.
  space.files().write("many.json", R"({"n_embd": 33, "n_embd": 33, "n_layer": "x", "n_layer": "x", "vocab_size": 256,
                                      "n_positions": 8, "n_head": 2})");
  outcome = space.run("recipec check many.recipe --set model.config_path=many.json --set data.batch_size=8 "
                      "--set data.seq_length=x --set optim.lr=1e-3");
  EXPECT_EQ(outcome.code, 1);
  for (const char *part :
       {"seq_length' must be a whole number", "many.json:1:16: error: 'n_embd' is already given at 1:2\n",
        "'n_layer' is already given", "'n_layer' must be an integer from 1 to 4096, got \"x\"\n",
        "'n_head' must divide n_embd, got 2 and 33\n"})
    EXPECT_TRUE(has(outcome.err, part)) << part << "\n" << outcome.err;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 5) << outcome.err;
}

TEST(RecipecTest, NothingInAMessageControlsTheTerminal) {
  Workspace space;
  space.files().write("zero.recipe", std::string("optim: {\"l\\x1br\": 1, \"\\0\": 1}\n"));
  for (const char *command :
       {"recipec check zero.recipe", "recipec check llama.recipe --set \"$(printf 'optim.l\\033[31mr=1')\"",
        "recipec check llama.recipe --set \"$(printf 'model.config.l\\033[31mr=1')\"",
        "recipec check \"$(printf 'no\\033[31m\\nrecipe')\"", "recipec \"$(printf '\\033[31m')\"",
        "recipec inspect \"$(printf 'no\\033[31m')\"",
        "recipec compile llama.recipe --stop-after \"$(printf '\\033')\""}) {
    Outcome outcome = space.run(command);
    EXPECT_EQ(outcome.code, 1) << command;
    EXPECT_TRUE(has(outcome.err, "\\x1b")) << command << "\n" << outcome.err;
    EXPECT_TRUE(
        std::none_of(outcome.err.begin(), outcome.err.end(), [](char c) { return c != '\n' && c >= 0 && c < ' '; }))
        << command << "\n"
        << outcome.err;
  }
  // Results too.
  Outcome compiled = space.must("recipec compile llama.recipe -o \"$(printf 'x\\033')\"");
  EXPECT_TRUE(has(compiled.out, "\nx\\x1b: ")) << compiled.out;
}

TEST(RecipecTest, RefusalsKeepWhatIsThere) {
  Workspace space;
  space.must("recipec compile llama.recipe -o step.bin");
  auto before = space.listing();
  struct Case {
    const char *command, *message;
  };
  const Case cases[] = {
      {"recipec compile llama.recipe -o step.bin --set memory.budget=64KiB",
       "error: memory.budget must hold the arena of one rank, got 0.06 MiB and a need of "},
      {"recipec compile llama.recipe -o step.bin --stop-after fuze",
       "error: --stop-after must be one of import, grad, "},
      {"recipec compile llama.recipe -o step.bin --dump-after fuse", "error: --dump-after needs --dump-dir"},
      {"recipec compile llama.recipe -o no/such/folder/step.bin", "error: no/such/folder/step.bin: "},
      {"recipec compile none.recipe -o step.bin", "none.recipe"},
      {"recipec inspect text.tok", "error: text.tok: not a step.bin"},
      {"recipec interpret step.bin --set optim.betas=1", "optim.betas"},
      {"recipec interpret step.bin --set data.path=none.tok", "none.tok"},
      {"recipec frobnicate", "error: "},
      {"recipec", "error: "},
  };
  for (const Case &test : cases) {
    Outcome outcome = space.run(test.command);
    EXPECT_EQ(outcome.code, 1) << test.command;
    EXPECT_TRUE(has(outcome.err, test.message)) << test.command << "\n" << outcome.err;
    EXPECT_EQ(space.listing(), before) << test.command;
  }
}

TEST(RecipecTest, InspectShowsWhatIsInside) {
  Workspace space;
  space.must("recipec compile gpt2.recipe -o step.bin --set data.batch_size=1 --set optim.grad_accum_steps=16");
  Outcome brief = space.must("recipec inspect step.bin");
  for (const char *part : {"made by         recipec ", "\nprograms\n", "  backward ", "\nkernels\n  ",
                           "code for x86_64", "optim.lr: ", "run-time"})
    EXPECT_TRUE(has(brief.out, part)) << part << "\n" << brief.out;
  Outcome full = space.must("recipec inspect step.bin --instructions");
  EXPECT_TRUE(has(full.out, "when=SEGMENT_BEGIN")) << full.out;
  EXPECT_TRUE(has(full.out, " param:")) << full.out;
}

TEST(RecipecTest, InterpretExactIsWhatNativeCodeDoes) {
  for (const char *model : {"gpt2", "llama"}) {
    Workspace space;
    space.must(std::string("recipec compile ") + model + ".recipe -o step.bin");
    space.must("reciperun step.bin --steps 2 --threads 2 --output-dir out --set logging.log_interval=1");
    Outcome outcome = space.must("recipec interpret step.bin --steps 2 --mode exact --dump ir");
    std::vector<nlohmann::json> steps = space.steps("out");
    ASSERT_EQ(steps.size(), 2u);
    const char *line = outcome.out.c_str();
    for (const nlohmann::json &step : steps) {
      double loss = 0, norm = 0, rate = 0;
      long long number = 0;
      int length = 0;
      ASSERT_EQ(std::sscanf(line, "step %lld loss %lf grad_norm %lf learning_rate %lf\n%n", &number, &loss, &norm,
                            &rate, &length),
                4)
          << outcome.out;
      line += length;
      EXPECT_EQ(number, step["step"].get<int64_t>());
      EXPECT_EQ(loss, step["loss"].get<double>());
      EXPECT_EQ(norm, step["grad_norm"].get<double>());
      EXPECT_EQ(rate, step["learning_rate"].get<double>());
    }
    EXPECT_TRUE(exists(space, "ir/initial.safetensors") && exists(space, "ir/gradients.safetensors"));
  }
}

TEST(RecipecTest, LoadsOnEveryLegalNumberOfRanks) {
  Workspace space;
  space.must("recipec compile llama.recipe -o step.bin --set data.batch_size=1 --set optim.grad_accum_steps=16");
  std::string path = space.files().path("step.bin");
  abi::Step step = space.step("step.bin");
  EXPECT_EQ(step.manifest().legal_ranks_size(), 4); // 1, 2, 4, 8: of 8 batch segments
  uint64_t previous = ~uint64_t(0);
  for (int64_t ranks : step.manifest().legal_ranks()) {
    rt::LoadOptions options;
    options.ranks = ranks;
    absl::StatusOr<rt::LoadedStep> loaded = rt::loadStepFile(path, options);
    ASSERT_TRUE(loaded.ok()) << ranks << ": " << loaded.status();
    EXPECT_EQ(loaded->plan.nodeCount, 8 / ranks);
    // The same offsets, less of them.
    EXPECT_LT(loaded->plan.memory.state_bytes(), previous);
    previous = loaded->plan.memory.state_bytes();
  }
  rt::LoadOptions three;
  three.ranks = 3;
  EXPECT_FALSE(rt::loadStepFile(path, three).ok());
}

} // namespace recipe::test
