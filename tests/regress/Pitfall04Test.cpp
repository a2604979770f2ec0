// Elsewhere: labels are shifted twice, or the next row's token becomes a label. Here: one shift, in one place, and no
// label from elsewhere.
#include "tests/e2e/Workspace.h"
#include "tests/numerics/NativeRun.h"
#include <gtest/gtest.h>

namespace recipe::test {

namespace {

constexpr int kCycle = 61;
constexpr int64_t kUpdatesOfToy = 120;

/// Byte i of the successor sequence.
int32_t successor(int64_t i) { return int32_t(' ' + i % kCycle); }

/// Tokens of the successor sequence, each labelled with the one that is next.
class NextTokens : public rt::BatchSource {
public:
  absl::Status fill(int64_t step, int64_t microbatch, const rt::MicroBatch &out) override {
    for (int64_t i = 0; i < out.samples * out.length; ++i) {
      int64_t place = (i / out.length) * 17 + i % out.length;
      out.tokens[i] = successor(place);
      out.labels[i] = successor(place + 1);
      out.positions[i] = int32_t(i % out.length);
    }
    return absl::OkStatus();
  }
};

/// The stream of a token file without the labels of its second row.
class FirstRow : public rt::BatchSource {
public:
  FirstRow(rt::BatchSource &whole) : whole(whole) {}
  absl::Status fill(int64_t step, int64_t microbatch, const rt::MicroBatch &out) override {
    RCP_RETURN_IF_ERROR(whole.fill(step, microbatch, out));
    std::fill_n(out.labels + out.length, out.length, rt::kIgnoredLabel);
    return absl::OkStatus();
  }

private:
  rt::BatchSource &whole;
};

struct Pitfall04 : testing::Test {
  /// First update on `tokens`, of its first row only or of all of it.
  rt::StepResult firstStep(const std::string &tokens, bool firstRowOnly) {
    rt::StepResult result;
    rt::TextData data;
    std::unique_ptr<FirstRow> row;
    std::unique_ptr<rt::Executor> executor = openStep(space.files().path("pair.bin"));
    if (!executor)
      return result;
    data = openTraining(space.files().path(tokens), executor->step().manifest());
    row = std::make_unique<FirstRow>(*data.training);
    executor->initialize();
    EXPECT_TRUE(executor->begin(firstRowOnly ? static_cast<rt::BatchSource &>(*row) : *data.training, 0).ok());
    absl::StatusOr<rt::StepResult> step = executor->runStep();
    EXPECT_TRUE(step.ok()) << step.status();
    return step.ok() ? *step : result;
  }

  Workspace space;
};

} // namespace

TEST_F(Pitfall04, TheSuccessorOfATokenIsLearned) {
  std::string text;
  for (int64_t i = 0; i < 3000; ++i)
    text += char(successor(i));
  space.files().write("toy.txt", text);
  space.must("recipedata tokenize toy.txt -o toy.tok");
  space.must("recipec compile llama.recipe -o toy.bin --set optim.lr=1e-2 --set optim.max_steps=" +
             std::to_string(kUpdatesOfToy));
  rt::TextData data; // outlives the executor, whose prefetch thread reads it
  NextTokens nextTokens;
  std::unique_ptr<rt::Executor> executor = openStep(space.files().path("toy.bin"));
  ASSERT_NE(executor, nullptr);
  data = openTraining(space.files().path("toy.tok"), executor->step().manifest());
  executor->initialize();
  ASSERT_TRUE(executor->begin(*data.training, 0).ok());
  double first = 0, last = 0;
  for (int64_t step = 0; step < kUpdatesOfToy; ++step) {
    absl::StatusOr<rt::StepResult> result = executor->runStep();
    ASSERT_TRUE(result.ok()) << result.status();
    (step == 0 ? first : last) = result->loss;
  }
  EXPECT_GT(first, 4);
  EXPECT_LT(last, 0.02);
  // Labels shifted twice are learned as easily, so what it has learned is compared with labels that the test makes.
  ASSERT_TRUE(executor->begin(nextTokens, kUpdatesOfToy).ok());
  absl::StatusOr<rt::StepResult> result = executor->runStep();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_LT(result->loss, 0.02);
}

TEST_F(Pitfall04, AnotherSecondRowLeavesTheLossOfTheFirst) {
  constexpr int kLength = 19; // of llama.recipe
  // Two windows; the last label of the first one is the first token of the second one.
  std::string shared = "in the beginning was", one = " the word and the w", other = "XYZ? 0123456789abcd";
  ASSERT_EQ(shared.size(), size_t(kLength + 1));
  space.files().write("one.txt", shared + one);
  space.files().write("other.txt", shared + other);
  space.must("recipedata tokenize one.txt -o one.tok && recipedata tokenize other.txt -o other.tok");
  space.must("recipec compile llama.recipe -o pair.bin --set data.batch_size=2");
  rt::StepResult a = firstStep("one.tok", true), b = firstStep("other.tok", true);
  EXPECT_EQ(a.validTokens, kLength);
  EXPECT_EQ(b.validTokens, kLength);
  EXPECT_EQ(a.loss, b.loss);
  EXPECT_EQ(a.gradNorm, b.gradNorm);

  rt::StepResult wholeA = firstStep("one.tok", false), wholeB = firstStep("other.tok", false);
  EXPECT_EQ(wholeA.validTokens, 2 * kLength);
  EXPECT_NE(wholeA.loss, wholeB.loss);
}

} // namespace recipe::test
