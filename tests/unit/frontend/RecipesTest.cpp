// Recipes on disk: those that ship, the sample of another trainer's users, and model configurations in files.
#include "tests/unit/TempFolder.h"
#include "tests/unit/frontend/Load.h"

#include "llvm/Support/JSON.h"

#include <filesystem>

namespace recipe::frontend {
namespace {

const std::string root = RECIPEC_SOURCE_DIR;

struct Shipped {
  const char *name;
  const char *type;
  int64_t globalBatch;
  std::vector<int64_t> legalRanks;
  const char *sizeKey; // of the model configuration
  int64_t size;
};

TEST(Recipes, ThoseThatShipAreValid) {
  const Shipped all[] = {
      {"quickstart", "llama", 2, {1, 2}, "vocab_size", 256},
      {"gpt2-124m", "gpt2", 8, {1, 2}, "n_embd", 768},
      {"llama7b", "llama", 16, {1, 2, 4, 8}, "intermediate_size", 11008},
      {"llama-3.2-1b", "llama", 8, {1, 2, 4, 8}, "vocab_size", 128256},
      {"llama-110m", "llama", 8, {1, 2}, "num_key_value_heads", 4},
  };
  for (const Shipped &s : all) {
    LoadedRecipe loaded = loadRecipe(root + "/recipes/" + s.name + ".recipe", {});
    EXPECT_EQ(messages(loaded), std::vector<std::string>());
    ASSERT_TRUE(loaded.recipe);
    EXPECT_EQ(loaded.recipe->recipe.experiment().name(), s.name);
    EXPECT_EQ(valueOf(*loaded.recipe, "model.type"), s.type);
    EXPECT_EQ(loaded.recipe->globalBatch, s.globalBatch) << s.name;
    EXPECT_EQ(loaded.recipe->legalRanks, s.legalRanks) << s.name;
    llvm::Expected<llvm::json::Value> config = llvm::json::parse(loaded.recipe->modelConfig.json);
    ASSERT_TRUE(bool(config)) << s.name;
    EXPECT_EQ(config->getAsObject()->getInteger(s.sizeKey), s.size) << s.name;
  }
  size_t count = 0;
  for (const auto &file : std::filesystem::directory_iterator(root + "/recipes"))
    count += file.path().extension() == ".recipe";
  EXPECT_EQ(count, std::size(all)) << "a recipe is not in this test";
}

TEST(Recipes, SampleOfAnotherTrainerIsRefusedByNameOnly) {
  test::TempFolder folder;
  std::filesystem::create_directories(folder.path("models/llama"));
  std::filesystem::copy_file(root + "/recipes/configs/llama-2-7b.json", folder.path("models/llama/llama_7b.json"));
  std::filesystem::copy_file(root + "/tests/unit/frontend/data/llama7b-32ranks.yaml", folder.path("r.recipe"));
  std::string at = folder.path("r.recipe") + ":";
  std::vector<std::string> expected = {
      at + "12:3: error: 'data.tokenizer' is recognised but not built yet: data.path names a token file, already "
           "tokenized",
      at + "27:3: error: 'distributed.parallel_mode' is recognised but not built yet: only data parallelism",
      at + "28:3: error: 'distributed.tensor_parallel_size' is recognised but not built yet: only data parallelism",
      at + "29:3: error: 'distributed.pipeline_parallel_size' is recognised but not built yet: only data parallelism",
      at + "31:3: error: 'distributed.zero_optimization' is recognised but not built yet: every rank holds the whole "
           "optimizer state",
  };
  EXPECT_EQ(messages(loadRecipe(folder.path("r.recipe"), {})), expected);
}

class ConfigFile : public testing::Test {
protected:
  LoadedRecipe load(const std::string &json) {
    folder.write("c.json", json);
    folder.write("r.recipe", withLine(3, "  config_path: c.json"));
    return loadRecipe(folder.path("r.recipe"), {});
  }
  std::string at(const std::string &rest) { return folder.path("c.json") + rest; }
  test::TempFolder folder;
};

TEST_F(ConfigFile, IsKeptAsItIs) {
  std::string json = "{\n\t\"hidden_size\": 8,\n\t\"rope_scaling\": {\"factor\": 2.50}\n}\n";
  LoadedRecipe loaded = load(json);
  ASSERT_TRUE(loaded.recipe);
  EXPECT_EQ(loaded.recipe->modelConfig.json, json);
  EXPECT_EQ(toString(loaded.recipe->modelConfig.errorAt("rope_scaling.factor", "m")), at(":3:19: error: m"));
  EXPECT_EQ(toString(loaded.recipe->modelConfig.errorAt("nope", "m")), at(": error: m"));
}

TEST_F(ConfigFile, BadOnes) {
  EXPECT_EQ(messages(load("{\n  \"a\": 1,\n}")),
            std::vector<std::string>{at(":3:1: error: not valid JSON: Expected object key")});
  EXPECT_EQ(messages(load("[1]")),
            std::vector<std::string>{at(":1:1: error: a model configuration must be a JSON object")});
  EXPECT_EQ(messages(load("{\"a\": 1,\n \"a\": 2}")),
            std::vector<std::string>{at(":2:2: error: 'a' is already given at 1:2")});
  EXPECT_EQ(messages(load("{\"a\": \"\xff\"}")),
            std::vector<std::string>{folder.path("r.recipe") + ":3:16: error: 'model.config_path': " +
                                     folder.path("c.json") + " must be UTF-8 text, got another byte at offset 7"});
}

TEST_F(ConfigFile, ProblemsOfRecipeAndFileTogether) {
  folder.write("c.json", "nonsense");
  folder.write("r.recipe", withLine(3, "  config_path: c.json\n  precison: fp32"));
  EXPECT_EQ(messages(loadRecipe(folder.path("r.recipe"), {})).size(), 2u);
}

} // namespace
} // namespace recipe::frontend
