// One rank is stuck or gone: elsewhere half an hour passes, and then a message that names nobody. RECIPEC_KILLS: how
// often each; 5 by default.
#include "tests/e2e/RunningRanks.h"
#include <csignal>
#include <gtest/gtest.h>
#include <random>
#include <regex>
#include <thread>

namespace recipe::test {

namespace {

int killCount() {
  const char *text = std::getenv("RECIPEC_KILLS");
  return text ? std::atoi(text) : 5;
}

struct Pitfall29 : testing::Test {
  Pitfall29() {
    space.must("recipec compile llama.recipe --set data.batch_size=4 --set optim.grad_accum_steps=4 -o step.bin");
  }

  /// The signal hits a random rank at a random time; what a user sees then.
  std::string hit(int signal, unsigned round) {
    std::mt19937 random(round * 100 + unsigned(signal));
    int nodes = random() % 2 ? 2 : 4, victim = int(random() % unsigned(nodes));
    bool training = random() % 4 != 0; // or while the ranks look for each other
    RunningRanks run(space,
                     "reciperun step.bin --threads 1 --timeout 3 --set optim.max_steps=10000000 "
                     "--set logging.log_interval=10000000 --nodes " +
                         std::to_string(nodes),
                     "run" + std::to_string(signal) + "-" + std::to_string(round));
    if (training) {
      EXPECT_TRUE(run.waitForOutput("tiny-llama: ")) << run.err();
    }
    pid_t process = run.rank(victim);
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 300));
    kill(process, signal);
    std::string what = "signal " + std::to_string(signal) + " to rank " + std::to_string(victim) + " of " +
                       std::to_string(nodes) + (training ? " in training" : " at the start") + "\n";
    // The limit, what mpirun takes to end, and patience with a busy machine.
    int code = run.wait(30);
    EXPECT_EQ(code, 1) << what << run.err();
    EXPECT_TRUE(run.nothingIsLeft()) << what;
    std::string err = run.err();
    const std::string error = "reciperun: error: ";
    EXPECT_EQ(err.find(error), 0u) << what << err;
    EXPECT_EQ(err.find('\n'), err.size() - 1) << what << "one message, got:\n" << err;
    // While MPI makes the ranks known to each other, its starter knows their processes.
    bool unknown = signal == SIGSTOP && err.find("the ranks did not all come") != std::string::npos;
    const std::string name = "rank " + std::to_string(victim);
    EXPECT_NE(
        err.find(unknown ? name + " (process " + std::to_string(process) + "): stopped by a signal" : name + " (host "),
        std::string::npos)
        << what << err;
    // A rank that passes another's words on does not put itself in front of them.
    EXPECT_FALSE(std::regex_search(err, std::regex("rank [0-9]+: rank [0-9]+: "))) << what << err;
    return err;
  }

  Workspace space;
};

} // namespace

TEST_F(Pitfall29, AStuckRankIsNamedWithWhatWaitsForIt) {
  for (int round = 0; round < killCount(); ++round) {
    std::string err = hit(SIGSTOP, unsigned(round));
    if (err.find("all-reduce of ") != std::string::npos) {
      EXPECT_NE(err.find("(op "), std::string::npos) << err;
      EXPECT_NE(err.find(", model at recipe:"), std::string::npos) << err;
      EXPECT_NE(err.find("no sign of life for "), std::string::npos) << err;
    }
  }
}

TEST_F(Pitfall29, ADeadRankEndsTheRunEverywhere) {
  for (int round = 0; round < killCount(); ++round) {
    std::string err = hit(SIGKILL, unsigned(round));
    EXPECT_NE(err.find("was ended by signal 9 (Killed)"), std::string::npos) << err;
  }
}

} // namespace recipe::test
