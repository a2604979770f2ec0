#include "runtime/data/SampleStream.h"

#include "tests/unit/TempFolder.h"
#include "tests/unit/data/Tokens.h"

#include <map>

using namespace recipe;
using namespace recipe::rt;

namespace {

struct SampleStreamTest : testing::Test {
  // A stream over tokens 0, 1, 2, ..., so that each value tells its place.
  SampleStream open(int32_t count, int64_t seqLength, int64_t globalBatch, bool shuffle, uint64_t seed = 1) {
    test::writeTokens(folder.path("t.tok"), test::successors(count), 1 << 20);
    absl::StatusOr<SampleStream> stream = SampleStream::create({test::whole(test::openTokens(folder.path("t.tok")))},
                                                               seqLength, globalBatch, seed, shuffle);
    EXPECT_TRUE(stream.ok()) << stream.status();
    return *std::move(stream);
  }

  test::TempFolder folder;
};

TEST_F(SampleStreamTest, OneShiftAndPositionsFromZero) {
  SampleStream stream = open(13, 4, 2, false);
  EXPECT_EQ(stream.windowCount(), 3);
  test::Batch batch(2, 4);
  ASSERT_TRUE(stream.fill(0, 0, batch.view()).ok());
  EXPECT_EQ(batch.tokens, (std::vector<int32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(batch.labels, (std::vector<int32_t>{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(batch.positions, (std::vector<int32_t>{0, 1, 2, 3, 0, 1, 2, 3}));
}

TEST_F(SampleStreamTest, WindowCountIsTheNumberOfWholeWindows) {
  for (int32_t count = 5; count < 40; ++count)
    for (int64_t seqLength : {1, 2, 3, 4})
      EXPECT_EQ(open(count, seqLength, 1, false).windowCount(), (count - 1) / seqLength);
}

// Every label is the successor of its token, and one epoch predicts each token of the windows but the first exactly
// once.
TEST_F(SampleStreamTest, AnEpochPredictsEachTokenOnce) {
  for (int32_t count : {6, 21, 22, 23, 24, 25, 100}) {
    constexpr int64_t T = 5;
    SampleStream stream = open(count, T, 1, true);
    int64_t windows = stream.windowCount();
    for (int64_t epoch = 0; epoch < 3; ++epoch) {
      std::map<int32_t, int> labels;
      test::Batch batch(windows, T);
      ASSERT_TRUE(stream.fillSamples(epoch * windows, batch.view()).ok());
      for (int64_t i = 0; i < windows * T; ++i) {
        EXPECT_EQ(batch.labels[i], batch.tokens[i] + 1);
        EXPECT_EQ(batch.positions[i], i % T);
        ++labels[batch.labels[i]];
      }
      EXPECT_EQ(labels.size(), size_t(windows * T));
      EXPECT_EQ(labels.begin()->first, 1);
      EXPECT_EQ(labels.rbegin()->first, windows * T);
      EXPECT_LT(labels.rbegin()->first, count);
    }
  }
}

// transformers 47394: the label of a row's last token came from the next row.
TEST_F(SampleStreamTest, ChangingALaterWindowLeavesAnEarlierOne) {
  constexpr int64_t T = 4;
  std::vector<int32_t> ids = test::successors(3 * T + 1);
  SampleStream before = open(3 * T + 1, T, 3, false);
  // All that belongs to window 1 but not to window 0, whose last label is token T.
  for (int64_t i = T + 1; i <= 2 * T; ++i)
    ids[i] += 1000;
  test::writeTokens(folder.path("changed.tok"), ids, 1 << 20);
  absl::StatusOr<SampleStream> after =
      SampleStream::create({test::whole(test::openTokens(folder.path("changed.tok")))}, T, 3, 1, false);
  ASSERT_TRUE(after.ok());
  test::Batch a(3, T), b(3, T);
  ASSERT_TRUE(before.fill(0, 0, a.view()).ok());
  ASSERT_TRUE(after->fill(0, 0, b.view()).ok());
  EXPECT_EQ(a.row(a.tokens, 0), b.row(b.tokens, 0));
  EXPECT_EQ(a.row(a.labels, 0), b.row(b.labels, 0));
  EXPECT_NE(a.row(a.tokens, 1), b.row(b.tokens, 1));
  EXPECT_NE(a.row(a.labels, 1), b.row(b.labels, 1));
}

TEST_F(SampleStreamTest, TokensAreSamplesOfTheGlobalSequence) {
  constexpr int64_t T = 3, G = 8;
  SampleStream stream = open(20, T, G, true);
  for (int64_t batchSize : {1, 2, 4, 8})
    for (int64_t step = 0; step < 4; ++step)
      for (int64_t microbatch = 0; microbatch < G / batchSize; ++microbatch) {
        test::Batch batch(batchSize, T);
        ASSERT_TRUE(stream.fill(step, microbatch, batch.view()).ok());
        for (int64_t row = 0; row < batchSize; ++row) {
          int32_t window = stream.order().window(step * G + microbatch * batchSize + row);
          EXPECT_EQ(batch.row(batch.tokens, row), test::successors(T, window * T));
        }
      }
}

TEST_F(SampleStreamTest, FillDependsOnItsArgumentsOnly) {
  SampleStream stream = open(50, 3, 4, true);
  test::Batch first(4, 3), again(4, 3), other(4, 3);
  ASSERT_TRUE(stream.fill(5, 0, first.view()).ok());
  ASSERT_TRUE(stream.fill(9, 0, other.view()).ok());
  ASSERT_TRUE(stream.fill(5, 0, again.view()).ok());
  EXPECT_EQ(first.tokens, again.tokens);
  EXPECT_NE(first.tokens, other.tokens);
  SampleStream reopened = open(50, 3, 4, true);
  ASSERT_TRUE(reopened.fill(5, 0, again.view()).ok());
  EXPECT_EQ(first.tokens, again.tokens);
  SampleStream otherSeed = open(50, 3, 4, true, 2);
  ASSERT_TRUE(otherSeed.fill(5, 0, again.view()).ok());
  EXPECT_NE(first.tokens, again.tokens);
}

TEST_F(SampleStreamTest, ARangeIsNeverLeft) {
  test::writeTokens(folder.path("t.tok"), test::successors(40), 1 << 20);
  auto file = test::openTokens(folder.path("t.tok"));
  absl::StatusOr<SampleStream> stream = SampleStream::create({TokenRange{file, 10, 27}}, 4, 4, 1, true);
  ASSERT_TRUE(stream.ok());
  EXPECT_EQ(stream->windowCount(), 4);
  test::Batch batch(4, 4);
  ASSERT_TRUE(stream->fill(0, 0, batch.view()).ok());
  EXPECT_EQ(*std::min_element(batch.tokens.begin(), batch.tokens.end()), 10);
  EXPECT_EQ(*std::max_element(batch.labels.begin(), batch.labels.end()), 26);
}

TEST_F(SampleStreamTest, RefusesLessThanOneSample) {
  test::writeTokens(folder.path("t.tok"), test::successors(8), 100);
  absl::StatusOr<SampleStream> stream =
      SampleStream::create({test::whole(test::openTokens(folder.path("t.tok")))}, 8, 1, 1, true);
  ASSERT_FALSE(stream.ok());
  EXPECT_NE(stream.status().message().find("seq_length + 1 = 9 tokens, found 8"), absl::string_view::npos)
      << stream.status();
}

TEST_F(SampleStreamTest, AnIdOutsideTheVocabularyIsAnErrorThatNamesItsPlace) {
  test::writeTokens(folder.path("t.tok"), {0, 1, 2, 3, 4, 200, 6, 7, 8}, 256);
  // The vocabulary shrinks under the ids: a file by another program.
  std::string bytes = folder.read("t.tok");
  TokenHeader header = test::openTokens(folder.path("t.tok"))->header();
  header.vocabSize = 100;
  std::array<uint8_t, TokenHeaderBytes> encoded = encodeTokenHeader(header);
  bytes.replace(0, encoded.size(), reinterpret_cast<const char *>(encoded.data()), encoded.size());
  auto file = test::openTokens(folder.write("bad.tok", bytes));
  ASSERT_TRUE(file);
  absl::StatusOr<SampleStream> stream = SampleStream::create({test::whole(file)}, 4, 1, 1, false);
  ASSERT_TRUE(stream.ok());
  test::Batch batch(1, 4);
  EXPECT_TRUE(stream->fill(0, 0, batch.view()).ok());
  absl::Status status = stream->fill(1, 0, batch.view());
  EXPECT_NE(status.message().find("token 5: the id must be below the vocabulary of 100, got 200"),
            absl::string_view::npos)
      << status;
}

} // namespace
