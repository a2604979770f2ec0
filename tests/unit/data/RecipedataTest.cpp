// The program as a user meets it: results on stdout, diagnostics on stderr, exit code 0 or 1.
#include "absl/strings/str_split.h"
#include "tests/unit/ChildProcess.h"
#include "tests/unit/data/Tokens.h"

#include <algorithm>
#include <csignal>
#include <gtest/gtest.h>
#include <sys/resource.h>

using namespace recipe;

namespace {

struct RecipedataTest : testing::Test {
  // Runs recipedata in the test's folder; no word of the command line holds a space, '' is an empty one.
  void run(const std::string &arguments, const std::function<void()> &prepare = {}) {
    std::vector<std::string> words = absl::StrSplit(arguments, ' ', absl::SkipEmpty());
    std::replace(words.begin(), words.end(), std::string("''"), std::string());
    words.insert(words.begin(), RECIPEDATA_PATH);
    code = test::ChildProcess(folder, words, prepare).wait();
    out = folder.read("stdout");
    err = folder.read("stderr");
  }

  void expectError(const std::string &part) {
    EXPECT_EQ(code, 1);
    EXPECT_EQ(out, "");
    EXPECT_NE(err.find(part), std::string::npos) << err;
  }

  test::TempFolder folder;
  int code = -1;
  std::string out, err;
};

TEST_F(RecipedataTest, TokenizeInspectVerify) {
  folder.write("a.txt", "to be or ");
  folder.write("b.txt", "not to be");
  run("tokenize a.txt b.txt -o t.tok");
  EXPECT_EQ(code, 0) << err;
  EXPECT_EQ(out, "t.tok: 18 tokens, tokenizer bytes\n");
  run("inspect t.tok");
  EXPECT_EQ(code, 0) << err;
  EXPECT_NE(out.find("tokens          18\nvocabulary      256\nid width        1\ntokenizer       bytes\n"),
            std::string::npos)
      << out;
  run("verify t.tok");
  EXPECT_EQ(code, 0) << err;
  EXPECT_NE(out.find("t.tok: good, 18 tokens"), std::string::npos) << out;
  EXPECT_EQ(err, "");
}

TEST_F(RecipedataTest, VerifyFindsWhatInspectCannot) {
  folder.write("a.txt", "some text");
  run("tokenize a.txt -o t.tok");
  std::string bytes = folder.read("t.tok");
  bytes.back() ^= 4;
  folder.write("t.tok", bytes);
  run("inspect t.tok");
  EXPECT_EQ(code, 0);
  run("verify t.tok");
  expectError("recipedata: error: t.tok: the tokens are damaged");
}

TEST_F(RecipedataTest, ErrorsNameThePlaceAndLeaveNoFile) {
  run("tokenize absent.txt -o t.tok");
  expectError("recipedata: error: absent.txt: cannot be opened: No such file or directory");
  folder.write("a.txt", "x");
  run("tokenize a.txt -o absent/t.tok");
  expectError("absent/t.tok: cannot be created: No such file or directory");
  run("tokenize a.txt -o t.tok --tokenizer gpt2");
  expectError("\"gpt2\"");
  run("verify a.txt");
  expectError("a.txt: not a token file");
  EXPECT_FALSE(std::filesystem::exists(folder.path("t.tok")));
}

TEST_F(RecipedataTest, WrongUseIsAnError) {
  run("");
  expectError("subcommand");
  run("foo");
  expectError("unknown command 'foo': a command is required: tokenize, inspect, verify or baseline");
  run("--foo");
  expectError("unknown option '--foo'");
  run("''");
  expectError("unknown command ''");
  run("tokenise a.txt");
  EXPECT_EQ(code, 1);
  run("tokenize a.txt");
  expectError("--output is required");
  run("tokenize a.txt -o ''");
  expectError("recipedata: error: --output: must name a file, got \"\"\n");
  run("baseline t.tok --eval-fraction 0.1 --context 8");
  expectError("--context");
  run("--version");
  EXPECT_EQ(code, 0);
  EXPECT_EQ(out, "recipedata " RECIPEC_VERSION "\n");
}

TEST_F(RecipedataTest, AFileSizeLimitEndsInOneErrorAndLeavesNoFile) {
  folder.write("a.txt", std::string(100000, 'x'));
  run("tokenize a.txt -o t.tok", [] {
    rlimit limit = {50000, 50000};
    setrlimit(RLIMIT_FSIZE, &limit);
  });
  expectError("recipedata: error: t.tok: cannot be written: File too large\n");
  EXPECT_EQ(folder.fileCount(), 3u) << "a.txt, stdout, stderr";
}

TEST_F(RecipedataTest, ResultsThatCannotBePrintedAreAnError) {
  folder.write("a.txt", "x");
  run("tokenize a.txt -o t.tok");
  for (const char *arguments : {"inspect t.tok", "verify t.tok"}) {
    run(arguments, [] { test::ChildProcess::redirect(STDOUT_FILENO, "/dev/full"); });
    expectError("recipedata: error: standard output: cannot be written");
    run(arguments, [] { close(STDOUT_FILENO); });
    expectError("recipedata: error: standard output: cannot be written");
  }
  // Standard output, closed, must not become the token file.
  run("tokenize a.txt -o u.tok", [] { close(STDOUT_FILENO); });
  EXPECT_EQ(folder.read("u.tok"), folder.read("t.tok"));
}

// What a file says is printed, not obeyed by the terminal.
TEST_F(RecipedataTest, NamesFromAFileArePrintedWithoutControlCharacters) {
  test::writeTokens(folder.path("t.tok"), {1, 2, 3}, 256, "b\x1b[31m\n");
  run("inspect t.tok");
  EXPECT_EQ(code, 0) << err;
  EXPECT_NE(out.find("tokenizer       b\\x1b[31m\\x0a\n"), std::string::npos) << out;
  run("baseline t.tok --eval-fraction 0.5");
  expectError("got \"b\\x1b[31m\\x0a\"");
}

TEST_F(RecipedataTest, AStopLeavesNothing) {
  for (int signal : {SIGINT, SIGTERM}) {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    test::ChildProcess child(folder, {RECIPEDATA_PATH, "tokenize", "/dev/stdin", "-o", "t.tok"},
                             [&] { dup2(ends[0], STDIN_FILENO); });
    ASSERT_EQ(write(ends[1], "text", 4), 4);
    // stdout, stderr and the begun file.
    for (int round = 0; round < 1000 && folder.fileCount() < 3; ++round)
      usleep(10000);
    EXPECT_EQ(folder.fileCount(), 3u);
    kill(child.id(), signal);
    EXPECT_EQ(child.wait(), 128 + signal);
    close(ends[0]);
    close(ends[1]);
    EXPECT_EQ(folder.read("stderr"), "recipedata: stopped, as asked; nothing was written\n");
    EXPECT_EQ(folder.fileCount(), 2u);
  }
}

TEST_F(RecipedataTest, ADeviceIsNoText) {
  run("tokenize /dev/zero -o t.tok");
  expectError("recipedata: error: /dev/zero: must be a file or a pipe");
  EXPECT_EQ(folder.fileCount(), 2u);
}

TEST_F(RecipedataTest, Baseline) {
  std::string text;
  for (int i = 0; i < 1000; ++i)
    text += i % 2 ? "abac" : "abad";
  folder.write("a.txt", text);
  run("tokenize a.txt -o t.tok");
  run("baseline t.tok --eval-fraction 0.1 --context 3");
  EXPECT_EQ(code, 0) << err;
  EXPECT_NE(out.find("unigram                     1.2"), std::string::npos) << out;
  EXPECT_NE(out.find("counts of 3 bytes' context  0.1"), std::string::npos) << out;
  run("baseline t.tok --eval-fraction 1.5");
  expectError("eval_fraction must be at least 0 and below 1, got 1.5");
  run("baseline t.tok --eval-fraction 0");
  expectError("2 held out, found 4000 and 0");
}

} // namespace
