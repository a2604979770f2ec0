// Elsewhere: accumulation and data parallelism average the means of micro-batches. Here: the sum of the losses of all
// tokens over their number, however the batch is cut.
#include "tests/e2e/Workspace.h"
#include "tests/numerics/NativeRun.h"
#include <cstring>
#include <gtest/gtest.h>

namespace recipe::test {

namespace {

constexpr int64_t kSamples = 4, kLength = 6;
/// Labels of each sample that count: as micro-batches of one sample 5, 1, 0 and 0, as one batch 6.
constexpr int64_t kCounts[kSamples] = {5, 1, 0, 0};

/// One global batch.
class Samples : public rt::BatchSource {
public:
  /// Only labels of `only` count, if that is a sample.
  explicit Samples(int64_t only = -1) : only(only) {}

  absl::Status fill(int64_t step, int64_t microbatch, const rt::MicroBatch &out) override {
    for (int64_t row = 0; row < out.samples; ++row)
      for (int64_t t = 0; t < out.length; ++t) {
        int64_t sample = microbatch * out.samples + row, at = row * out.length + t;
        bool counts = t < kCounts[sample] && (only < 0 || only == sample);
        out.tokens[at] = int32_t((sample * 37 + t * t * 11 + 3) % 256);
        out.labels[at] = counts ? int32_t((sample * 91 + t * 29 + 7) % 256) : rt::kIgnoredLabel;
        out.positions[at] = int32_t(t);
      }
    return absl::OkStatus();
  }

private:
  int64_t only;
};

struct Result {
  rt::StepResult step;
  TensorMap gradients;
};

struct Case {
  const char *recipe;
  int batchSegments; // 8: a sample for each leaf of the batch tree; 1: one chain through all micro-batches
};

class Pitfall01 : public testing::TestWithParam<Case> {
protected:
  /// The global batch in micro-batches of `batch` samples.
  Result run(int64_t batch, Samples source) {
    std::string name = std::to_string(batch) + ".bin";
    if (space.listing().count(space.files().path(name)) == 0)
      space.must(std::string("recipec compile ") + GetParam().recipe + " -o " + name + " --set data.seq_length=" +
                 std::to_string(kLength) + " --set data.batch_size=" + std::to_string(batch) +
                 " --set optim.grad_accum_steps=" + std::to_string(kSamples / batch) +
                 " --set numerics.batch_segments=" + std::to_string(GetParam().batchSegments) +
                 // Far from uniform predictions, so that tokens differ in their losses.
                 " --set model.config.initializer_range=0.3");
    Result result;
    std::unique_ptr<rt::Executor> executor = openStep(space.files().path(name));
    if (!executor)
      return result;
    executor->initialize();
    EXPECT_TRUE(executor->begin(source, 0).ok());
    absl::StatusOr<rt::StepResult> step = executor->runStep();
    EXPECT_TRUE(step.ok()) << step.status();
    if (step.ok())
      result.step = *step;
    result.gradients = nativeGradients(*executor);
    return result;
  }

  Workspace space;
};

/// first * weight + second * (1 - weight)
std::vector<double> mix(const std::vector<double> &first, const std::vector<double> &second, double weight) {
  std::vector<double> mixed;
  for (size_t i = 0; i < first.size(); ++i)
    mixed.push_back(first[i] * weight + second[i] * (1 - weight));
  return mixed;
}

} // namespace

TEST_P(Pitfall01, MicrobatchesOfFiveAndOneLabelAreOneBatchOfSix) {
  Result whole = run(kSamples, Samples());
  EXPECT_EQ(whole.step.validTokens, 6);
  for (int64_t batch : {1, 2}) {
    Result parts = run(batch, Samples());
    EXPECT_EQ(parts.step.validTokens, 6);
    EXPECT_EQ(parts.step.loss, whole.step.loss) << batch;
    EXPECT_EQ(parts.step.gradNorm, whole.step.gradNorm) << batch;
    EXPECT_EQ(parts.gradients, whole.gradients) << batch;
  }
}

TEST_P(Pitfall01, EveryTokenWeighsTheSame) {
  Result whole = run(1, Samples()), first = run(1, Samples(0)), second = run(1, Samples(1));
  ASSERT_EQ(first.step.validTokens, 5);
  ASSERT_EQ(second.step.validTokens, 1);
  double expected = (5 * first.step.loss + second.step.loss) / 6;
  EXPECT_NEAR(whole.step.loss, expected, 1e-6 * expected);
  // The mean of the two means is a thousand tolerances away.
  EXPECT_GT(std::abs((first.step.loss + second.step.loss) / 2 - expected), 1e-3 * expected);

  double all = norm(whole.gradients), averaged = 0;
  for (const auto &[name, gradient] : whole.gradients) {
    const std::vector<double> &five = first.gradients[name], &one = second.gradients[name];
    EXPECT_LE(distance(gradient, mix(five, one, 5. / 6)), 1e-5 * std::max(norm(gradient), 1e-3 * all)) << name;
    averaged = std::max(averaged, distance(gradient, mix(five, one, 0.5)));
  }
  EXPECT_GT(averaged, 0.05 * all);
}

INSTANTIATE_TEST_SUITE_P(Models, Pitfall01, testing::Values(Case{"gpt2.recipe", 8}, Case{"llama.recipe", 1}),
                         [](const auto &info) {
                           return std::string(info.param.recipe, std::strchr(info.param.recipe, '.'));
                         });

} // namespace recipe::test
