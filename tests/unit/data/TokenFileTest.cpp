#include "runtime/data/TokenFile.h"

#include "tests/unit/TempFolder.h"
#include "tests/unit/data/Tokens.h"

#include <cstring>
#include <functional>
#include <random>

using namespace recipe;
using namespace recipe::rt;

namespace {

template <typename T> void put(std::string &bytes, size_t offset, T value) {
  std::memcpy(&bytes[offset], &value, sizeof(value));
}

// A good file of five one-byte tokens below 9.
std::string goodFile(const test::TempFolder &folder) {
  test::writeTokens(folder.path("good.tok"), {3, 1, 4, 1, 5}, 9);
  return folder.read("good.tok");
}

// Gives the header a checksum that fits what was changed in it.
void reseal(std::string &bytes) {
  Sha256Digest hash = Sha256::of({reinterpret_cast<const uint8_t *>(bytes.data()), 128});
  std::memcpy(&bytes[128], hash.data(), hash.size());
}

TEST(TokenFile, LayoutIsTheDocumentedOne) {
  test::TempFolder folder;
  test::writeTokens(folder.path("t.tok"), {1, 0x1234, 2}, 0x2000, "sp");
  std::string bytes = folder.read("t.tok");
  ASSERT_EQ(bytes.size(), 192u + 3 * 2);
  EXPECT_EQ(bytes.substr(0, 8), "RCPTOKS\n");
  EXPECT_EQ(bytes.substr(8, 4), std::string("\1\0\0\0", 4));
  EXPECT_EQ(bytes.substr(12, 4), std::string("\2\0\0\0", 4));
  EXPECT_EQ(bytes.substr(16, 8), std::string("\0\x20\0\0\0\0\0\0", 8));
  EXPECT_EQ(bytes.substr(24, 8), std::string("\3\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(bytes.substr(32, 32), "sp" + std::string(30, '\0'));
  EXPECT_EQ(bytes.substr(160, 32), std::string(32, '\0'));
  EXPECT_EQ(bytes.substr(192), std::string("\1\0\x34\x12\2\0", 6));
}

TEST(TokenFile, ReadsBackEveryWidth) {
  struct {
    uint64_t vocabSize;
    uint32_t idBytes;
  } cases[] = {{1, 1}, {256, 1}, {257, 2}, {65536, 2}, {65537, 4}, {uint64_t(1) << 31, 4}};
  for (auto [vocabSize, idBytes] : cases) {
    test::TempFolder folder;
    std::vector<int32_t> ids = {0, static_cast<int32_t>(vocabSize - 1), static_cast<int32_t>(vocabSize / 2), 0};
    test::writeTokens(folder.path("t.tok"), ids, vocabSize);
    auto file = test::openTokens(folder.path("t.tok"));
    ASSERT_TRUE(file);
    EXPECT_EQ(file->header().idBytes, idBytes);
    EXPECT_EQ(file->vocabSize(), vocabSize);
    EXPECT_EQ(file->tokenCount(), 4u);
    EXPECT_EQ(file->header().tokenizer, "bytes");
    EXPECT_EQ(reinterpret_cast<uintptr_t>(file->payload().data()) % 64, 0u);
    std::vector<int32_t> read(4);
    ASSERT_TRUE(file->read(0, 4, read.data()).ok());
    EXPECT_EQ(read, ids);
    EXPECT_TRUE(file->verify().ok());
  }
}

TEST(TokenFile, RefusesBadFilesWithTheReason) {
  struct {
    const char *name;
    std::function<void(std::string &)> damage;
    std::vector<const char *> says;
  } cases[] = {
      {"no bytes", [](std::string &b) { b.clear(); }, {"not a token file"}},
      {"text",
       [](std::string &b) { b = "In the beginning God created the heaven and the earth."; },
       {"not a token file"}},
      {"magic cut short", [](std::string &b) { b.resize(7); }, {"not a token file"}},
      {"another magic", [](std::string &b) { b[7] = ' '; }, {"not a token file"}},
      {"newer version",
       [](std::string &b) {
         put(b, 8, uint32_t(2));
         reseal(b);
       },
       {"format 2 is newer", "reads format 1"}},
      {"newer and shorter",
       [](std::string &b) {
         put(b, 8, uint32_t(7));
         b.resize(100);
       },
       {"format 7 is newer", "format 1"}},
      {"version 0",
       [](std::string &b) {
         put(b, 8, uint32_t(0));
         reseal(b);
       },
       {"must be 1, got 0"}},
      {"header cut short", [](std::string &b) { b.resize(191); }, {"truncated", "192", "191"}},
      {"version cut short", [](std::string &b) { b.resize(10); }, {"truncated", "192", "10"}},
      {"tokens cut short", [](std::string &b) { b.resize(195); }, {"truncated", "5 tokens", "197 bytes", "195 bytes"}},
      {"no tokens left", [](std::string &b) { b.resize(192); }, {"truncated", "197 bytes", "192 bytes"}},
      {"bytes after the end", [](std::string &b) { b += "!"; }, {"bytes follow", "197 bytes", "198 bytes"}},
      {"id width 3",
       [](std::string &b) {
         put(b, 12, uint32_t(3));
         reseal(b);
       },
       {"id width must be 1, 2 or 4", "got 3"}},
      {"id width 0",
       [](std::string &b) {
         put(b, 12, uint32_t(0));
         reseal(b);
       },
       {"id width must be 1, 2 or 4", "got 0"}},
      {"wide vocabulary",
       [](std::string &b) {
         put(b, 16, uint64_t(257));
         reseal(b);
       },
       {"vocabulary must be 1..256", "got 257"}},
      {"no vocabulary",
       [](std::string &b) {
         put(b, 16, uint64_t(0));
         reseal(b);
       },
       {"vocabulary must be", "got 0"}},
      {"tokenizer without a name",
       [](std::string &b) {
         b.replace(32, 32, 32, '\0');
         reseal(b);
       },
       {"tokenizer's name must not be empty"}},
      {"bytes behind the tokenizer's name",
       [](std::string &b) {
         b[63] = 'x';
         reseal(b);
       },
       {"filled up with zero bytes", "\"bytes\""}},
      {"bytes with a definition",
       [](std::string &b) {
         b[95] = 1;
         reseal(b);
       },
       {"definition must be zero for \"bytes\", got 00", "01"}},
      {"no tokens",
       [](std::string &b) {
         put(b, 24, uint64_t(0));
         reseal(b);
         b.resize(192);
       },
       {"empty"}},
      {"count that overflows",
       [](std::string &b) {
         put(b, 24, UINT64_MAX);
         reseal(b);
       },
       {"token count must be at most", "18446744073709551615"}},
      {"count beyond the file",
       [](std::string &b) {
         put(b, 24, uint64_t(1) << 40);
         reseal(b);
       },
       {"truncated", "1099511627776"}},
      {"unsealed vocabulary", [](std::string &b) { put(b, 16, uint64_t(200)); }, {"header is damaged"}},
      {"reserved bytes", [](std::string &b) { b[170] = 1; }, {"header is damaged", "not zero"}},
  };
  for (const auto &bad : cases) {
    SCOPED_TRACE(bad.name);
    test::TempFolder folder;
    std::string bytes = goodFile(folder);
    bad.damage(bytes);
    absl::StatusOr<TokenFile> file = TokenFile::open(folder.write("bad.tok", bytes));
    ASSERT_FALSE(file.ok());
    std::string message(file.status().message());
    EXPECT_EQ(message.find(folder.path("bad.tok")), 0u) << message;
    for (const char *part : bad.says)
      EXPECT_NE(message.find(part), std::string::npos) << message << "\nmisses: " << part;
  }
}

TEST(TokenFile, RefusesWhatIsNoFile) {
  test::TempFolder folder;
  EXPECT_FALSE(TokenFile::open(folder.path("absent")).ok());
  EXPECT_FALSE(TokenFile::open(folder.path("")).ok());
}

TEST(TokenFile, NamesThePositionOfAnIdOutsideTheVocabulary) {
  test::TempFolder folder;
  std::string bytes = goodFile(folder);
  put(bytes, 16, uint64_t(5)); // the fifth token is 5
  reseal(bytes);
  absl::StatusOr<TokenFile> file = TokenFile::open(folder.write("bad.tok", bytes));
  ASSERT_TRUE(file.ok()) << file.status();
  std::vector<int32_t> out(5);
  EXPECT_TRUE(file->read(0, 4, out.data()).ok());
  for (const absl::Status &status : {file->read(2, 3, out.data()), file->verify()}) {
    std::string message(status.message());
    EXPECT_NE(message.find("token 4: the id must be below the vocabulary of 5, got 5"), std::string::npos) << message;
  }
}

TEST(TokenFile, RefusesToReadPastTheEnd) {
  test::TempFolder folder;
  goodFile(folder);
  auto file = test::openTokens(folder.path("good.tok"));
  std::vector<int32_t> out(8);
  EXPECT_TRUE(file->read(5, 0, out.data()).ok());
  EXPECT_FALSE(file->read(3, 3, out.data()).ok());
  EXPECT_FALSE(file->read(6, 0, out.data()).ok());
  EXPECT_FALSE(file->read(1, UINT64_MAX, out.data()).ok());
}

TEST(TokenFile, EveryFlippedBitIsFound) {
  test::TempFolder folder;
  const std::string good = goodFile(folder);
  for (size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::string bytes = good;
    bytes[bit / 8] ^= 1 << bit % 8;
    absl::StatusOr<TokenFile> file = TokenFile::open(folder.write("bad.tok", bytes));
    EXPECT_FALSE(file.ok() && file->verify().ok()) << "bit " << bit;
  }
}

// Whatever the bytes, the reader answers with a value or an error; sanitizer builds see a stray access.
TEST(TokenFile, SurvivesMutations) {
  test::TempFolder folder;
  const std::string good = goodFile(folder);
  std::mt19937_64 random(17);
  int opened = 0;
  for (int round = 0; round < 2500; ++round) {
    std::string bytes = good;
    for (uint64_t edits = 1 + random() % 4; edits > 0; --edits)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    if (random() % 4 == 0)
      bytes.resize(random() % (2 * good.size()));
    // Most mutants would fail at the checksum; seal half of them so that the later code is reached.
    if (bytes.size() >= 160 && random() % 2 == 0)
      reseal(bytes);
    absl::StatusOr<TokenFile> file = TokenFile::open(folder.write("bad.tok", bytes));
    if (!file.ok()) {
      EXPECT_FALSE(file.status().message().empty());
      continue;
    }
    ++opened;
    std::vector<int32_t> out(file->tokenCount());
    if (!file->read(0, out.size(), out.data()).ok())
      continue;
    for (int32_t id : out)
      EXPECT_LT(static_cast<uint32_t>(id), file->vocabSize());
  }
  EXPECT_GT(opened, 100);
}

TEST(TokenFileWriter, RefusesWhatItCannotStore) {
  test::TempFolder folder;
  EXPECT_FALSE(TokenFileWriter::create(folder.path("t"), "bytes", 0).ok());
  EXPECT_FALSE(TokenFileWriter::create(folder.path("t"), "bytes", (uint64_t(1) << 31) + 1).ok());
  EXPECT_FALSE(TokenFileWriter::create(folder.path("t"), std::string(33, 'x'), 9).ok());
  EXPECT_FALSE(TokenFileWriter::create(folder.path("t"), "", 9).ok());
  absl::StatusOr<TokenFileWriter> writer = TokenFileWriter::create(folder.path("t"), "bytes", 9);
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer->append({8, 0}).ok());
  EXPECT_EQ(writer->append({1, 9}).message(),
            folder.path("t") + ": token 3: the id must be below the vocabulary of 9, got 9");
  EXPECT_FALSE(writer->append({-1}).ok());
}

TEST(TokenFileWriter, LeavesNothingUnlessFinished) {
  test::TempFolder folder;
  {
    absl::StatusOr<TokenFileWriter> writer = TokenFileWriter::create(folder.path("t"), "bytes", 9);
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE(writer->append({1}).ok());
  }
  EXPECT_EQ(folder.fileCount(), 0u);
  {
    absl::StatusOr<TokenFileWriter> writer = TokenFileWriter::create(folder.path("t"), "bytes", 9);
    ASSERT_TRUE(writer.ok());
    EXPECT_FALSE(writer->finish().ok());
  }
  EXPECT_EQ(folder.fileCount(), 0u);
}

} // namespace
