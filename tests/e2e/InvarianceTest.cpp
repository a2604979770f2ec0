// Every way to run one global batch gives the same bits: micro-batches, threads, instruction sets, fused or not, with
// values kept or computed again, native or interpreted, again.
#include "tests/e2e/Workspace.h"
#include <algorithm>
#include <cstdio>
#include <gtest/gtest.h>

namespace recipe::test {

namespace {

/// Losses and gradient norms of the updates, as text that stands for their bits.
std::string bits(double loss, double gradNorm) {
  char line[100];
  std::snprintf(line, sizeof line, "%a %a\n", loss, gradNorm);
  return line;
}

struct InvarianceTest : testing::TestWithParam<const char *> {
  void SetUp() override {
    if (isSplit(GetParam()) && !hasTiles())
      GTEST_SKIP() << "this machine has no AMX";
  }

  void compile(int batch, int accumulation, const std::string &arch = "native", bool fused = true,
               const std::string &recompute = "selective") {
    name = std::to_string(batch) + "x" + std::to_string(accumulation) + arch + (fused ? "" : "-unfused") + recompute;
    space.must("recipec compile " + recipeArguments(GetParam()) + " --set data.batch_size=" + std::to_string(batch) +
               " --set optim.grad_accum_steps=" + std::to_string(accumulation) + " --set target.arch=" + arch +
               " --set fusion.enabled=" + (fused ? "true" : "false") + " --set memory.recompute=" + recompute + " -o " +
               name + ".bin");
  }

  /// Trains `name` and compares everything with the first run of this test.
  void train(int threads, const std::string &suffix = "") {
    std::string dir = name + "-" + std::to_string(threads) + suffix;
    space.must("reciperun " + name + ".bin --threads " + std::to_string(threads) + " --output-dir " + dir);
    std::string updates;
    for (const nlohmann::json &record : space.steps(dir))
      updates += bits(record["loss"], record["grad_norm"]);
    std::string weights = space.files().read(dir + "/model.safetensors");
    if (expectedUpdates.empty()) {
      ASSERT_EQ(std::count(updates.begin(), updates.end(), '\n'), kUpdates);
      ASSERT_GT(weights.size(), 50000u);
      expectedUpdates = updates;
      expectedWeights = weights;
    }
    EXPECT_EQ(updates, expectedUpdates) << dir;
    EXPECT_TRUE(weights == expectedWeights) << dir << ": other weights";
  }

  void interpret() {
    Outcome outcome = space.must("recipec interpret " + name + ".bin --mode exact --steps " + std::to_string(kUpdates));
    std::istringstream lines(outcome.out);
    std::string updates, line;
    while (std::getline(lines, line)) {
      double loss, gradNorm;
      ASSERT_EQ(std::sscanf(line.c_str(), "step %*d loss %lf grad_norm %lf", &loss, &gradNorm), 2) << line;
      updates += bits(loss, gradNorm);
    }
    EXPECT_EQ(updates, expectedUpdates) << name << " interpreted";
  }

  /// Equal bits say something only if they change when they should.
  void expectOtherBitsWithAnotherSeed() {
    space.must("reciperun " + name + ".bin --set experiment.seed=1 --output-dir other");
    std::string updates;
    for (const nlohmann::json &record : space.steps("other"))
      updates += bits(record["loss"], record["grad_norm"]);
    EXPECT_NE(updates, expectedUpdates);
    EXPECT_FALSE(space.files().read("other/model.safetensors") == expectedWeights);
  }

  Workspace space;
  std::string name, expectedUpdates, expectedWeights;
};

} // namespace

// 16 samples have 8 batch segments of 2: a micro-batch of 16, 8 or 4 is several whole segments, one of 2 is one, one of
// 1 is half of one.
TEST_P(InvarianceTest, FactoringsThreadsAndTheInterpreterAgree) {
  for (int batch : {16, 8, 4, 2, 1}) {
    compile(batch, 16 / batch);
    train(1);
    train(2);
    interpret();
  }
  train(2, "-again");
  train(3);
  for (int batch : {4, 1}) {
    compile(batch, 16 / batch, "native", /*fused=*/false);
    train(1);
    train(3);
  }
  for (const char *recompute : {"none", "products", "full"}) {
    compile(16, 1, "native", /*fused=*/true, recompute);
    train(2);
    compile(1, 16, "native", /*fused=*/false, recompute);
    train(2);
  }
  expectOtherBitsWithAnotherSeed();
  if (isSplit(GetParam())) { // no other instruction set does it
    compile(4, 4, "sapphirerapids");
    return train(2);
  }
  if (std::string(GetParam()).find("bf16") != std::string::npos)
    expectedUpdates.clear(); // "native" above may be AMX, whose bf16 sums are in an order of their own
  for (bool fused : {true, false}) {
    compile(4, 4, "x86-64-v3", fused); // AVX2 code; "native" is AVX-512 where the machine has it
    train(2);
  }
  interpret();
  if (__builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512vl")) {
    compile(4, 4, "cooperlake");
    train(2);
  }
}

// Another number of segments: 12 samples have 4 of 3.
TEST_P(InvarianceTest, FactoringsOfAnOddBatchAgree) {
  for (int batch : {12, 3, 1}) {
    compile(batch, 12 / batch);
    train(2);
    interpret();
  }
}

INSTANTIATE_TEST_SUITE_P(Models, InvarianceTest,
                         testing::Values("gpt2", "llama", "gpt2-bf16", "llama-bf16", "gpt2-split", "llama-split"),
                         [](const auto &info) { return testName(info.param); });

} // namespace recipe::test
