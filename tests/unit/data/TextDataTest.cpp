#include "runtime/data/TextData.h"

#include "tests/unit/TempFolder.h"
#include "tests/unit/data/Tokens.h"

#include <cmath>
#include <functional>

using namespace recipe;
using namespace recipe::rt;

namespace {

struct TextDataTest : testing::Test {
  TextDataTest() {
    test::writeTokens(folder.path("train.tok"), test::successors(100), 256);
    test::writeTokens(folder.path("eval.tok"), test::successors(20, 150), 256);
    options.paths = {folder.path("train.tok")};
    options.seqLength = 5;
    options.batchSize = 2;
    options.globalBatch = 4;
    options.vocabSize = 256;
    options.seed = 3;
  }

  test::TempFolder folder;
  TextDataOptions options;
};

TEST_F(TextDataTest, NoEvaluationUnlessAskedFor) {
  absl::StatusOr<TextData> data = openTextData(options);
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_EQ(data->training->windowCount(), 19);
  EXPECT_EQ(data->evaluation, nullptr);
}

TEST_F(TextDataTest, TheHeldOutPartIsNeverTrainedOn) {
  options.evalFraction = 0.25;
  absl::StatusOr<TextData> data = openTextData(options);
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_EQ(data->training->windowCount(), 14); // (75 - 1) / 5
  test::Batch batch(14, 5);
  ASSERT_TRUE(data->training->fillSamples(0, batch.view()).ok());
  EXPECT_EQ(*std::max_element(batch.labels.begin(), batch.labels.end()), 70);
  ASSERT_TRUE(data->evaluation);
  EXPECT_EQ(data->evaluation->predictionCount(), 24);
  test::Batch held(2, 5);
  ASSERT_TRUE(data->evaluation->fill(0, held.view()).ok());
  EXPECT_EQ(held.tokens[0], 75);
}

TEST_F(TextDataTest, TheLastTokensAreHeldOutRoundedDown) {
  auto file = test::openTokens(folder.path("train.tok"));
  struct {
    double fraction;
    uint64_t heldOut;
  } cases[] = {{0, 0}, {0.009, 0}, {0.01, 1}, {0.019, 1}, {0.1, 10}, {0.5, 50}, {0.999, 99}};
  for (auto [fraction, heldOut] : cases) {
    absl::StatusOr<TokenSplit> split = splitTokens(file, fraction);
    ASSERT_TRUE(split.ok());
    EXPECT_EQ(split->heldOut.size(), heldOut);
    EXPECT_EQ(split->heldOut.end, 100u);
    EXPECT_EQ(split->training.begin, 0u);
    EXPECT_EQ(split->training.end, split->heldOut.begin);
  }
}

TEST_F(TextDataTest, ASeparateFileIsEvaluatedWhole) {
  options.evalPath = folder.path("eval.tok");
  absl::StatusOr<TextData> data = openTextData(options);
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_EQ(data->training->windowCount(), 19);
  EXPECT_EQ(data->evaluation->predictionCount(), 19);
  test::Batch batch(2, 5);
  ASSERT_TRUE(data->evaluation->fill(0, batch.view()).ok());
  EXPECT_EQ(batch.tokens, test::successors(10, 150));
  options.evalSteps = 1;
  data = openTextData(options);
  ASSERT_TRUE(data.ok());
  EXPECT_EQ(data->evaluation->batchCount(), 1);
}

TEST_F(TextDataTest, TheEvaluationSetIgnoresSeedAndShuffle) {
  options.evalFraction = 0.3;
  test::Batch first(2, 5), second(2, 5);
  ASSERT_TRUE(openTextData(options)->evaluation->fill(1, first.view()).ok());
  options.seed = 99;
  options.shuffle = false;
  ASSERT_TRUE(openTextData(options)->evaluation->fill(1, second.view()).ok());
  EXPECT_EQ(first.tokens, second.tokens);
  EXPECT_EQ(first.labels, second.labels);
}

// A flipped bit that makes another legal token shows only in the checksum.
TEST_F(TextDataTest, DamagedTokensAreRefusedUpToADocumentedSize) {
  for (const char *name : {"train.tok", "eval.tok"}) {
    std::string good = folder.read(name), bytes = good;
    bytes.back() ^= 4;
    folder.write(name, bytes);
    options.evalPath = folder.path("eval.tok");
    uint64_t size = bytes.size() - TokenHeaderBytes;
    for (uint64_t verified : {VerifiedPayloadBytes, size}) {
      options.verifiedBytes = verified;
      absl::StatusOr<TextData> data = openTextData(options);
      ASSERT_FALSE(data.ok());
      EXPECT_EQ(data.status().message().find(folder.path(name) + ": the tokens are damaged, their SHA-256 must be "),
                0u)
          << data.status();
    }
    options.verifiedBytes = size - 1;
    absl::StatusOr<TextData> larger = openTextData(options);
    EXPECT_TRUE(larger.ok()) << larger.status();
    folder.write(name, good);
  }
}

TEST_F(TextDataTest, RefusesWhatDoesNotFitWithTheReason) {
  test::writeTokens(folder.path("other.tok"), test::successors(20), 256, "other");
  struct {
    const char *name;
    std::function<void(TextDataOptions &)> change;
    std::vector<std::string> says;
  } cases[] = {
      {"vocabulary", [](auto &o) { o.vocabSize = 255; }, {"train.tok", "got 256", "\"bytes\"", "vocab_size 255"}},
      {"vocabulary of the evaluation",
       [&](auto &o) {
         test::writeTokens(folder.path("wide.tok"), test::successors(20), 300);
         o.evalPath = folder.path("wide.tok");
       },
       {"wide.tok", "got 300", "vocab_size 256"}},
      {"both evaluations",
       [&](auto &o) {
         o.evalPath = folder.path("eval.tok");
         o.evalFraction = 0.1;
       },
       {"eval_path", "eval_fraction", "0.1"}},
      {"fraction of one", [](auto &o) { o.evalFraction = 1; }, {"eval_fraction must be at least 0 and below 1, got 1"}},
      {"negative fraction", [](auto &o) { o.evalFraction = -0.5; }, {"eval_fraction", "got -0.5"}},
      {"fraction that is no number", [](auto &o) { o.evalFraction = std::nan(""); }, {"eval_fraction", "got nan"}},
      {"too little training", [](auto &o) { o.evalFraction = 0.99; }, {"seq_length + 1 = 6", "found 1 "}},
      {"too little held out",
       [](auto &o) { o.evalFraction = 0.01; },
       {"data.eval_fraction must hold out at least 2 tokens, got 0.01 of 100 tokens, that is 1"}},
      {"absent file", [](auto &o) { o.paths[0] += "x"; }, {"train.tokx", "No such file"}},
      {"absent evaluation", [&](auto &o) { o.evalPath = folder.path("absent"); }, {"absent", "No such file"}},
      {"another tokenizer",
       [&](auto &o) { o.evalPath = folder.path("other.tok"); },
       {"other.tok", "\"other\"", "\"bytes\""}},
  };
  for (const auto &bad : cases) {
    SCOPED_TRACE(bad.name);
    TextDataOptions changed = options;
    bad.change(changed);
    absl::StatusOr<TextData> data = openTextData(changed);
    ASSERT_FALSE(data.ok());
    std::string message(data.status().message());
    for (const std::string &part : bad.says)
      EXPECT_NE(message.find(part), std::string::npos) << message << "\nmisses: " << part;
  }
}

} // namespace
