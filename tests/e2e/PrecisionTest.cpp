// Runs in bf16, as a user sees them: files hold fp32 weights, and what follows from weights follows from those in a
// file, too. Bits across factorings, threads, instruction sets and ranks: InvarianceTest, NodesTest.
#include "tests/e2e/Workspace.h"
#include <cstdio>
#include <gtest/gtest.h>
#include <sstream>

namespace recipe::test {

namespace {

class PrecisionTest : public testing::TestWithParam<const char *> {
protected:
  PrecisionTest() { compile("step.bin", "--set precision.compute=bf16"); }

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
  std::istringstream lines(
      space.must("recipec interpret step.bin --mode exact --steps 4 --set model.init_from=first --set optim.lr=1e-2")
          .out);
  std::vector<double> exact;
  for (std::string line; std::getline(lines, line);) {
    double loss;
    ASSERT_EQ(std::sscanf(line.c_str(), "step %*d loss %lf", &loss), 1) << line;
    exact.push_back(loss);
  }
  EXPECT_EQ(losses("second"), exact);
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

INSTANTIATE_TEST_SUITE_P(Models, PrecisionTest, testing::Values("gpt2", "llama"),
                         [](const auto &info) { return std::string(info.param); });

} // namespace recipe::test
