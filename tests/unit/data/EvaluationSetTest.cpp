#include "runtime/data/EvaluationSet.h"

#include "tests/unit/TempFolder.h"
#include "tests/unit/data/Tokens.h"

#include <map>

using namespace recipe;
using namespace recipe::rt;

namespace {

struct EvaluationSetTest : testing::Test {
  TokenRange successors(int32_t count) {
    test::writeTokens(folder.path("t.tok"), test::successors(count), 1 << 20);
    return test::whole(test::openTokens(folder.path("t.tok")));
  }

  test::TempFolder folder;
};

TEST_F(EvaluationSetTest, LastWindowAndLastBatchAreShort) {
  absl::StatusOr<EvaluationSet> set = EvaluationSet::create({successors(8)}, 3, 2, 0);
  ASSERT_TRUE(set.ok()) << set.status();
  ASSERT_EQ(set->batchCount(), 2);
  EXPECT_EQ(set->predictionCount(), 7);
  test::Batch batch(2, 3);
  ASSERT_TRUE(set->fill(0, batch.view()).ok());
  EXPECT_EQ(batch.tokens, (std::vector<int32_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(batch.labels, (std::vector<int32_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(batch.positions, (std::vector<int32_t>{0, 1, 2, 0, 1, 2}));
  ASSERT_TRUE(set->fill(1, batch.view()).ok());
  EXPECT_EQ(batch.tokens, (std::vector<int32_t>{6, 0, 0, 0, 0, 0}));
  EXPECT_EQ(batch.labels, (std::vector<int32_t>{7, -1, -1, -1, -1, -1}));
  EXPECT_EQ(batch.positions, (std::vector<int32_t>{0, 1, 2, 0, 1, 2}));
}

TEST_F(EvaluationSetTest, EachTokenButTheFirstIsPredictedOnce) {
  for (int32_t count = 2; count < 26; ++count) {
    TokenRange range = successors(count);
    for (int64_t seqLength : {1, 2, 3, 5, 30})
      for (int64_t batchSize : {1, 2, 3}) {
        absl::StatusOr<EvaluationSet> set = EvaluationSet::create({range}, seqLength, batchSize, 0);
        ASSERT_TRUE(set.ok()) << set.status();
        std::map<int32_t, int> labels;
        for (int64_t index = 0; index < set->batchCount(); ++index) {
          test::Batch batch(batchSize, seqLength);
          ASSERT_TRUE(set->fill(index, batch.view()).ok());
          bool any = false;
          for (size_t i = 0; i < batch.labels.size(); ++i) {
            if (batch.labels[i] == kIgnoredLabel) {
              EXPECT_EQ(batch.tokens[i], 0);
              continue;
            }
            any = true;
            EXPECT_EQ(batch.labels[i], batch.tokens[i] + 1);
            ++labels[batch.labels[i]];
          }
          EXPECT_TRUE(any) << "a batch without labels";
        }
        EXPECT_EQ(labels.size(), size_t(count - 1));
        EXPECT_EQ(labels.rbegin()->first, count - 1);
        for (auto [label, times] : labels)
          EXPECT_EQ(times, 1);
        EXPECT_EQ(set->predictionCount(), count - 1);
      }
  }
}

TEST_F(EvaluationSetTest, EvalStepsKeepsTheFirstBatches) {
  TokenRange range = successors(30); // 29 predictions in 8 samples of 4, in 3 batches of 3
  struct {
    int64_t evalSteps, batches, predictions;
  } cases[] = {{0, 3, 29}, {1, 1, 12}, {2, 2, 24}, {3, 3, 29}, {100, 3, 29}};
  for (auto [evalSteps, batches, predictions] : cases) {
    absl::StatusOr<EvaluationSet> set = EvaluationSet::create({range}, 4, 3, evalSteps);
    ASSERT_TRUE(set.ok());
    EXPECT_EQ(set->batchCount(), batches);
    EXPECT_EQ(set->predictionCount(), predictions);
    int64_t counted = 0;
    for (int64_t index = 0; index < set->batchCount(); ++index) {
      test::Batch batch(3, 4);
      ASSERT_TRUE(set->fill(index, batch.view()).ok());
      counted += std::count_if(batch.labels.begin(), batch.labels.end(), [](int32_t label) { return label >= 0; });
    }
    EXPECT_EQ(counted, predictions);
  }
}

TEST_F(EvaluationSetTest, StaysInItsRange) {
  TokenRange range = successors(30);
  range.begin = 11;
  range.end = 22;
  absl::StatusOr<EvaluationSet> set = EvaluationSet::create({range}, 4, 8, 0);
  ASSERT_TRUE(set.ok());
  ASSERT_EQ(set->batchCount(), 1);
  test::Batch batch(8, 4);
  ASSERT_TRUE(set->fill(0, batch.view()).ok());
  EXPECT_EQ(batch.tokens[0], 11);
  EXPECT_EQ(batch.labels[9], 21);
  EXPECT_EQ(batch.labels[10], kIgnoredLabel);
  EXPECT_EQ(set->predictionCount(), 10);
}

TEST_F(EvaluationSetTest, RefusesWhatPredictsNothing) {
  TokenRange range = successors(5);
  for (uint64_t size : {0, 1}) {
    range.end = size;
    absl::StatusOr<EvaluationSet> set = EvaluationSet::create({range}, 4, 2, 0);
    ASSERT_FALSE(set.ok());
    EXPECT_NE(set.status().message().find("at least 2 tokens, found " + std::to_string(size)), absl::string_view::npos)
        << set.status();
  }
}

} // namespace
