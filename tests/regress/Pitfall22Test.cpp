// Elsewhere: gradients accumulate in bf16 and drift. Here: in f32, over as many micro-batches as one likes.
#include "runtime/checkpoint/Safetensors.h"
#include "tests/e2e/Workspace.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

namespace recipe::test {

/// A tensor in double, from a file of F32 or F64.
static std::vector<double> values(const rt::TensorView &tensor) {
  size_t size = tensor.dtype == "F64" ? 8 : 4, count = *rt::tensorBytes(tensor) / size;
  std::vector<double> result(count);
  for (size_t i = 0; i < count; ++i) {
    const char *at = static_cast<const char *>(tensor.data) + i * size;
    float single;
    if (size == 8)
      std::memcpy(&result[i], at, 8);
    else
      result[i] = (std::memcpy(&single, at, 4), single);
  }
  return result;
}

// Native gradients are not written anywhere, so they are read off the weights: without moments (betas 0), with eps 1
// and a constant rate, one update moves a weight by rate * g / (|g| + 1).
TEST(Pitfall22, TwoHundredAndFiftySixMicroBatches) {
  Workspace space;
  // Every sample is the same, so that all 256 micro-batches have the same gradient.
  space.must(
      "(for i in $(seq 100); do printf 'abcdefghijklm'; done) >same.txt && recipedata tokenize same.txt -o same.tok");
  space.must("recipec compile gpt2.recipe -o step.bin --set data.path=same.tok --set data.batch_size=1 --set "
             "optim.grad_accum_steps=256 --set optim.betas=[0,0] --set optim.eps=1 --set optim.weight_decay=0 --set "
             "optim.clip_grad_norm=0 --set optim.lr=1000 --set optim.scheduler=constant --set optim.warmup_steps=0 "
             "--set model.config.resid_pdrop=0 --set model.config.embd_pdrop=0 --set model.config.attn_pdrop=0");
  space.must("reciperun step.bin --steps 1 --output-dir run");
  Outcome fp64 = space.must("recipec interpret step.bin --mode fp64 --dump fp64");
  double loss, gradNorm;
  ASSERT_EQ(std::sscanf(fp64.out.c_str(), "step 1 loss %lf grad_norm %lf", &loss, &gradNorm), 2) << fp64.out;
  nlohmann::json update = space.steps("run").at(0);
  EXPECT_NEAR(update["loss"], loss, 1e-6 * loss);
  EXPECT_NEAR(update["grad_norm"], gradNorm, 1e-6 * gradNorm);

  auto initial = rt::readSafetensors(space.files().path("fp64/initial.safetensors"));
  auto gradients = rt::readSafetensors(space.files().path("fp64/gradients.safetensors"));
  auto trained = rt::readSafetensors(space.files().path("run/model.safetensors"));
  ASSERT_TRUE(initial.ok() && gradients.ok() && trained.ok());
  double squares = 0, errors = 0;
  size_t elements = 0;
  for (const rt::TensorView &tensor : gradients->tensors()) {
    std::vector<double> expected = values(tensor), before = values(*initial->find(tensor.name)),
                        after = values(*trained->find(tensor.name));
    ASSERT_EQ(after.size(), expected.size()) << tensor.name;
    for (size_t i = 0; i < expected.size(); ++i) {
      double moved = (before[i] - after[i]) / 1000, gradient = moved / (1 - std::abs(moved));
      squares += expected[i] * expected[i];
      errors += (gradient - expected[i]) * (gradient - expected[i]);
    }
    elements += expected.size();
  }
  ASSERT_GT(elements, 20000u);
  // Gradients of about 1e-3, as where others drift.
  EXPECT_GT(std::sqrt(squares / double(elements)), 1e-4);
  EXPECT_LT(std::sqrt(errors), 1e-6 * std::sqrt(squares));
  std::printf("relative error of all gradients %.2g\n", std::sqrt(errors / squares));
}

} // namespace recipe::test
