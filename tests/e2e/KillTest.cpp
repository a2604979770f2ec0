// Kills and full disks at every point of a save, and kills at any time. RECIPEC_KILLS: how many of each; 10 by default.
#include "tests/e2e/CheckpointRun.h"
#include "tests/unit/ChildProcess.h"
#include <algorithm>
#include <csignal>
#include <gtest/gtest.h>
#include <random>

namespace recipe::test {

namespace {

/// Sanitizers want to come first otherwise.
const std::string preload = "ASAN_OPTIONS=$ASAN_OPTIONS:verify_asan_link_order=0 LD_PRELOAD=" FILE_FAULTS_PATH;

int killCount() {
  const char *text = std::getenv("RECIPEC_KILLS");
  return text ? std::max(1, std::atoi(text)) : 10;
}

struct KillTest : testing::Test {
  /// The command with a fault at call `number`.
  std::string faulty(const std::string &fault, long number, const std::string &options) const {
    return preload + " FAULT_" + fault + "=" + std::to_string(number) + " " + run.command(options);
  }
  /// How many calls of an uninterrupted run change the file system.
  long countCalls(const std::string &options) {
    run.space.must(preload + " FAULT_COUNT_TO=calls " + run.command("--output-dir counted " + options));
    return std::atol(run.space.files().read("calls").c_str());
  }
  /// Points of a run to try, spread evenly over all of them.
  std::vector<long> points(long calls) const {
    std::vector<long> result;
    long wanted = std::min<long>(calls, 4l * killCount());
    for (long i = 0; i < wanted; ++i)
      result.push_back(1 + i * calls / wanted);
    return result;
  }
  /// What a user does after a crash. The newest checkpoint, if any, must be good whatever happened.
  void goOn(const std::string &dir, const std::string &options) {
    bool any = !run.checkpoints(dir).empty();
    if (any)
      run.space.must("recipeckpt verify " + dir);
    run.space.must(run.command("--output-dir " + dir + " " + options + (any ? " --resume" : " --overwrite")));
    run.expectSameEnd(dir);
  }
  size_t entriesOf(const std::string &dir) {
    std::filesystem::directory_iterator begin(run.space.files().path(dir)), end;
    return size_t(std::distance(begin, end));
  }

  CheckpointRun run{6};
  const std::string saving = "--set logging.ckpt_interval=2 --set logging.keep_last=1";
};

} // namespace

TEST_F(KillTest, AtEveryPointOfASave) {
  run.runWhole(saving);
  long calls = countCalls(saving);
  ASSERT_GT(calls, 30);
  int withCheckpoint = 0;
  for (long number : points(calls)) {
    std::string dir = "killed-" + std::to_string(number);
    Outcome outcome = run.space.run(faulty("KILL_AT", number, "--output-dir " + dir + " " + saving));
    ASSERT_EQ(outcome.code, 128 + SIGKILL) << "call " << number << " of " << calls;
    bool any = !run.checkpoints(dir).empty();
    EXPECT_TRUE(any || withCheckpoint == 0)
        << "call " << number << ": the old checkpoint is gone, the new one not there";
    withCheckpoint += any;
    goOn(dir, saving);
    EXPECT_EQ(entriesOf(dir + "/checkpoints"), 1u) << "call " << number << ": something is left over";
    if (HasFailure())
      break;
  }
  EXPECT_GT(withCheckpoint, 3);
}

TEST_F(KillTest, ASlowDiskHoldsUpdatesBackAndNothingElse) {
  run.runWhole("--set logging.ckpt_interval=2");
  run.space.must(preload + " FAULT_DELAY_MS=100 " + run.command("--output-dir slow --set logging.ckpt_interval=2"));
  for (int64_t step : {2, 4, 6})
    run.expectSameCheckpoint(run.checkpoint("slow", step), run.checkpoint("whole", step));
  run.expectSameEnd("slow");
}

// Rank 0 writes for longer than the others wait for a rank that is lost.
TEST_F(KillTest, ASlowDiskEndsNoRunOnSeveralNodes) {
  run.updates = 2;
  run.space.must("recipec compile gpt2.recipe --set data.batch_size=8 --set optim.grad_accum_steps=2 -o small.bin");
  const std::string often = "--set logging.ckpt_interval=1 --threads 1";
  run.space.must(run.command("--output-dir whole " + often, "small.bin"));
  run.space.must(preload + " FAULT_DELAY_MS=1500 " +
                 run.command("--output-dir slow --nodes 2 --timeout 2 " + often, "small.bin"));
  run.expectSameEnd("slow");
}

TEST_F(KillTest, AFullDiskAtEveryPointOfASave) {
  run.runWhole(saving);
  long calls = countCalls(saving);
  int failures = 0, onlyWeights = 0;
  for (long number : points(calls)) {
    std::string dir = "full-" + std::to_string(number);
    Outcome outcome = run.space.run(faulty("FULL_AT", number, "--output-dir " + dir + " " + saving));
    if (outcome.code != 0) {
      ++failures;
      EXPECT_EQ(outcome.code, 1);
      EXPECT_NE(outcome.err.find(": cannot be written: No space left on device"), std::string::npos) << outcome.err;
      // What is left to do, where only the weights are missing.
      bool saved = !run.checkpoints(dir).empty() && run.checkpoints(dir).back() == run.updates;
      EXPECT_EQ(outcome.err.find("; the checkpoint of step " + std::to_string(run.updates) +
                                 " is complete, --resume") != std::string::npos,
                saved)
          << outcome.err;
      onlyWeights += saved;
    }
    goOn(dir, saving);
    if (HasFailure())
      break;
  }
  EXPECT_GT(failures, int(points(calls).size()) / 2);
  EXPECT_GT(onlyWeights, 0);
}

TEST_F(KillTest, AtAnyTime) {
  run.updates = 600;
  const std::string often = "--set logging.ckpt_interval=3 --set logging.keep_last=2 --set logging.log_interval=1";
  double begin = double(std::chrono::steady_clock::now().time_since_epoch().count());
  run.runWhole(often);
  double whole = (double(std::chrono::steady_clock::now().time_since_epoch().count()) - begin) * 1e-3; // us
  std::mt19937 random(7);
  int hits = 0;
  for (int i = 0; i < killCount(); ++i) {
    bool any = !run.checkpoints("run").empty();
    TempFolder streams;
    ChildProcess child(streams, run.words("--output-dir " + run.space.files().path("run") + " " + often +
                                          (any ? " --resume" : " --overwrite")));
    usleep(unsigned(std::uniform_real_distribution<>(0, whole * 1.5 / killCount())(random)));
    kill(child.id(), SIGKILL);
    hits += child.wait() == -SIGKILL;
    if (!run.checkpoints("run").empty())
      run.space.must("recipeckpt verify run");
  }
  EXPECT_GE(hits, killCount() / 2);
  goOn("run", often);
}

// The first rank writes; its process holds the folder's lock. Each run goes on with another number of nodes.
TEST_F(KillTest, OnAnyNumberOfNodes) {
  run.updates = 150;
  run.space.must("recipec compile gpt2.recipe --set data.batch_size=2 --set optim.grad_accum_steps=8 -o small.bin");
  const std::string often = "--set logging.ckpt_interval=3 --set logging.keep_last=2 --threads 1 --timeout 10";
  run.space.must(run.command("--output-dir whole " + often, "small.bin"));
  const std::string dir = run.space.files().path("run");
  std::mt19937 random(11);
  int hits = 0;
  for (int i = 0; i < std::max(3, killCount() / 3); ++i) {
    TempFolder streams;
    std::string nodes = std::to_string(1 << (i + 1) % 3);
    // A run that is over holds the lock for a moment only.
    if (!run.checkpoints("run").empty() && run.checkpoints("run").back() == run.updates)
      std::filesystem::remove_all(dir);
    std::filesystem::remove(dir + "/reciperun.lock"); // names the process killed before
    ChildProcess child(streams, run.words("--output-dir " + dir + " --nodes " + nodes + " " + often +
                                              (run.checkpoints("run").empty() ? " --overwrite" : " --resume"),
                                          "small.bin"));
    int rank0 = 0;
    for (int wait = 0; wait < 3000 && rank0 == 0; ++wait, usleep(10000))
      rank0 = std::atoi(run.space.files().read("run/reciperun.lock").c_str());
    ASSERT_GT(rank0, 0) << streams.read("stderr");
    usleep(unsigned(std::uniform_real_distribution<>(0, 4e5)(random)));
    kill(rank0, SIGKILL);
    hits += child.wait() != 0;
    if (!run.checkpoints("run").empty())
      run.space.must("recipeckpt verify run");
  }
  EXPECT_GT(hits, 0);
  run.space.must(run.command("--output-dir run --nodes 2 " + often +
                                 (run.checkpoints("run").empty() ? " --overwrite" : " --resume"),
                             "small.bin"));
  run.expectSameEnd("run");
}

} // namespace recipe::test
