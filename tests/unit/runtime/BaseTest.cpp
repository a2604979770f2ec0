#include "runtime/base/AtomicFile.h"
#include "runtime/base/EditDistance.h"
#include "runtime/base/File.h"
#include "runtime/base/Memory.h"
#include "runtime/base/Printable.h"
#include "runtime/base/Sha256.h"
#include "runtime/base/WakefulClock.h"
#include "tests/unit/TempFolder.h"
#include <gtest/gtest.h>
#include <vector>

namespace recipe::test {

TEST(File, WritesWholeOrNothing) {
  test::TempFolder folder;
  std::string path = folder.path("a");
  ASSERT_TRUE(rt::writeFileAtomically(path, "old", 3).ok());
  {
    absl::StatusOr<rt::AtomicFile> file = rt::AtomicFile::create(path);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->append("new", 3).ok());
  } // not committed
  EXPECT_EQ(*rt::readFile(path), "old");
  EXPECT_EQ(folder.fileCount(), 1u);
  ASSERT_TRUE(rt::writeFileAtomically(path, "new!", 4).ok());
  EXPECT_EQ(*rt::readFile(path), "new!");
}

TEST(File, ErrorsNameThePath) {
  test::TempFolder folder;
  EXPECT_NE(rt::readFile(folder.path("none")).status().message().find(folder.path("none")), absl::string_view::npos);
  EXPECT_FALSE(rt::readFile(folder.path("")).ok());
  EXPECT_FALSE(rt::writeFileAtomically(folder.path("no/such"), "x", 1).ok());
  ASSERT_TRUE(rt::makeFolders(folder.path("no/such")).ok());
  EXPECT_TRUE(rt::writeFileAtomically(folder.path("no/such/file"), "x", 1).ok());
  EXPECT_FALSE(rt::makeFolders(folder.path("no/such/file/x")).ok());
}

TEST(Printable, ControlCharactersAndStrayBytesAreEscaped) {
  struct {
    const char *text, *expected;
  } cases[] = {
      {"", ""},
      {"it's \"plain\" \\ text", "it's \"plain\" \\ text"},
      {"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x8d\xb0", "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x8d\xb0"}, // a umlaut, euro, cake
      {"\x1b[31mred\a\r\n\t\x7f", "\\x1b[31mred\\x07\\x0d\\x0a\\x09\\x7f"},
      {"\xc2\x9b"
       "31m",
       "\\xc2\\x9b"
       "31m"}, // CSI as one character
      {"\xc2\xa0", "\xc2\xa0"},
      {"\x9b"
       "31m",
       "\\x9b"
       "31m"},
      {"cut \xe2\x82", "cut \\xe2\\x82"},
      {"\xc0\x9b \xff", "\\xc0\\x9b \\xff"},
      {"\xe2"
       "ab",
       "\\xe2"
       "ab"},
  };
  for (auto [text, expected] : cases)
    EXPECT_EQ(rt::printable(text), expected);
  EXPECT_EQ(rt::printable(absl::string_view("a\0b", 3)), "a\\x00b");
}

TEST(Sha256, KnownDigest) {
  rt::Sha256 hash;
  hash.update("a", 1);
  hash.update("bc", 2);
  EXPECT_EQ(rt::toHex(hash.finish()), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(WakefulClock, AnAbsenceIsShort) {
  static int64_t time;
  time = 1'000;
  rt::WakefulClock clock(100, [] { return time; });
  EXPECT_EQ(clock.now(), 1);
  time += 99;
  EXPECT_EQ(clock.now(), 100);
  time += 60'000;
  EXPECT_EQ(clock.now(), 200);
  time += 1;
  EXPECT_EQ(clock.now(), 201);
}

TEST(EditDistance, CountsEdits) {
  EXPECT_EQ(rt::editDistance("", "abc"), 3u);
  EXPECT_EQ(rt::editDistance("kitten", "sitting"), 3u);
  EXPECT_EQ(rt::editDistance("lr", "rl"), 1u);
  EXPECT_EQ(rt::nearestName("optim.max_step", {"optim.lr", "optim.max_steps"}), "optim.max_steps");
  EXPECT_EQ(rt::nearestName("max_step", {"optim.lr", "optim.max_steps"}), "optim.max_steps");
  EXPECT_EQ(rt::nearestName("tokenizer", {"optim.lr", "optim.max_steps"}), "");
}

TEST(Memory, SeesWhatIsTouched) {
  rt::PeakMemory peak;
  uint64_t before = peak.sample();
  EXPECT_GT(before, 0u);
  {
    std::vector<char> block(64 << 20);
    for (size_t i = 0; i < block.size(); i += 4096)
      static_cast<volatile char &>(block[i]) = 1;
    peak.sample();
  }
  EXPECT_GE(peak.peakBytes(), before + (60 << 20));
  EXPECT_GT(rt::availableBytes(), peak.peakBytes());
}

} // namespace recipe::test
