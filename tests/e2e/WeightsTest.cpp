// Weights in and out, and the data of a run: what a key changes, and what it must not change.
#include "tests/e2e/Workspace.h"
#include <cstdio>
#include <filesystem>
#include <gtest/gtest.h>

namespace recipe::test {

namespace {

struct WeightsTest : testing::TestWithParam<const char *> {
  void SetUp() override { space.must("recipec compile " + std::string(GetParam()) + ".recipe -o step.bin"); }

  std::string weights(const std::string &dir) { return space.files().read(dir + "/model.safetensors"); }

  /// Losses and gradient norms of a run, as text that stands for their bits.
  std::string train(const std::string &dir, const std::string &arguments) {
    space.must("reciperun step.bin --output-dir " + dir + " " + arguments);
    std::string text;
    for (const nlohmann::json &record : space.steps(dir))
      text += line(record["loss"], record["grad_norm"]);
    return text;
  }
  std::string interpret(const std::string &arguments) {
    Outcome outcome = space.must("recipec interpret step.bin --mode exact " + arguments);
    std::istringstream lines(outcome.out);
    std::string text;
    for (std::string one; std::getline(lines, one);) {
      double loss = 0, gradNorm = 0;
      EXPECT_EQ(std::sscanf(one.c_str(), "step %*d loss %lf grad_norm %lf", &loss, &gradNorm), 2) << one;
      text += line(loss, gradNorm);
    }
    return text;
  }

  Workspace space;

private:
  static std::string line(double loss, double gradNorm) {
    char text[100];
    std::snprintf(text, sizeof text, "%a %a\n", loss, gradNorm);
    return text;
  }
};

} // namespace

TEST_P(WeightsTest, ComeBackBitEqual) {
  train("first", "--set experiment.seed=5");
  ASSERT_GT(weights("first").size(), 50000u);
  train("back", "--set model.init_from=first --steps 0");
  EXPECT_TRUE(weights("back") == weights("first"));
  // Of the same checkpoint as others get it.
  space.must("recipeckpt export first hf");
  EXPECT_TRUE(weights("hf") == weights("first"));
  train("again", "--set model.init_from=hf --steps 0");
  EXPECT_TRUE(weights("again") == weights("first"));
}

TEST_P(WeightsTest, TrainingStartsFromThem) {
  std::string first = train("first", "--set experiment.seed=5"), random = train("random", "");
  std::string from = train("from", "--set model.init_from=first");
  EXPECT_NE(from, random);
  EXPECT_NE(from, first);
  EXPECT_EQ(train("threads", "--set model.init_from=first --threads 1"), from);
  EXPECT_EQ(interpret("--set model.init_from=first --steps 4"), from);
  EXPECT_EQ(interpret("--steps 4"), random);
  // Where it says nothing, weights are random as before.
  EXPECT_EQ(train("unset", "--set model.init_from="), random);
}

// Every rank reads the folder and the data itself.
TEST_P(WeightsTest, SeveralNodesStartFromThemToo) {
  std::filesystem::create_directories(space.files().path("d"));
  space.must("cp text.tok d/a.tok && cp text.tok d/b.tok && recipec compile " + std::string(GetParam()) +
             ".recipe --set data.batch_size=8 --set optim.grad_accum_steps=2 --set data.path=d -o step.bin");
  train("first", "--set experiment.seed=5");
  std::string one = train("one", "--set model.init_from=first");
  EXPECT_EQ(train("two", "--set model.init_from=first --nodes 2 --threads 1 --set data.num_workers=2"), one);
  EXPECT_TRUE(weights("two") == weights("one"));
}

TEST_P(WeightsTest, TheExportedConfigCompilesToTheSameModel) {
  train("first", "--steps 1");
  space.must("recipeckpt export first hf");
  std::string recipe = space.files().read(std::string(GetParam()) + ".recipe");
  size_t config = recipe.find("  config:"), data = recipe.find("data:");
  space.files().write("again.recipe",
                      recipe.substr(0, config) + "  config_path: hf/config.json\n" + recipe.substr(data));
  space.must("recipec compile again.recipe -o again.bin");
  abi::Step before = space.step("step.bin"), after = space.step("again.bin");
  ASSERT_EQ(before.parameters_size(), after.parameters_size());
  for (int i = 0; i < before.parameters_size(); ++i)
    EXPECT_EQ(before.parameters(i).SerializeAsString(), after.parameters(i).SerializeAsString());
  EXPECT_EQ(before.semantic(), after.semantic());
  nlohmann::json exported = nlohmann::json::parse(space.files().read("hf/config.json"));
  EXPECT_EQ(exported["model_type"], GetParam());
  EXPECT_EQ(exported["architectures"].size(), 1u);
  EXPECT_EQ(exported["torch_dtype"], "float32");
  // Readers of a config tell 10000.0 from 10000.
  EXPECT_TRUE(exported.value("rope_theta", nlohmann::json(1.0)).is_number_float());
}

TEST_P(WeightsTest, FilesOfTheDataInTheirOrder) {
  space.files().write("other.txt", space.files().read("text.txt").substr(100, 4000));
  std::filesystem::create_directories(space.files().path("d"));
  space.must("recipedata tokenize other.txt -o d/b.tok && cp text.tok d/a.tok");
  std::string list = train("list", "--set 'data.path=[text.tok, d/b.tok]'");
  EXPECT_EQ(train("folder", "--set data.path=d"), list);
  EXPECT_EQ(interpret("--set data.path=d --steps 4"), list);
  EXPECT_NE(train("one", "--set data.path=text.tok"), list);
  EXPECT_NE(train("turned", "--set 'data.path=[d/b.tok, text.tok]'"), list);
  // The same from the recipe.
  space.must("recipec compile " + std::string(GetParam()) +
             ".recipe --set 'data.path=[text.tok, d/b.tok]' -o step.bin");
  EXPECT_EQ(train("compiled", ""), list);
  space.must("recipec compile " + std::string(GetParam()) + ".recipe --set data.path=d -o step.bin");
  EXPECT_EQ(train("compiled-folder", ""), list);
}

TEST_P(WeightsTest, NeitherWorkersNorDepthShow) {
  std::string expected = train("plain", "");
  for (const char *loader : {"0 1", "1 1", "2 1", "3 8"}) {
    std::string text(loader);
    std::string dir = "loader" + text.substr(0, 1) + text.substr(2);
    EXPECT_EQ(
        train(dir, "--set data.num_workers=" + text.substr(0, 1) + " --set data.prefetch_depth=" + text.substr(2)),
        expected);
    EXPECT_TRUE(weights(dir) == weights("plain"));
  }
}

INSTANTIATE_TEST_SUITE_P(Models, WeightsTest, testing::Values("gpt2", "llama"),
                         [](const auto &info) { return std::string(info.param); });

} // namespace recipe::test
