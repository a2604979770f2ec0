// One table of bad weights, data folders and checkpoints: what a run is given beside its step.bin.
#include "runtime/checkpoint/Safetensors.h"
#include "tests/e2e/OneClearError.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>
#include <gtest/gtest.h>

namespace recipe::test {

namespace {

#define INIT "reciperun step.bin --output-dir x --set model.init_from="
#define RESUME "reciperun step.bin --output-dir x --resume "
#define DATA "reciperun step.bin --output-dir x --set data.path="

const BadInput rows[] = {
    // Weights to start from.
    {"NoWeightFolder", INIT "nowhere", "reciperun: error: nowhere: must be a folder with weights, found nothing"},
    {"WeightsAreAFile", INIT "text.txt",
     "reciperun: error: text.txt: must be a folder with weights, found something else"},
    {"WeightFolderIsEmpty", INIT "empty",
     "reciperun: error: empty: must have model.safetensors or model.safetensors.index.json, found neither"},
    {"WeightsOfAnotherFormat", INIT "pickled",
     "reciperun: error: pickled: must have model.safetensors or model.safetensors.index.json, found "
     "pytorch_model.bin, which is not read"},
    {"WeightsAreText", INIT "words", "reciperun: error: words/model.safetensors: not a safetensors file, "},
    {"WeightsTruncated", INIT "cut", "reciperun: error: cut/model.safetensors: truncated, the header announces "},
    {"WeightsLackATensor", INIT "lacking", "reciperun: error: lacking: tensor \"transformer.ln_f.bias\" is missing\n"},
    {"WeightsHaveAnotherTensor", INIT "extra",
     "reciperun: error: extra/model.safetensors: tensor \"transformer.h.2.ln_1.weight\" is not one of the model's\n"},
    {"WeightsAreTransposed", INIT "transposed",
     "reciperun: error: transposed/model.safetensors: tensor \"transformer.h.0.attn.c_attn.weight\" must have the "
     "shape [24, 72], got [72, 24], which is transposed\n"},
    {"WeightsInFp64", INIT "double",
     "reciperun: error: double/model.safetensors: tensor \"transformer.ln_f.bias\" must be F32, BF16 or F16, got "
     "F64\n"},
    {"WeightsNotFinite", INIT "nan",
     "reciperun: error: nan/model.safetensors: tensor \"transformer.ln_f.bias\" must have finite values, got another "
     "one at element 5\n"},
    {"HeadIsNotTied", INIT "head",
     "reciperun: error: head/model.safetensors: tensor \"lm_head.weight\" must equal \"transformer.wte.weight\", to "
     "which the model ties it, got other values\n"},
    {"WeightsMeanSomethingElse", INIT "heads",
     "reciperun: error: heads/config.json: 'n_head' must be as compiled in, 3, got 4\n"},
    {"ConfigOfWeightsIsCut", INIT "cut-config", "reciperun: error: cut-config/config.json: must be a JSON object\n"},
    {"IndexIsNotJson", INIT "bad-index",
     "reciperun: error: bad-index/model.safetensors.index.json: must be a JSON object with weight_map, an object\n"},
    {"ShardIsMissing", INIT "no-shard",
     "reciperun: error: no-shard/shard.safetensors: cannot be opened: No such file or directory\n"},
    {"IndexLeavesTheFolder", INIT "leaving",
     "reciperun: error: leaving/model.safetensors.index.json: weight_map must give the name of a file in this folder "
     "for \"a\", got \"../good/model.safetensors\"\n"},
    {"WeightsToInterpret", "recipec interpret step.bin --dump x --set model.init_from=lacking",
     "recipec: error: lacking: tensor \"transformer.ln_f.bias\" is missing\n"},

    // Data.
    {"NothingToEvaluate", "reciperun step.bin --output-dir x --set logging.eval_interval=2",
     "reciperun: error: 'logging.eval_interval' needs 'data.eval_path' or 'data.eval_fraction' > 0, got 2 and "
     "neither\n"},
    {"DataFolderIsEmpty", DATA "empty", "reciperun: error: empty: a data folder must hold token files, found none\n"},
    {"DataFolderHoldsText", DATA "mixed",
     "reciperun: error: mixed/README: not a token file (make one with `recipedata tokenize`)\n"},
    {"DataFolderHoldsAFolder", DATA "nested",
     "reciperun: error: nested: a data folder must hold token files only, found the folder inner\n"},
    {"OneFileIsMissing", DATA "'[text.tok, gone.tok]'",
     "reciperun: error: gone.tok: cannot be opened: No such file or directory\n"},
    {"ListIsNotClosed", DATA "'[text.tok'",
     "reciperun: error: step.bin: 'data.path' must be text or a list of text, a list must end with ], got "
     "'[text.tok'\n"},
    {"ListIsEmpty", DATA "'[]'",
     "reciperun: error: step.bin: 'data.path' must be text or a list of text, no element of a list may be empty, got "
     "'[]'\n"},
    {"ListIsEmptyInARecipe", "recipec compile gpt2.recipe -o x.bin --set 'data.path=[]'",
     "--set data.path=[]: error: 'data.path' must be text or a list of text, got an empty list\n"},
    {"FilesAreShort", DATA "'[few.tok, few.tok]'",
     "reciperun: error: few.tok and 1 more: one training sample takes seq_length + 1 = 14 tokens of one file, found 6 "
     "tokens for training\n"},
    {"OneFileIsDamaged", DATA "'[text.tok, flipped.tok]'",
     "reciperun: error: flipped.tok: the tokens are damaged, their SHA-256 must be "},
    {"EvaluationFolderIsEmpty", "reciperun step.bin --output-dir x --set data.eval_path=empty",
     "reciperun: error: empty: a data folder must hold token files, found none\n"},
    {"TooManyWorkers", "reciperun step.bin --set data.num_workers=65",
     "reciperun: error: step.bin: 'data.num_workers' must be "},
    {"NothingPrefetched", "reciperun step.bin --set data.prefetch_depth=0",
     "reciperun: error: step.bin: 'data.prefetch_depth' must be "},

    // Checkpoints.
    {"NothingToResumeFrom", RESUME "nowhere",
     "reciperun: error: nowhere: must be a checkpoint or the output folder of a run, found "},
    {"ResumeFromText", RESUME "text.txt",
     "reciperun: error: text.txt: must be a checkpoint or the output folder of a run, found "},
    {"WeightsOfCheckpointDamaged", RESUME "flipped",
     "reciperun: error: flipped/checkpoints/step-00000001/model.safetensors: damaged or changed, its SHA-256 must be "},
    {"OptimizerStateTruncated", RESUME "short",
     "reciperun: error: short/checkpoints/step-00000001/optimizer.safetensors: damaged or changed, it must have "},
    {"OptimizerStateMissing", RESUME "partial",
     "reciperun: error: partial/checkpoints/step-00000001/optimizer.safetensors: cannot be opened: No such file"},
    {"ManifestChanged", RESUME "edited",
     "reciperun: error: edited/checkpoints/step-00000001/manifest.json: damaged or changed, its SHA-256 must be "},
    {"ManifestIsCut", "recipeckpt inspect cut-manifest",
     "recipeckpt: error: cut-manifest/checkpoints/step-00000001/manifest.json: damaged, it must be one JSON object"},
    {"VerifyDamaged", "recipeckpt verify flipped",
     "recipeckpt: error: flipped/checkpoints/step-00000001/model.safetensors: damaged or changed, its SHA-256 must "},
    {"ExportDamaged", "recipeckpt export flipped x",
     "recipeckpt: error: flipped/checkpoints/step-00000001/model.safetensors: damaged or changed, its SHA-256 must "},
    {"ExportOverFiles", "recipeckpt export good good",
     "recipeckpt: error: good: must be a new or an empty folder, found files\n"},
    {"ExportOverAFile", "recipeckpt export good text.txt",
     "recipeckpt: error: text.txt: must be a new folder, found something else\n"},
    {"ExportUnderAFile", "recipeckpt export good text.txt/x",
     "recipeckpt: error: text.txt/x: cannot be created: Not a directory\n"},
    {"ExportIntoNoFolder", "recipeckpt export good nowhere/x",
     "recipeckpt: error: nowhere/x: cannot be created: No such file or directory\n"},
    {"InspectNothing", "recipeckpt inspect nowhere",
     "recipeckpt: error: nowhere: must be a checkpoint or the output folder of a run, found "},
};

using Tensors = std::vector<rt::TensorView>;

/// Compiled and trained once for all rows.
struct BadRunInputs : testing::TestWithParam<BadInput> {
  static void SetUpTestSuite() {
    space = std::make_unique<Workspace>();
    space->must("recipec compile gpt2.recipe -o step.bin && reciperun step.bin --steps 1 --output-dir good");
    makeWeights();
    makeIndices();
    makeData();
    makeCheckpoints();
  }
  static void TearDownTestSuite() { space.reset(); }

  static void folder(const std::string &name) { std::filesystem::create_directories(space->files().path(name)); }

  /// The trained weights, changed.
  static void weights(const std::string &name, const std::function<void(Tensors &)> &change) {
    folder(name);
    auto good = rt::readSafetensors(space->files().path("good/model.safetensors"));
    ASSERT_TRUE(good.ok()) << good.status();
    Tensors tensors = good->tensors();
    change(tensors);
    ASSERT_TRUE(rt::writeSafetensors(space->files().path(name + "/model.safetensors"), tensors).ok());
  }
  static rt::TensorView &find(Tensors &tensors, const std::string &name) {
    return *std::find_if(tensors.begin(), tensors.end(), [&](const auto &tensor) { return tensor.name == name; });
  }

  static void makeWeights() {
    const TempFolder &files = space->files();
    const std::string last = "transformer.ln_f.bias";
    static const std::vector<double> doubles(24);
    static std::vector<float> singles(256 * 24);
    singles[5] = std::nanf("");
    for (const char *name : {"empty", "pickled", "words", "cut", "heads", "cut-config"})
      folder(name);
    files.write("pickled/pytorch_model.bin", "");
    files.write("words/model.safetensors", "once upon a time");
    std::string good = files.read("good/model.safetensors");
    files.write("cut/model.safetensors", good.substr(0, good.size() - 1));
    weights("lacking", [&](Tensors &t) { t.erase(t.begin() + (&find(t, last) - t.data())); });
    weights("extra", [&](Tensors &t) {
      t.push_back(find(t, last));
      t.back().name = "transformer.h.2.ln_1.weight";
    });
    weights("transposed", [&](Tensors &t) { find(t, "transformer.h.0.attn.c_attn.weight").shape = {72, 24}; });
    weights("double", [&](Tensors &t) {
      find(t, last).dtype = "F64";
      find(t, last).data = doubles.data();
    });
    weights("nan", [&](Tensors &t) { find(t, last).data = singles.data(); });
    weights("head", [&](Tensors &t) {
      rt::TensorView head = find(t, "transformer.wte.weight");
      head.name = "lm_head.weight";
      head.data = singles.data();
      t.push_back(head);
    });
    files.write("heads/model.safetensors", good);
    files.write("heads/config.json", R"({"model_type": "gpt2", "n_head": 4})");
    files.write("cut-config/model.safetensors", good);
    files.write("cut-config/config.json", R"({"model_type": "gp)");
  }

  static void makeIndices() {
    for (const auto &[name, text] : std::vector<std::pair<std::string, std::string>>{
             {"bad-index", "["},
             {"no-shard", R"({"weight_map": {"a": "shard.safetensors"}})"},
             {"leaving", R"({"weight_map": {"a": "../good/model.safetensors"}})"}}) {
      folder(name);
      space->files().write(name + "/model.safetensors.index.json", text);
    }
  }

  static void makeData() {
    const TempFolder &files = space->files();
    folder("mixed");
    folder("nested/inner");
    files.write("few.txt", "abc");
    space->must("recipedata tokenize few.txt -o few.tok");
    std::string tokens = files.read("text.tok");
    files.write("mixed/a.tok", tokens);
    files.write("mixed/README", "tokens");
    files.write("nested/a.tok", tokens);
    tokens.back() ^= 4;
    files.write("flipped.tok", tokens);
  }

  static void makeCheckpoints() {
    const TempFolder &files = space->files();
    for (std::string name : {"flipped", "short", "partial", "edited", "cut-manifest"})
      std::filesystem::copy(files.path("good"), files.path(name), std::filesystem::copy_options::recursive);
    const std::string inside = "/checkpoints/step-00000001/";
    std::string weights = files.read("flipped" + inside + "model.safetensors");
    weights.back() ^= 1;
    files.write("flipped" + inside + "model.safetensors", weights);
    std::string optimizer = files.read("short" + inside + "optimizer.safetensors");
    files.write("short" + inside + "optimizer.safetensors", optimizer.substr(0, optimizer.size() - 1));
    std::filesystem::remove(files.path("partial" + inside + "optimizer.safetensors"));
    std::string manifest = files.read("edited" + inside + "manifest.json");
    size_t step = manifest.find("\"step\": 1");
    ASSERT_NE(step, std::string::npos);
    manifest[step + 8] = '2';
    files.write("edited" + inside + "manifest.json", manifest);
    files.write("cut-manifest" + inside + "manifest.json", manifest.substr(0, manifest.size() / 2));
  }

  static std::unique_ptr<Workspace> space;
};

std::unique_ptr<Workspace> BadRunInputs::space;

} // namespace

TEST_P(BadRunInputs, EndsInOneClearError) { expectOneClearError(*space, GetParam().command, GetParam().message); }

INSTANTIATE_TEST_SUITE_P(Table, BadRunInputs, testing::ValuesIn(rows),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace recipe::test
