// Runs in bf16, as a user sees them: files hold fp32 weights, and what follows from weights follows from those in a
// file, too. The same of f32 products by parts in bf16. Bits across factorings, threads, instruction sets and ranks:
// InvarianceTest, NodesTest.
#include "tests/e2e/Workspace.h"
#include <cstdio>
#include <gtest/gtest.h>
#include <sstream>

namespace recipe::test {

namespace {

class PrecisionTest : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override { compile("step.bin", "--set precision.compute=bf16"); }

  void compile(const std::string &step, const std::string &sets) {
    space.must("recipec compile " + std::string(GetParam()) + ".recipe --set data.seq_length=14 " + sets + " -o " +
               step);
  }
  std::string weights(const std::string &dir) { return space.files().read(dir + "/model.safetensors"); }
  std::vector<double> losses(const std::string &dir) {
    std::vector<double> result;
    for (const nlohmann::json &record : space.steps(dir))
      result.push_back(record["loss"]);
    return result;
  }
  /// Those of the interpreter.
  std::vector<double> exactLosses(const std::string &stepAndSets) {
    std::istringstream lines(space.must("recipec interpret " + stepAndSets + " --mode exact --steps 4").out);
    std::vector<double> result;
    for (std::string line; std::getline(lines, line);) {
      double loss;
      EXPECT_EQ(std::sscanf(line.c_str(), "step %*d loss %lf", &loss), 1) << line;
      result.push_back(loss);
    }
    return result;
  }
  uint64_t category(const std::string &step, const std::string &name) {
    abi::Step compiled = space.step(step);
    for (const auto &one : compiled.certificate().rows(0).categories())
      if (one.name() == name)
        return one.bytes();
    return 0;
  }

  Workspace space;
};

} // namespace

TEST_P(PrecisionTest, ResumedRunsEqualTheUninterruptedOne) {
  space.must("reciperun step.bin --output-dir whole");
  space.must("reciperun step.bin --output-dir parts --steps 2");
  space.must("reciperun step.bin --output-dir parts --resume latest");
  EXPECT_EQ(losses("whole").size(), size_t(kUpdates));
  EXPECT_EQ(losses("parts"), losses("whole"));
  EXPECT_TRUE(weights("parts") == weights("whole"));
}

TEST_P(PrecisionTest, StartsFromWeightsOfAFile) {
  space.must("reciperun step.bin --output-dir first");
  space.must("reciperun step.bin --output-dir second --set model.init_from=first --set optim.lr=1e-2");
  EXPECT_EQ(losses("second"), exactLosses("step.bin --set model.init_from=first --set optim.lr=1e-2"));
  EXPECT_LT(losses("second")[0], losses("first")[0]);
}

TEST_P(PrecisionTest, FilesHoldFp32AndAnotherPrecisionIsADeliberateChange) {
  compile("fp32.bin", "");
  space.must("reciperun step.bin --output-dir run --steps 2");
  space.must("reciperun fp32.bin --output-dir other --steps 2");
  EXPECT_EQ(weights("run").size(), weights("other").size());
  EXPECT_FALSE(weights("run") == weights("other"));
  Outcome refused = space.run("reciperun fp32.bin --output-dir run --resume latest");
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(refused.err.find("model.precision: bf16 in the checkpoint, fp32 now"), std::string::npos) << refused.err;
  EXPECT_EQ(space.run("reciperun fp32.bin --output-dir run --resume latest --allow-changes").code, 0);
}

// The machine's choice, not the user's: told, not refused.
TEST_P(PrecisionTest, AnotherOrderOfSumsIsTold) {
  if (!hasTiles())
    GTEST_SKIP() << "this machine has no AMX";
  compile("pairs.bin", "--set precision.compute=bf16 --set target.arch=x86-64-v3");
  space.must("reciperun step.bin --output-dir run --steps 2");
  space.must("reciperun step.bin --output-dir run --steps 2 --resume");
  Outcome outcome = space.run("reciperun pairs.bin --output-dir run --resume");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(
      outcome.err.find("reciperun: run/checkpoints/step-00000002: the run goes on with other bits, numerics of the "
                       "checkpoint: version "),
      0u)
      << outcome.err;
  EXPECT_NE(outcome.err.find(", bf16 sums in blocks (AMX); of this step: version "), std::string::npos) << outcome.err;
}

// Matrices have a copy of two bytes an element, and what only contractions read is kept in half the bytes.
TEST_P(PrecisionTest, MemoryIsCounted) {
  compile("fp32.bin", "");
  EXPECT_GT(category("step.bin", "parameters"), category("fp32.bin", "parameters") * 5 / 4);
  EXPECT_LT(category("step.bin", "parameters"), category("fp32.bin", "parameters") * 3 / 2);
  EXPECT_EQ(category("step.bin", "optimizer"), category("fp32.bin", "optimizer"));
  EXPECT_EQ(category("step.bin", "gradients"), category("fp32.bin", "gradients"));
}

TEST_P(PrecisionTest, KeepsWhatItIsTold) {
  compile("kept.bin",
          "--set precision.compute=bf16 --set 'precision.keep_fp32=[matmul, attention, elementwise, loss]'");
  compile("fp32.bin", "");
  space.must("reciperun kept.bin --output-dir kept");
  space.must("reciperun fp32.bin --output-dir fp32");
  EXPECT_TRUE(weights("kept") == weights("fp32"));
}

class ProductsTest : public PrecisionTest {
protected:
  void SetUp() override {
    if (!hasTiles())
      GTEST_SKIP() << "this machine has no AMX";
    compile("parts.bin", "--set precision.f32_products=bf16x6");
  }
};

// Parameters, optimizer and activations are those of fp32.
TEST_P(ProductsTest, HaveBitsOfTheirOwnAndTheMemoryOfFp32) {
  compile("fma.bin", "");
  space.must("reciperun parts.bin --output-dir parts");
  space.must("reciperun fma.bin --output-dir fma");
  EXPECT_EQ(weights("parts").size(), weights("fma").size());
  EXPECT_FALSE(weights("parts") == weights("fma"));
  for (int update = 0; update < kUpdates; ++update)
    EXPECT_NEAR(losses("parts")[size_t(update)], losses("fma")[size_t(update)], 1e-4) << update;
  for (const char *name : {"parameters", "optimizer", "gradients", "activations"})
    EXPECT_EQ(category("parts.bin", name), category("fma.bin", name)) << name;
}

TEST_P(ProductsTest, ResumeAndTheInterpreterAgreeWithTheWholeRun) {
  space.must("reciperun parts.bin --output-dir whole");
  EXPECT_EQ(losses("whole"), exactLosses("parts.bin"));
  space.must("reciperun parts.bin --output-dir cut --steps 2");
  compile("fma.bin", "");
  Outcome refused = space.run("reciperun fma.bin --output-dir cut --resume latest");
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(refused.err.find("precision.f32_products: bf16x6 in the checkpoint, fma now"), std::string::npos)
      << refused.err;
  space.must("reciperun parts.bin --output-dir cut --resume latest");
  EXPECT_EQ(losses("cut"), losses("whole"));
  EXPECT_TRUE(weights("cut") == weights("whole"));
}

// Ops that are kept in f32 are multiplied by parts, the others are in bf16: three different trainings.
TEST_P(ProductsTest, GoTogetherWithBF16) {
  const std::string kept = "--set precision.compute=bf16 --set 'precision.keep_fp32=[loss, matmul]'";
  compile("kept.bin", kept);
  compile("both.bin", kept + " --set precision.f32_products=bf16x6");
  space.must("reciperun kept.bin --output-dir kept");
  space.must("reciperun both.bin --output-dir both");
  space.must("reciperun parts.bin --output-dir parts");
  EXPECT_FALSE(weights("both") == weights("kept"));
  EXPECT_FALSE(weights("both") == weights("parts"));
  EXPECT_EQ(losses("both"), exactLosses("both.bin"));
}

INSTANTIATE_TEST_SUITE_P(Models, ProductsTest, testing::Values("gpt2", "llama"),
                         [](const auto &info) { return std::string(info.param); });
INSTANTIATE_TEST_SUITE_P(Models, PrecisionTest, testing::Values("gpt2", "llama"),
                         [](const auto &info) { return std::string(info.param); });

} // namespace recipe::test
