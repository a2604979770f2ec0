// Where recipec writes to: what cannot be written is one error line, said before the work where that is possible.
#include "tests/e2e/OneClearError.h"
#include <algorithm>
#include <gtest/gtest.h>

namespace recipe::test {

static const char *const printing[] = {
    "recipec --help",
    "recipec compile --help",
    "recipec --version",
    "recipec check gpt2.recipe",
    "recipec compile gpt2.recipe -o x.bin --timing --dump-dir ir",
    "recipec compile gpt2.recipe --stop-after import --timing",
    "recipec inspect step.bin --instructions",
    "recipec interpret step.bin --steps 3",
};

/// What is printed goes nowhere, and one line says so.
static void expectLostOutput(const Workspace &space, const std::string &redirection, const std::string &reason) {
  space.must("recipec compile gpt2.recipe -o step.bin");
  for (std::string command : printing) {
    Outcome outcome = space.run(command + redirection);
    EXPECT_EQ(outcome.code, 1) << command;
    EXPECT_EQ(outcome.err, "recipec: error: standard output cannot be written: " + reason + "\n") << command;
  }
}

TEST(OutputTest, AFullDeviceIsOneErrorLine) {
  Workspace space;
  expectLostOutput(space, " >/dev/full", "No space left on device");
  // stderr as well: nothing is left to say it with.
  EXPECT_EQ(space.run("recipec check gpt2.recipe >/dev/full 2>/dev/full").code, 1);
  EXPECT_EQ(space.run("recipec check missing.recipe 2>/dev/full").code, 1);
}

TEST(OutputTest, ADumpThatDoesNotFitIsOneErrorLine) {
  Workspace space;
  for (const char *name : {"ir/00-import.mlir", "ir/09-plan-arena.mlir"}) {
    space.must(std::string("mkdir ir; ln -s /dev/full ") + name);
    Outcome outcome = space.run("recipec compile gpt2.recipe -o x.bin --dump-dir ir");
    EXPECT_EQ(outcome.code, 1) << name;
    EXPECT_EQ(outcome.err, std::string("recipec: error: ") + name + ": No space left on device\n");
    EXPECT_EQ(space.listing().count(space.files().path("x.bin")), 0u);
    space.must("rm -r ir");
  }
}

TEST(OutputTest, AClosedPipeEndsQuietly) {
  Workspace space;
  space.must("recipec compile gpt2.recipe -o step.bin");
  for (std::string command : printing)
    // Whether or not the parent lets SIGPIPE through.
    for (const char *trap : {"", "trap '' PIPE; "}) {
      Outcome outcome = space.run(trap + command + " | true");
      EXPECT_EQ(outcome.err, "") << trap << command;
    }
  Outcome head = space.run("recipec check gpt2.recipe | head -n 1");
  EXPECT_EQ(head.out, "# global batch: 16 samples\n");
  EXPECT_EQ(head.err, "");
}

TEST(OutputTest, AClosedStandardOutputTakesNoFile) {
  Workspace space;
  expectLostOutput(space, " >&-", "Bad file descriptor");
  space.must("recipec inspect x.bin");
  space.must("recipec compile gpt2.recipe --stop-after import >&-"); // has nothing to print
}

TEST(OutputTest, AFileSizeLimitIsAnError) {
  Workspace space;
  space.must("recipec compile gpt2.recipe -o step.bin");
  auto before = space.listing();
  size_t blocks = space.files().read("step.bin").size() / 512; // one too few
  Outcome outcome = space.run("(ulimit -f " + std::to_string(blocks) + "; recipec compile gpt2.recipe -o x.bin)");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.err, "recipec: error: x.bin: cannot be written: File too large\n");
  // The linker's files do not fit either.
  outcome = space.run("(ulimit -f 8; recipec compile gpt2.recipe -o x.bin)");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.err.find("recipec: error: '"), 0u) << outcome.err;
  EXPECT_NE(outcome.err.find(".o': File too large\n"), std::string::npos) << outcome.err;
  EXPECT_EQ(space.listing(), before);
}

TEST(OutputTest, ADumpThatDoesNotFitLeavesNoPartOfIt) {
  Workspace space;
  auto before = space.listing();
  for (const char *prepare : {"mkdir ir", "mkdir ir far; ln -s ../far/x ir/00-import.mlir"}) {
    space.must(prepare);
    Outcome outcome = space.run("(ulimit -f 8; recipec compile gpt2.recipe --stop-after import --dump-dir ir)");
    EXPECT_EQ(outcome.code, 1);
    EXPECT_EQ(outcome.err, "recipec: error: ir/00-import.mlir: File too large\n");
    space.must("test ! -e ir/00-import.mlir && rm -rf ir far");
    EXPECT_EQ(space.listing(), before);
  }
}

TEST(OutputTest, WhatCannotBeWrittenIsRefusedBeforeTheWork) {
  Workspace space;
  space.must("recipec compile gpt2.recipe -o step.bin");
  space.must("mkdir folder");
  struct Case {
    const char *command, *message;
  };
  const Case cases[] = {
      {"recipec compile gpt2.recipe -o no/such/x.bin --dump-dir ir",
       "no/such/x.bin: cannot be created: No such file or directory"},
      {"recipec compile gpt2.recipe -o folder --dump-dir ir", "folder: exists and is not a regular file"},
      {"recipec compile gpt2.recipe -o text.txt/x.bin --dump-dir ir",
       "text.txt/x.bin: cannot be created: Not a directory"},
      {"recipec compile gpt2.recipe -o x.bin --dump-dir text.txt",
       "text.txt: the folder cannot be created: Not a directory"},
      {"recipec compile gpt2.recipe --stop-after import --dump-dir text.txt/ir",
       "text.txt/ir: the folder cannot be created: Not a directory"},
      {"recipec interpret step.bin --dump text.txt", "text.txt: the folder cannot be created: Not a directory"},
      // The default name is the recipe's own.
      {"cp gpt2.recipe here.bin; recipec compile here.bin; code=$?; rm here.bin; exit $code",
       "the output must not be the recipe, got 'here.bin' for both"},
  };
  for (const Case &test : cases)
    expectOneClearError(space, test.command, std::string("recipec: error: ") + test.message + "\n");
}

// A recipe that is refused leaves no folder for its dumps, and no file.
TEST(OutputTest, ABadRecipeMakesNothing) {
  Workspace space;
  auto before = space.listing();
  EXPECT_EQ(space.run("recipec compile gpt2.recipe -o x.bin --dump-dir ir --set optim.lr=0").code, 1);
  EXPECT_EQ(space.listing(), before);
}

} // namespace recipe::test
