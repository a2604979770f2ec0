#include "runtime/data/Corpus.h"

#include "runtime/data/TextData.h"
#include "tests/unit/TempFolder.h"
#include "tests/unit/data/Tokens.h"

#include <filesystem>

using namespace recipe;
using namespace recipe::rt;

namespace {

/// Files of successors, 1000 apart, so that a token tells its file and its place.
struct CorpusTest : testing::Test {
  std::vector<std::shared_ptr<const TokenFile>> files(const std::vector<int32_t> &counts) {
    std::vector<std::shared_ptr<const TokenFile>> all;
    for (size_t i = 0; i < counts.size(); ++i) {
      std::string path = folder.path("f" + std::to_string(i) + ".tok");
      test::writeTokens(path, test::successors(counts[i], int32_t(1000 * i)), 1 << 20);
      all.push_back(test::openTokens(path));
    }
    return all;
  }
  std::vector<TokenRange> whole(const std::vector<int32_t> &counts) {
    std::vector<TokenRange> ranges;
    for (const auto &file : files(counts))
      ranges.push_back(test::whole(file));
    return ranges;
  }

  test::TempFolder folder;
};

TEST_F(CorpusTest, AFolderStandsForItsFilesByName) {
  std::filesystem::create_directories(folder.path("d"));
  for (const char *name : {"d/b.tok", "d/a10.tok", "d/a2.tok", "d/B.tok", "d/.hidden", "x.tok"})
    folder.write(name, "");
  absl::StatusOr<std::vector<std::string>> paths =
      tokenFilePaths({folder.path("x.tok"), folder.path("d"), folder.path("x.tok"), folder.path("absent")});
  ASSERT_TRUE(paths.ok()) << paths.status();
  std::vector<std::string> names = {"x.tok", "d/B.tok", "d/a10.tok", "d/a2.tok", "d/b.tok", "x.tok", "absent"};
  for (std::string &name : names)
    name = folder.path(name);
  EXPECT_EQ(*paths, names);
}

TEST_F(CorpusTest, FoldersThatAreNoData) {
  std::filesystem::create_directories(folder.path("d"));
  EXPECT_EQ(tokenFilePaths({folder.path("d")}).status().message(),
            folder.path("d") + ": a data folder must hold token files, found none");
  std::filesystem::create_directories(folder.path("d/sub"));
  EXPECT_EQ(tokenFilePaths({folder.path("d")}).status().message(),
            folder.path("d") + ": a data folder must hold token files only, found the folder sub");
}

TEST_F(CorpusTest, NoWindowReachesIntoAnotherFile) {
  for (int64_t T : {1, 3, 4, 7})
    for (WindowTable::Kind kind : {WindowTable::Whole, WindowTable::All}) {
      std::vector<int32_t> counts = {1, 9, 2, 30, 8, 13};
      WindowTable table(whole(counts), T, kind);
      uint64_t expected = 0, window = 0, predictions = 0;
      for (size_t i = 0; i < counts.size(); ++i) {
        uint64_t pairs = uint64_t(counts[i]) - 1;
        uint64_t here = kind == WindowTable::Whole ? pairs / T : (pairs + T - 1) / T;
        expected += here;
        for (uint64_t k = 0; k < here; ++k, ++window) {
          WindowTable::Place place = table.place(window);
          EXPECT_EQ(place.range, &table.allRanges()[i]);
          EXPECT_EQ(place.begin, k * T);
          predictions += std::min<uint64_t>(T, pairs - k * T);
          EXPECT_EQ(table.predictionCount(window + 1), predictions);
        }
      }
      EXPECT_EQ(table.count(), expected);
      EXPECT_EQ(table.tokenCount(), 63u);
    }
}

TEST_F(CorpusTest, TheEndOfAllFilesIsHeldOut) {
  auto all = files({10, 10, 5});
  struct {
    double fraction;
    std::vector<std::pair<uint64_t, uint64_t>> training, heldOut;
  } cases[] = {
      {0, {{0, 10}, {0, 10}, {0, 5}}, {}},
      {0.2, {{0, 10}, {0, 10}}, {{0, 5}}},
      {0.24, {{0, 10}, {0, 9}}, {{9, 10}, {0, 5}}},
      {0.9, {{0, 3}}, {{3, 10}, {0, 10}, {0, 5}}},
  };
  for (const auto &one : cases) {
    absl::StatusOr<CorpusSplit> split = splitCorpus(all, one.fraction);
    ASSERT_TRUE(split.ok());
    auto places = [](const std::vector<TokenRange> &ranges) {
      std::vector<std::pair<uint64_t, uint64_t>> result;
      for (const TokenRange &range : ranges)
        result.emplace_back(range.begin, range.end);
      return result;
    };
    EXPECT_EQ(places(split->training), one.training) << one.fraction;
    EXPECT_EQ(places(split->heldOut), one.heldOut) << one.fraction;
  }
}

// Training over a list and over a folder of the same files; each label is the successor of its token.
TEST_F(CorpusTest, ARunOverSeveralFiles) {
  files({17, 26, 9});
  TextDataOptions options;
  options.paths = {folder.path("")};
  options.seqLength = 4;
  options.batchSize = 5;
  options.globalBatch = 5;
  options.vocabSize = 1 << 20;
  options.evalFraction = 0.25; // 13 of 52: 4 of the second file, all of the third
  absl::StatusOr<TextData> fromFolder = openTextData(options);
  ASSERT_TRUE(fromFolder.ok()) << fromFolder.status();
  options.paths = {folder.path("f0.tok"), folder.path("f1.tok"), folder.path("f2.tok")};
  absl::StatusOr<TextData> data = openTextData(options);
  ASSERT_TRUE(data.ok()) << data.status();
  ASSERT_EQ(data->training->windowCount(), 4 + 5);
  EXPECT_EQ(data->evaluation->predictionCount(), 3 + 8);
  test::Batch epoch(9, 4), again(9, 4);
  ASSERT_TRUE(data->training->fillSamples(0, epoch.view()).ok());
  ASSERT_TRUE(fromFolder->training->fillSamples(0, again.view()).ok());
  EXPECT_EQ(epoch.tokens, again.tokens);
  std::set<int32_t> starts;
  for (int64_t row = 0; row < 9; ++row)
    starts.insert(epoch.row(epoch.tokens, row)[0]);
  EXPECT_EQ(starts, (std::set<int32_t>{0, 4, 8, 12, 1000, 1004, 1008, 1012, 1016}));
  for (size_t i = 0; i < epoch.labels.size(); ++i)
    EXPECT_EQ(epoch.labels[i], epoch.tokens[i] + 1);
  test::Batch held(5, 4);
  ASSERT_TRUE(data->evaluation->fill(0, held.view()).ok());
  EXPECT_EQ(held.row(held.tokens, 0), (std::vector<int32_t>{1022, 1023, 1024, 0}));
  EXPECT_EQ(held.row(held.labels, 0), (std::vector<int32_t>{1023, 1024, 1025, -1}));
  EXPECT_EQ(held.row(held.tokens, 2), (std::vector<int32_t>{2004, 2005, 2006, 2007}));
  EXPECT_EQ(held.row(held.labels, 3), (std::vector<int32_t>{-1, -1, -1, -1}));
  // Another order of the list is another text.
  options.paths = {folder.path("f1.tok"), folder.path("f0.tok"), folder.path("f2.tok")};
  options.evalFraction = 0;
  absl::StatusOr<TextData> other = openTextData(options);
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(other->training->windowCount(), 4 + 6 + 2);
}

// The checksums cost the time that all files together take.
TEST_F(CorpusTest, TheFilesTogetherAreVerifiedUpToASize) {
  files({17, 26});
  std::string bytes = folder.read("f1.tok");
  bytes[TokenHeaderBytes] ^= 1;
  folder.write("f1.tok", bytes);
  TextDataOptions options;
  options.seqLength = 4;
  options.batchSize = options.globalBatch = 5;
  options.vocabSize = 1 << 20;
  options.paths = {folder.path("")};
  options.verifiedBytes = 43 * 4;
  EXPECT_EQ(openTextData(options).status().message().find(folder.path("f1.tok") + ": the tokens are damaged"), 0u);
  options.verifiedBytes = 43 * 4 - 1;
  EXPECT_TRUE(openTextData(options).ok());
}

TEST_F(CorpusTest, FilesMustAgree) {
  files({17, 26});
  test::writeTokens(folder.path("g.tok"), test::successors(20), 256, "other");
  TextDataOptions options;
  options.seqLength = 4;
  options.batchSize = options.globalBatch = 5;
  options.vocabSize = 1 << 20;
  options.paths = {folder.path("f0.tok"), folder.path("g.tok")};
  std::string message(openTextData(options).status().message());
  EXPECT_EQ(
      message.find(folder.path("g.tok") + ": must have the tokenizer of " + folder.path("f0.tok") + ", got \"other\" "),
      0u)
      << message;
  options.paths = {folder.path("f0.tok"), folder.path("f1.tok")};
  options.seqLength = 26;
  EXPECT_EQ(openTextData(options).status().message(),
            folder.path("f0.tok") +
                " and 1 more: one training sample takes seq_length + 1 = 27 tokens of one file, found 43 tokens for "
                "training");
}

} // namespace
