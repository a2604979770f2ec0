#include "runtime/abi/Container.h"
#include "tests/abi/HandWrittenStep.h"
#include <gtest/gtest.h>

namespace recipe::test {

static std::string refusal(const std::string &bytes) {
  abi::Step step;
  std::string error;
  return abi::parseStep(bytes.data(), bytes.size(), step, error) ? "" : error;
}

static bool contains(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

TEST(Container, RoundTripAndSameBytes) {
  abi::Step step = makeLineStep(), again;
  std::string bytes = bytesOf(step), error;
  ASSERT_TRUE(abi::parseStep(bytes.data(), bytes.size(), again, error)) << error;
  EXPECT_EQ(step.SerializeAsString(), again.SerializeAsString());
  EXPECT_EQ(bytes, bytesOf(again));
  EXPECT_EQ(bytes, container(step.SerializeAsString()));
}

TEST(Container, EveryTruncationIsRefused) {
  std::string bytes = bytesOf(makeLineStep());
  EXPECT_TRUE(contains(refusal(""), "not a step.bin"));
  for (size_t length = 1; length < bytes.size(); length += length < 300 || length + 300 > bytes.size() ? 1 : 97)
    EXPECT_TRUE(contains(refusal(bytes.substr(0, length)), "truncated")) << length;
}

TEST(Container, EveryFlippedByteIsRefused) {
  std::string bytes = bytesOf(makeLineStep());
  for (size_t i = 0; i < bytes.size(); i += i < 300 || i + 300 > bytes.size() ? 1 : 61) {
    std::string bad = bytes;
    bad[i] = char(bad[i] ^ 0x10);
    const char *expected = i < 8    ? "not a step.bin"
                           : i < 12 ? "format version"
                           : i < 16 ? "must be zero"
                           : i < 24 ? ""
                                    : "checksum mismatch";
    std::string error = refusal(bad);
    EXPECT_FALSE(error.empty()) << i;
    EXPECT_TRUE(contains(error, expected)) << i << ": " << error;
  }
}

TEST(Container, RefusalsNameWhatWasFound) {
  std::string payload = makeLineStep().SerializeAsString();
  struct Case {
    const char *what;
    std::string bytes;
    std::vector<const char *> parts;
  } cases[] = {
      {"other file",
       "\x7f"
       "ELF and more",
       {"not a step.bin"}},
      {"newer", container(payload, 7), {"must be 2, got 7", "newer recipec"}},
      {"older", container(payload, 0), {"must be 2, got 0", "compile again"}},
      {"after the end", bytesOf(makeLineStep()) + "x", {"bytes after the end"}},
      {"no message", container("\xff\xff\xff\xff"), {"not a Step message"}},
      {"bad UTF-8", container(std::string("\x0a\x03\x0a\x01\xff", 5)), {"not a Step message"}},
  };
  for (const Case &c : cases)
    for (const char *part : c.parts)
      EXPECT_TRUE(contains(refusal(c.bytes), part)) << c.what << ": " << refusal(c.bytes);
}

} // namespace recipe::test
