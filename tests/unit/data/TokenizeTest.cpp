#include "runtime/data/Tokenize.h"

#include "tests/unit/TempFolder.h"
#include "tests/unit/data/Tokens.h"

#include <sys/stat.h>
#include <unistd.h>

using namespace recipe;
using namespace recipe::rt;

namespace {

std::vector<int32_t> readAll(const std::string &path) {
  auto file = test::openTokens(path);
  std::vector<int32_t> ids(file->tokenCount());
  EXPECT_TRUE(file->read(0, ids.size(), ids.data()).ok());
  EXPECT_TRUE(file->verify().ok());
  EXPECT_EQ(file->vocabSize(), 256u);
  EXPECT_EQ(file->header().tokenizer, "bytes");
  return ids;
}

TEST(Tokenize, EachByteIsAToken) {
  test::TempFolder folder;
  std::string text;
  for (int byte = 0; byte < 256; ++byte)
    text.push_back(static_cast<char>(byte));
  absl::StatusOr<uint64_t> tokens = tokenizeFiles({folder.write("a.txt", text)}, folder.path("t.tok"));
  ASSERT_TRUE(tokens.ok()) << tokens.status();
  EXPECT_EQ(*tokens, 256u);
  EXPECT_EQ(readAll(folder.path("t.tok")), test::successors(256));
  EXPECT_EQ(folder.fileCount(), 2u);
}

TEST(Tokenize, JoinsInputsInTheOrderGiven) {
  test::TempFolder folder;
  std::string a = folder.write("a.txt", "xy"), b = folder.write("b.txt", ""), c = folder.write("c.txt", "z\n");
  ASSERT_TRUE(tokenizeFiles({c, b, a, c}, folder.path("t.tok")).ok());
  EXPECT_EQ(readAll(folder.path("t.tok")), (std::vector<int32_t>{'z', '\n', 'x', 'y', 'z', '\n'}));
}

TEST(Tokenize, ReadsMoreThanOneChunk) {
  test::TempFolder folder;
  std::string text(3'000'001, 'a');
  for (size_t i = 0; i < text.size(); ++i)
    text[i] = static_cast<char>(i * 2654435761u >> 24);
  ASSERT_TRUE(tokenizeFiles({folder.write("a.txt", text)}, folder.path("t.tok")).ok());
  EXPECT_EQ(folder.read("t.tok").substr(TokenHeaderBytes), text);
}

TEST(Tokenize, SameTextSameFile) {
  test::TempFolder folder;
  std::string all = folder.write("all.txt", "one two"), one = folder.write("1.txt", "one "),
              two = folder.write("2.txt", "two");
  ASSERT_TRUE(tokenizeFiles({all}, folder.path("a.tok")).ok());
  ASSERT_TRUE(tokenizeFiles({one, two}, folder.path("b.tok")).ok());
  EXPECT_EQ(folder.read("a.tok"), folder.read("b.tok"));
}

TEST(Tokenize, AFailureKeepsTheOldFileAndLeavesNothingElse) {
  test::TempFolder folder;
  std::string text = folder.write("a.txt", "text"), empty = folder.write("empty.txt", "");
  std::string output = folder.write("t.tok", "what was there before");
  EXPECT_FALSE(tokenizeFiles({text, folder.path("absent.txt")}, output).ok());
  EXPECT_FALSE(tokenizeFiles({empty}, output).ok());
  EXPECT_FALSE(tokenizeFiles({folder.path("")}, output).ok());
  EXPECT_EQ(folder.read("t.tok"), "what was there before");
  EXPECT_EQ(folder.fileCount(), 3u);
}

TEST(Tokenize, RefusesOtherTokenizersByName) {
  test::TempFolder folder;
  absl::StatusOr<uint64_t> tokens = tokenizeFiles({folder.write("a.txt", "x")}, folder.path("t.tok"), "gpt2");
  ASSERT_FALSE(tokens.ok());
  EXPECT_NE(tokens.status().message().find("\"gpt2\""), absl::string_view::npos) << tokens.status();
  EXPECT_EQ(folder.fileCount(), 1u);
}

TEST(Tokenize, DoesNotOverwriteAnInput) {
  test::TempFolder folder;
  std::string text = folder.write("a.txt", "x");
  ASSERT_EQ(::symlink(text.c_str(), folder.path("link").c_str()), 0);
  EXPECT_FALSE(tokenizeFiles({text}, text).ok());
  EXPECT_FALSE(tokenizeFiles({text}, folder.path("link")).ok());
  EXPECT_EQ(folder.read("a.txt"), "x");
}

// A rename onto /dev/stdout or a named pipe would destroy it.
TEST(Tokenize, FollowsLinksAndRefusesPipes) {
  test::TempFolder folder;
  std::string text = folder.write("a.txt", "x"), real = folder.write("real.tok", "");
  ASSERT_EQ(::symlink("real.tok", folder.path("link.tok").c_str()), 0);
  ASSERT_EQ(::symlink("nowhere", folder.path("dangling").c_str()), 0);
  ASSERT_EQ(::mkfifo(folder.path("pipe").c_str(), 0600), 0);
  ASSERT_TRUE(tokenizeFiles({text}, folder.path("link.tok")).ok());
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path("link.tok")));
  EXPECT_EQ(readAll(real), (std::vector<int32_t>{'x'}));
  EXPECT_FALSE(tokenizeFiles({text}, folder.path("pipe")).ok());
  EXPECT_FALSE(tokenizeFiles({text}, folder.path("dangling")).ok());
  EXPECT_TRUE(std::filesystem::is_fifo(folder.path("pipe")));
}

} // namespace
