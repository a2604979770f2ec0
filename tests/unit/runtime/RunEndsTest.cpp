// How a run ends when it is told to, and when what it writes to fails: no training that was paid for gets lost.
#include "tests/unit/runtime/Reciperun.h"
#include <cmath>
#include <csignal>
#include <sys/resource.h>

namespace recipe::test {

namespace {

struct RunEndsTest : ReciperunTest {
  void expectStopped(int signal) {
    EXPECT_EQ(code, 128 + signal) << err;
    EXPECT_EQ(err.find("reciperun: stopped after step "), 0u) << err;
    EXPECT_TRUE(std::isfinite(weights()[0]));
    EXPECT_FALSE(exists("output/reciperun.lock"));
  }

  /// All ten updates are on disk, and one line says what is missing.
  void expectCompleteWithoutLog() {
    EXPECT_EQ(code, 1);
    EXPECT_EQ(err, "reciperun: error: standard output: cannot be written, log lines are missing; metrics and weights "
                   "are complete\n");
    std::vector<nlohmann::json> records = metrics();
    ASSERT_EQ(records.size(), 10u);
    EXPECT_EQ(records.back()["step"], 10);
    EXPECT_TRUE(std::isfinite(weights()[0]));
  }
};

} // namespace

TEST_F(RunEndsTest, ASignalLetsTheStepEndAndWritesTheWeights) {
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    std::unique_ptr<ChildProcess> child = start("--overwrite");
    kill(child->id(), signal);
    finish(*child);
    expectStopped(signal);
    std::filesystem::remove_all(folder.path("output"));
  }
}

// A terminal that goes away sends SIGHUP, and its shell sends it again.
TEST_F(RunEndsTest, ASecondHangUpDoesNotKill) {
  std::unique_ptr<ChildProcess> child = start();
  for (int i = 0; i < 5; ++i) {
    kill(child->id(), SIGHUP);
    usleep(20);
  }
  finish(*child);
  expectStopped(SIGHUP);
}

TEST_F(RunEndsTest, ASecondStopOfAnyKindKills) {
  for (auto [one, other] : {std::pair(SIGTERM, SIGINT), std::pair(SIGINT, SIGTERM)}) {
    std::unique_ptr<ChildProcess> child = start("--overwrite");
    // Both arrive at once: the first has no time to end the run.
    kill(child->id(), SIGSTOP);
    kill(child->id(), one);
    kill(child->id(), other);
    kill(child->id(), SIGCONT);
    finish(*child);
    EXPECT_TRUE(code == -one || code == -other) << code << " " << err;
  }
}

TEST_F(RunEndsTest, UnderNohupARunOutlivesTheTerminal) {
  std::unique_ptr<ChildProcess> child = start("", [] { std::signal(SIGHUP, SIG_IGN); });
  kill(child->id(), SIGHUP);
  size_t before = folder.read("output/metrics.jsonl").size();
  for (int i = 0; i < 1000 && folder.read("output/metrics.jsonl").size() < before + 1000; ++i)
    usleep(10000);
  EXPECT_GE(folder.read("output/metrics.jsonl").size(), before + 1000) << "it goes on";
  kill(child->id(), SIGTERM);
  finish(*child);
  expectStopped(SIGTERM);
}

TEST_F(RunEndsTest, TrainingGoesOnWhenNobodyReadsItsOutput) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  close(ends[0]);
  run("step.bin --set data.path=t.tok", [&] { dup2(ends[1], STDOUT_FILENO); });
  close(ends[1]);
  expectCompleteWithoutLog();
}

TEST_F(RunEndsTest, TrainingGoesOnWhenItsOutputIsFull) {
  run("step.bin --set data.path=t.tok", [] { ChildProcess::redirect(STDOUT_FILENO, "/dev/full"); });
  expectCompleteWithoutLog();
}

// A file opened while standard output is closed would take its number and, with it, the log lines.
TEST_F(RunEndsTest, ClosedStandardStreamsAreNoFiles) {
  run("step.bin --set data.path=t.tok", [] { close(STDOUT_FILENO); });
  expectCompleteWithoutLog();
  run("step.bin --set data.path=t.tok --overwrite --profile", [] {
    close(STDIN_FILENO);
    close(STDERR_FILENO);
  });
  EXPECT_EQ(code, 0) << "diagnostics nobody wants to see are no results";
  EXPECT_EQ(metrics().size(), 10u);
}

TEST_F(RunEndsTest, TheManifestIsAResult) {
  run("step.bin --print-manifest", [] { ChildProcess::redirect(STDOUT_FILENO, "/dev/full"); });
  EXPECT_EQ(code, 1);
  EXPECT_EQ(err, "reciperun: error: standard output: cannot be written, lines are missing\n");
}

// As a full disk would: metrics end with a whole line, the run ends with its weights.
TEST_F(RunEndsTest, AFileSizeLimitEndsTheRunInOneError) {
  run("step.bin --set data.path=t.tok --set optim.max_steps=1000 --set optim.lr=1e-4", [] {
    rlimit limit = {50000, 50000}; // enough for the code, which lies in a file in memory
    setrlimit(RLIMIT_FSIZE, &limit);
  });
  EXPECT_EQ(code, 1);
  std::vector<nlohmann::json> records = metrics();
  ASSERT_GE(records.size(), 100u);
  ASSERT_LT(records.size(), 400u);
  std::string text = folder.read("output/metrics.jsonl");
  EXPECT_EQ(text.back(), '\n');
  EXPECT_EQ(err,
            "reciperun: error: output/metrics.jsonl: cannot be written: File too large; the run ended after step " +
                std::to_string(records.size() + 1) + " of 1000, whose weights are written\n");
  EXPECT_TRUE(std::isfinite(weights()[0]));
}

} // namespace recipe::test
