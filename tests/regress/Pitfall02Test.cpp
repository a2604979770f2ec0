// Elsewhere: a short last batch is dropped or scaled as a full one, and the learning rate advances with every
// micro-batch. Here: an evaluation is the mean over its tokens, whatever the batch; one update is one tick of the
// schedule.
#include "tests/e2e/Workspace.h"
#include <cmath>
#include <gtest/gtest.h>

namespace recipe::test {

namespace {

/// 48 samples per update in micro-batches of 1, 2, 3 and 12, trained once for both tests; 25 windows of 19 tokens are
/// evaluated on.
struct Pitfall02 : testing::Test {
  static void SetUpTestSuite() {
    space = std::make_unique<Workspace>();
    space->must("tail -c 476 text.txt >eval.txt && recipedata tokenize eval.txt -o eval.tok");
    for (int batch : {1, 2, 3, 12}) {
      std::string name = std::to_string(batch);
      space->must("recipec compile llama.recipe -o " + name + ".bin --set data.batch_size=" + name +
                  " --set optim.grad_accum_steps=" + std::to_string(48 / batch) + " --set data.eval_path=eval.tok");
      space->must("reciperun " + name + ".bin --output-dir " + name);
    }
  }
  static void TearDownTestSuite() { space.reset(); }

  static std::unique_ptr<Workspace> space;
};

std::unique_ptr<Workspace> Pitfall02::space;

} // namespace

TEST_F(Pitfall02, TheShortLastBatchCountsAsManyTokensAsItHas) {
  ASSERT_EQ(space->evaluations("1").size(), 1u);
  nlohmann::json whole = space->evaluations("1")[0]; // batches of one window: none is short
  EXPECT_EQ(whole["eval_tokens"], 25 * 19);
  double expected = whole["eval_loss"];
  for (std::string batch : {"2", "3", "12"}) { // the last one has 1 window
    ASSERT_EQ(space->evaluations(batch).size(), 1u);
    nlohmann::json evaluation = space->evaluations(batch)[0];
    EXPECT_EQ(evaluation["eval_tokens"], 25 * 19) << batch;
    EXPECT_NEAR(evaluation["eval_loss"], expected, 1e-6 * expected) << batch;
  }
  // What a mean of means would have been: the one short batch as heavy as the others.
  std::string last = "tail -c 20 text.txt >last.txt && recipedata tokenize last.txt -o last.tok && reciperun 12.bin "
                     "--set data.eval_path=last.tok --output-dir last";
  space->must(last);
  double loss = space->evaluations("last")[0]["eval_loss"];
  EXPECT_GT(std::abs(expected + (loss - expected) * (1. / 3 - 1. / 25) - expected), 1e-5 * expected);
}

TEST_F(Pitfall02, TheLearningRateAdvancesOncePerUpdate) {
  for (std::string batch : {"1", "2", "3", "12"}) {
    std::vector<nlohmann::json> steps = space->steps(batch);
    ASSERT_EQ(steps.size(), size_t(kUpdates)) << batch;
    for (int update = 0; update < kUpdates; ++update) {
      // The default: no warm-up of 3 % of 4 updates, then half a cosine from 1e-3 to a tenth of it.
      double course = 0.5 * (1 + std::cos(M_PI * (update + 1) / kUpdates));
      EXPECT_EQ(steps[size_t(update)]["step"], update + 1);
      EXPECT_NEAR(steps[size_t(update)]["learning_rate"], 1e-4 + 9e-4 * course, 1e-15) << batch << " " << update;
    }
  }
}

} // namespace recipe::test
