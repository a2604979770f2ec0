// Elsewhere: weight decay on norms and biases, and groups that get lost (verl 5070). Here what decays is a matter of
// the parameter's shape: with gradients of zero, matrices shrink by the same factor and nothing else moves at all.
#include "tests/e2e/Workspace.h"
#include "tests/numerics/NativeRun.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

namespace recipe::test {

namespace {

absl::Span<float> floats(rt::Executor &executor, uint32_t buffer) {
  return {reinterpret_cast<float *>(executor.bufferData(buffer)), executor.step().buffers(int(buffer)).bytes() / 4};
}

/// One update as the schedule has it, but with gradients of zero.
void updateWithoutGradients(rt::Executor &executor, rt::TextData &data) {
  const abi::Manifest &m = executor.step().manifest();
  auto input = [&](const char *name) { return reinterpret_cast<int32_t *>(executor.buffer(name)->data()); };
  std::vector<int32_t> positions(size_t(m.batch_size() * m.seq_length()));
  bool has = executor.buffer("input:positions").ok();
  ASSERT_TRUE(data.training
                  ->fill(0, 0,
                         {input("input:tokens"), input("input:labels"),
                          has ? input("input:positions") : positions.data(), m.batch_size(), m.seq_length()})
                  .ok());
  for (const abi::ScheduleEntry &entry : executor.step().schedule()) {
    if (entry.program() == "update")
      for (const abi::Parameter &parameter : executor.step().parameters())
        for (uint32_t gradient : parameter.gradient_buffers())
          for (float &value : floats(executor, gradient))
            value = 0;
    ASSERT_TRUE(executor.runProgram(entry.program()).ok());
  }
  ASSERT_EQ(executor.params().skip_update, 0);
  ASSERT_EQ(executor.params().grad_norm, 0);
}

} // namespace

struct Pitfall34 : testing::TestWithParam<const char *> {};

TEST_P(Pitfall34, OnlyMatricesDecay) {
  Workspace space;
  space.must("recipec compile " + std::string(GetParam()) + " --set optim.weight_decay=0.25 -o step.bin");
  std::unique_ptr<rt::Executor> executor = openStep(space.files().path("step.bin"), {"optim.scheduler=constant"});
  ASSERT_TRUE(executor);
  executor->initialize();
  std::vector<std::vector<float>> before;
  for (const abi::Parameter &parameter : executor->step().parameters()) {
    absl::Span<float> values = floats(*executor, parameter.buffer());
    int64_t count = 1;
    for (int64_t extent : parameter.shape())
      count *= extent;
    for (int64_t i = 0; i < count; ++i) // biases start as 0, which would hide a decay
      values[size_t(i)] = 0.5f + float(i % 97) / 128;
    before.emplace_back(values.begin(), values.begin() + count);
  }
  rt::TextData data = openTraining(space.files().path("text.tok"), executor->step().manifest());
  updateWithoutGradients(*executor, data);
  double factor = 1 - executor->params().learning_rate * 0.25;
  ASSERT_LT(factor, 1);
  int matrices = 0, vectors = 0;
  for (int i = 0; i < executor->step().parameters_size(); ++i) {
    const abi::Parameter &parameter = executor->step().parameters(i);
    const std::vector<float> &old = before[size_t(i)];
    absl::Span<float> now = floats(*executor, parameter.buffer()).subspan(0, old.size());
    bool matrix = parameter.shape_size() == 2;
    EXPECT_EQ(parameter.weight_decay(), matrix) << parameter.name();
    (matrix ? matrices : vectors) += 1;
    for (size_t k = 0; k < old.size(); ++k) {
      if (!matrix)
        ASSERT_EQ(now[k], old[k]) << parameter.name() << " [" << k << "]";
      else
        ASSERT_NEAR(now[k], old[k] * factor, 1e-7) << parameter.name() << " [" << k << "]";
    }
  }
  EXPECT_GT(matrices, 10);
  EXPECT_GT(vectors, 4);
}

INSTANTIATE_TEST_SUITE_P(Models, Pitfall34,
                         testing::Values("gpt2.recipe", "llama.recipe",
                                         "llama.recipe --set model.config.attention_bias=true "
                                         "--set model.config.mlp_bias=true"));

} // namespace recipe::test
