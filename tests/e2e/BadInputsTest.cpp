// One table of what users get wrong: a command, and the error it must end in. Each exits with 1, prints nothing on
// stdout and leaves no file behind.
#include "tests/e2e/OneClearError.h"
#include <gtest/gtest.h>

namespace recipe::test {

namespace {

const BadInput rows[] = {
    // Command lines.
    {"NoCommand", "recipec", "recipec: error: a command is required: compile, check, interpret or inspect"},
    {"UnknownCommand", "recipec compil gpt2.recipe", "recipec: error: unknown command 'compil': "},
    {"UnknownOption", "recipec compile gpt2.recipe --outptu x.bin",
     "recipec: error: unknown option '--outptu', did you mean '--output'?\n"},
    {"OneArgumentTooMany", "recipec check gpt2.recipe llama.recipe",
     "recipec: error: unexpected argument 'llama.recipe'\n"},
    {"NoRecipe", "recipec compile", "recipec: error: recipe is required\n"},
    {"OptionWithoutValue", "recipec check gpt2.recipe --set", "recipec: error: --set needs a value\n"},
    {"NotANumberOfThreads", "recipec compile gpt2.recipe --threads many",
     "recipec: error: --threads: must be a whole number >= 1 and <= 1024, got many\n"},
    {"NoSteps", "recipec interpret step.bin --steps 0",
     "recipec: error: --steps: must be a whole number >= 1, got 0\n"},
    {"EmptyOutput", "recipec compile gpt2.recipe -o ''", "recipec: error: --output: must not be empty\n"},
    {"UnknownMode", "recipec interpret step.bin --mode fp16",
     "recipec: error: --mode: must be fp64 or exact, got fp16\n"},
    {"UnknownPhase", "recipec compile gpt2.recipe -o x.bin --stop-after codgen",
     "recipec: error: --stop-after must be one of import, grad, update, "},

    // Recipes.
    {"MissingRecipe", "recipec compile missing.recipe -o x.bin",
     "missing.recipe: error: cannot be read: No such file or directory"},
    {"EmptyRecipe", "recipec compile empty.recipe -o x.bin", "empty.recipe: error: a recipe is a mapping with the "},
    {"NotYaml", "recipec compile open.recipe -o x.bin", "open.recipe:2:1: error: not valid YAML: "},
    {"NotText", "recipec compile text.tok -o x.bin",
     "text.tok: error: must be UTF-8 text, got another byte at offset "},
    {"UnknownKey", "recipec compile gpt2.recipe -o x.bin --set optim.warmup_step=3",
     "--set optim.warmup_step=3: error: unknown key 'optim.warmup_step', did you mean 'optim.warmup_steps'?"},
    {"NotANumber", "recipec compile gpt2.recipe -o x.bin --set optim.lr=fast",
     "--set optim.lr=fast: error: 'optim.lr' must be a number, got fast"},
    {"OutOfRange", "recipec compile gpt2.recipe -o x.bin --set optim.lr=-1",
     "--set optim.lr=-1: error: 'optim.lr' must be >= 1e-30 and <= 1000, got -1"},
    {"ValueBelowFp32", "recipec compile gpt2.recipe -o x.bin --set optim.eps=1e-300",
     "--set optim.eps=1e-300: error: 'optim.eps' must be >= 1e-18 and <= 1, got 1e-300"},
    {"NotBuiltYet", "recipec compile gpt2.recipe -o x.bin --set numerics.mode=fast",
     "--set numerics.mode=fast: error: 'numerics.mode: fast' is recognised but not built yet"},
    {"UnknownPrecision", "recipec compile gpt2.recipe -o x.bin --set precision.compute=bf61",
     "--set precision.compute=bf61: error: 'precision.compute' must be one of fp32, bf16, got bf61, did you mean "
     "bf16?"},
    {"TwoPrecisions", "recipec compile gpt2.recipe -o x.bin --set precision.compute=bf16 --set model.precision=fp32",
     "--set precision.compute=bf16: error: 'precision.compute' must equal model.precision, got bf16 and fp32"},
    {"KeptWithoutNeed", "recipec compile gpt2.recipe -o x.bin --set 'precision.keep_fp32=[loss]'",
     "--set precision.keep_fp32=[loss]: error: 'precision.keep_fp32' needs precision.compute: bf16, got fp32"},
    {"KeptClassMisspelt",
     "recipec compile gpt2.recipe -o x.bin --set precision.compute=bf16 --set 'precision.keep_fp32=[matmull]'",
     "--set precision.keep_fp32=[matmull]: error: 'precision.keep_fp32' must name classes of operations, or the "
     "model's operations with * and ?, got matmull, did you mean matmul?"},
    {"KeptOperationMisspelt",
     "recipec compile gpt2.recipe -o x.bin --set precision.compute=bf16 --set 'precision.keep_fp32=[transformer.wtf]'",
     "--set precision.keep_fp32=[transformer.wtf]: error: 'precision.keep_fp32' must name classes of operations, or "
     "the "
     "model's operations with * and ?, got transformer.wtf, did you mean transformer.wte?"},
    {"KeptMatchesNothing",
     "recipec compile gpt2.recipe -o x.bin --set precision.compute=bf16 --set "
     "'precision.keep_fp32=[transformer.h.2.*]'",
     "--set precision.keep_fp32=[transformer.h.2.*]: error: 'precision.keep_fp32' must name classes of operations, or "
     "the model's operations with * and ?, got transformer.h.2.*\n"},
    {"ProductsMisspelt", "recipec compile gpt2.recipe -o x.bin --set precision.f32_products=bf16x9",
     "--set precision.f32_products=bf16x9: error: 'precision.f32_products' must be one of fma, bf16x6, auto, got "
     "bf16x9, did you mean bf16x6?"},
    {"ProductsWithoutTiles",
     "recipec compile gpt2.recipe -o x.bin --set precision.f32_products=bf16x6 --set target.arch=x86-64-v4",
     "--set precision.f32_products=bf16x6: error: 'precision.f32_products: bf16x6' needs a target with AMX, got "
     "target.arch: x86-64-v4; name one that has it, such as sapphirerapids, or use auto or fma\n"},
    {"IllegalFactoring", "recipec compile gpt2.recipe -o x.bin --set data.batch_size=4 --set optim.grad_accum_steps=3",
     "--set data.batch_size=4: error: 'data.batch_size' must divide "},
    {"IllegalRanks", "recipec compile gpt2.recipe -o x.bin --set distributed.data_parallel_size=3",
     "--set distributed.data_parallel_size=3: error: 'distributed.data_parallel_size' must divide "},
    {"UnknownArch", "recipec compile gpt2.recipe -o x.bin --set target.arch=pentium3",
     "--set target.arch=pentium3: error: 'target.arch' must be native or a 64-bit x86 CPU, got 'pentium3'"},
    {"BudgetTooSmall", "recipec compile gpt2.recipe -o x.bin --set memory.budget=1MiB",
     "--set memory.budget=1MiB: error: memory.budget must hold the arena of one rank, got 1.00 MiB and a need of "},
    {"BudgetOfBytes", "recipec compile gpt2.recipe -o x.bin --set memory.budget=1000",
     "--set memory.budget=1000: error: memory.budget must hold the arena of one rank, got 1000 bytes and a need of "},

    // Model configurations.
    {"MissingConfig", "recipec compile with-config.recipe -o x.bin --set model.config_path=missing.json",
     "--set model.config_path=missing.json: error: 'model.config_path': @missing.json cannot be read: No such file or "
     "directory\n"},
    {"ConfigIsNotJson", "recipec compile with-config.recipe -o x.bin --set model.config_path=open.json",
     "@open.json:2:1: error: not valid JSON: "},
    {"ConfigLacksKey", "recipec compile with-config.recipe -o x.bin --set model.config_path=no-layers.json",
     "@no-layers.json: error: 'n_layer' is missing"},
    {"ConfigOfAnotherModel", "recipec compile with-config.recipe -o x.bin --set model.config_path=bert.json",
     "@bert.json:1:2: error: 'model_type' must be \"gpt2\" or null, got \"bert\""},
    {"ConfigKeyMisspelt", "recipec compile gpt2.recipe -o x.bin --set model.config.n_embed=24",
     "--set model.config.n_embed=24: error: 'model.config.n_embed' is not a key of this configuration; did you mean "
     "'n_embd'?"},
    {"ConfigHeads", "recipec compile llama.recipe -o x.bin --set model.config.num_key_value_heads=3",
     "--set model.config.num_key_value_heads=3: error: 'model.config.num_key_value_heads' must divide "
     "num_attention_heads, got 3 "
     "and 4"},
    {"SequenceTooLong", "recipec compile llama.recipe -o x.bin --set data.seq_length=33",
     "llama.recipe:15:5: error: 'model.config.max_position_embeddings' must be at least the recipe's seq_length, got "
     "32 and 33"},

    // Places that cannot be written.
    {"CompileUnderAFile", "recipec compile gpt2.recipe -o text.txt/x.bin",
     "recipec: error: text.txt/x.bin: cannot be created: Not a directory"},
    {"CompileOverTheRecipe", "recipec compile gpt2.recipe -o ./gpt2.recipe",
     "recipec: error: the output must not be the recipe, got './gpt2.recipe' for both"},
    {"CompileIntoAFolder", "recipec compile gpt2.recipe -o .", "recipec: error: .: exists and is not a regular file"},
    {"TrainUnderAFile", "reciperun step.bin --output-dir text.txt/run",
     "reciperun: error: text.txt/run: the folder cannot be created: Not a directory"},
    {"TrainIntoAFile", "reciperun step.bin --output-dir text.txt",
     "reciperun: error: text.txt: the folder cannot be created: "},
    {"TrainIntoNothing", "reciperun step.bin --output-dir ''",
     "reciperun: error: --output-dir must name a folder, got \"\""},
    {"TrainIntoNothingBySet", "reciperun step.bin --set experiment.output_dir=",
     "reciperun: error: 'experiment.output_dir' must name a folder, got \"\""},
    {"TrainOverResults", "reciperun step.bin --output-dir results",
     "reciperun: error: results: must not hold results of another run, found metrics.jsonl; choose another "},
    {"NoStepsOverResults", "reciperun step.bin --output-dir results --steps 0",
     "reciperun: error: results: must not hold results of another run, found metrics.jsonl; choose another "},
    {"WeightsAreAFolder", "reciperun step.bin --output-dir folder-weights --overwrite",
     "reciperun: error: folder-weights/model.safetensors: exists and is not a regular file"},
    {"LoadPastTheSizeLimit", "ulimit -f 8 && reciperun step.bin",
     "reciperun: error: step.bin: native object: cannot be written to memory: File too large"},
    {"LinkPastTheSizeLimit", "ulimit -f 100 && recipec compile gpt2.recipe -o x.bin", "recipec: error: '"},
    {"TokensIntoNothing", "recipedata tokenize text.txt -o ''",
     "recipedata: error: --output: must name a file, got \"\""},
    {"TokensUnderAFile", "recipedata tokenize text.txt -o text.tok/x.tok",
     "recipedata: error: text.tok/x.tok: cannot be created: Not a directory"},

    // step.bin.
    {"MissingStep", "reciperun missing.bin", "reciperun: error: missing.bin: cannot be opened: No such file or "},
    {"NotAStep", "reciperun gpt2.recipe", "reciperun: error: gpt2.recipe: not a step.bin: it must begin with "},
    {"TruncatedStep", "reciperun truncated.bin", "reciperun: error: truncated.bin: truncated: the header promises "},
    {"FlippedStep", "reciperun flipped.bin", "reciperun: error: flipped.bin: checksum mismatch: the file is damaged"},
    {"NewerStep", "reciperun newer.bin",
     "reciperun: error: newer.bin: format version must be 2, got 3: written by a newer recipec"},
    {"FlippedStepInspected", "recipec inspect flipped.bin",
     "recipec: error: flipped.bin: checksum mismatch: the file is damaged"},
    {"TruncatedStepInterpreted", "recipec interpret truncated.bin", "recipec: error: truncated.bin: truncated: "},

    // Token files.
    {"MissingTokens", "reciperun step.bin --set data.path=missing.tok",
     "reciperun: error: missing.tok: cannot be opened: No such file or directory"},
    {"TextAsTokens", "reciperun step.bin --set data.path=text.txt",
     "reciperun: error: text.txt: not a token file (make one with `recipedata tokenize`)"},
    {"TruncatedTokens", "reciperun step.bin --set data.path=truncated.tok",
     "reciperun: error: truncated.tok: truncated, its header announces 8192 tokens in 8384 bytes, found 8284 bytes"},
    {"TokensOfAnotherVocabulary", "reciperun small-vocabulary.bin --set data.path=text.tok",
     "reciperun: error: text.tok: the token file's vocabulary must fit the model's, got 256 (tokenizer \"bytes\") and "
     "vocab_size 100"},
    {"TooFewTokens", "reciperun step.bin --set data.path=few.tok",
     "reciperun: error: few.tok: one training sample takes seq_length + 1 = 14 tokens, found 3 tokens for training"},
    {"DamagedTokens", "recipedata verify flipped.tok",
     "recipedata: error: flipped.tok: the tokens are damaged, their SHA-256 must be "},
    {"DamagedTokensTrainedOn", "reciperun step.bin --set data.path=flipped.tok",
     "reciperun: error: flipped.tok: the tokens are damaged, their SHA-256 must be "},
    {"DamagedTokensInterpreted", "recipec interpret step.bin --set data.path=flipped.tok",
     "recipec: error: flipped.tok: the tokens are damaged, their SHA-256 must be "},
    {"NothingHeldOut", "reciperun step.bin --set data.eval_fraction=1e-9",
     "reciperun: error: @text.tok: data.eval_fraction must hold out at least 2 tokens, got 1e-09 of 8192 tokens, that "
     "is 0"},
    {"MissingText", "recipedata tokenize missing.txt -o x.tok",
     "recipedata: error: missing.txt: cannot be opened: No such file or directory"},
    {"UnknownTokenizer", "recipedata tokenize text.txt -o x.tok --tokenizer bpe",
     "recipedata: error: the tokenizer must be \"bytes\""},

    // What a run may change.
    {"CompiledInKey", "reciperun step.bin --set data.batch_size=8",
     "reciperun: error: step.bin: 'data.batch_size' is compiled in with the value 16; change the recipe and compile "
     "again."},
    {"MisspeltRunKey", "reciperun step.bin --set experiment.sed=1",
     "reciperun: error: step.bin: unknown key 'experiment.sed'; did you mean 'experiment.seed'?"},
    {"RunValueOutOfRange", "reciperun step.bin --set optim.lr=0",
     "reciperun: error: step.bin: 'optim.lr' must be >= 1e-30 and <= 1000, got 0"},
    {"RunValueBeyondFp32", "reciperun step.bin --set optim.lr=1e30",
     "reciperun: error: step.bin: 'optim.lr' must be >= 1e-30 and <= 1000, got 1e30"},
    {"RunValueOfAnotherKind", "reciperun step.bin --set optim.warmup_steps=1.5",
     "reciperun: error: step.bin: 'optim.warmup_steps' must be a whole number, got '1.5'"},
    {"WarmUpWithoutEnd", "reciperun step.bin --set optim.warmup_steps=4",
     "reciperun: error: 'optim.warmup_steps' must be less than optim.max_steps, got 4 and 4"},
    {"SetWithoutValue", "reciperun step.bin --set optim.lr",
     "reciperun: error: step.bin: --set must have the form key=value, got 'optim.lr'"},
    {"TooManySteps", "reciperun step.bin --steps 5",
     "reciperun: error: --steps must not go beyond the schedule, optim.max_steps, got 5 and 4"},
    {"TooManyStepsInterpreted", "recipec interpret step.bin --steps 5",
     "recipec: error: --steps must not go beyond the schedule, optim.max_steps, got 5 and 4"},
    {"NegativeSteps", "reciperun step.bin --steps -1", "reciperun: error: --steps: Value -1 not in range 0 to "},
    {"TooManyThreads", "reciperun step.bin --threads 17",
     "reciperun: error: the number of threads must be 1..target.max_threads, got 17 and 16"},
    {"NoThreads", "reciperun step.bin --threads 0", "reciperun: error: --threads: Value 0 not in range 1 to 4096"},
    {"IllegalNodes", "reciperun step.bin --nodes 3",
     "reciperun: error: step.bin: --nodes must be one of the numbers of ranks that the step was compiled for, got 3 "
     "and 1"},
};

/// Compiled once for all rows.
struct BadInputs : testing::TestWithParam<BadInput> {
  static void SetUpTestSuite() {
    space = std::make_unique<Workspace>();
    const TempFolder &files = space->files();
    space->must("recipec compile gpt2.recipe -o step.bin");
    space->must("recipec compile gpt2.recipe -o small-vocabulary.bin --set model.config.vocab_size=100");
    std::string step = files.read("step.bin"), tokens = files.read("text.tok");
    files.write("truncated.bin", step.substr(0, step.size() / 2));
    files.write("truncated.tok", tokens.substr(0, tokens.size() - 100));
    std::string newer = step;
    newer[8] = 3;
    files.write("newer.bin", newer);
    step[step.size() / 2] ^= 4;
    files.write("flipped.bin", step);
    tokens.back() ^= 4;
    files.write("flipped.tok", tokens);
    std::filesystem::create_directory(files.path("results"));
    files.write("results/metrics.jsonl", "{\"step\":1}\n");
    std::filesystem::create_directories(files.path("folder-weights/model.safetensors"));
    files.write("few.txt", "abc");
    space->must("recipedata tokenize few.txt -o few.tok");
    files.write("empty.recipe", "");
    files.write("open.recipe", "model: [1, 2\n");
    std::string recipe = files.read("gpt2.recipe");
    size_t config = recipe.find("  config:"), data = recipe.find("data:");
    files.write("with-config.recipe", recipe.substr(0, config) + "  config_path: c.json\n" + recipe.substr(data));
    files.write("open.json", "{\n");
    files.write("no-layers.json", R"({"model_type": "gpt2", "n_embd": 24, "n_head": 3, "n_positions": 16, )"
                                  R"("vocab_size": 256})");
    files.write("bert.json", R"({"model_type": "bert", "n_embd": 24, "n_layer": 1, "n_head": 3, "n_positions": 16, )"
                             R"("vocab_size": 256})");
  }
  static void TearDownTestSuite() { space.reset(); }

  static std::unique_ptr<Workspace> space;
};

std::unique_ptr<Workspace> BadInputs::space;

} // namespace

TEST_P(BadInputs, EndsInOneClearError) { expectOneClearError(*space, GetParam().command, GetParam().message); }

INSTANTIATE_TEST_SUITE_P(Table, BadInputs, testing::ValuesIn(rows),
                         [](const auto &info) { return std::string(info.param.name); });

// All problems of a recipe in one run, each at its own place.
TEST(BadRecipe, AllProblemsAtOnce) {
  Workspace space;
  space.files().write("bad.recipe",
                      "model:\n  type: gpt3\n  config_path: c.json\ndata:\n  path: t.tok\n  seq_length: 0\n"
                      "  batchsize: 4\noptim:\n  lr: fast\n  max_steps: 10\n");
  Outcome outcome = space.run("recipec compile bad.recipe -o x.bin");
  EXPECT_EQ(outcome.code, 1);
  for (const char *line : {"bad.recipe:2:9: error: ", "bad.recipe:6:15: error: ",
                           "bad.recipe:7:3: error: unknown key 'data.batchsize', did you mean 'data.batch_size'?\n",
                           "bad.recipe:9:7: error: "})
    EXPECT_NE(("\n" + outcome.err).find(std::string("\n") + line), std::string::npos) << line << "\n" << outcome.err;
}

} // namespace recipe::test
