// Ranks as processes, joined by MPI: the same bytes on every number of them, stops, restarts, refusals.
#include "absl/strings/match.h"
#include "tests/e2e/RunningRanks.h"
#include <csignal>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <thread>

namespace recipe::test {

namespace {

struct ProcessesTest : testing::Test {
  /// GPT-2 with dropout; 4 micro-batches of 4 samples on one rank, so 1, 2 and 4 ranks are possible.
  ProcessesTest() {
    space.must("recipec compile gpt2.recipe --set data.batch_size=4 --set optim.grad_accum_steps=4 -o step.bin");
  }
  std::string train(const std::string &options, const std::string &dir) {
    return "reciperun step.bin " + options + " --output-dir " + dir;
  }
  std::string weights(const std::string &dir) { return space.files().read(dir + "/model.safetensors"); }
  /// Everything of a run that must not depend on how it was run.
  std::map<std::string, std::string> results(const std::string &dir, int step) {
    std::map<std::string, std::string> all;
    all["weights"] = weights(dir);
    std::string checkpoint = dir + "/checkpoints/step-0000000" + std::to_string(step) + "/";
    for (const char *name : {"model.safetensors", "optimizer.safetensors"})
      all[name] = space.files().read(checkpoint + name);
    nlohmann::json manifest = nlohmann::json::parse(space.files().read(checkpoint + "manifest.json"));
    EXPECT_TRUE(manifest.contains("provenance"));
    manifest.erase("provenance");
    all["manifest"] = manifest.dump();
    for (const nlohmann::json &record : space.steps(dir))
      all["updates"] += record["loss"].dump() + " " + record["grad_norm"].dump() + "\n";
    for (const auto &[name, value] : all)
      EXPECT_FALSE(value.empty()) << dir << " " << name;
    return all;
  }

  Workspace space;
};

/// Until the process has a handler for SIGTERM; for at most 10 s.
void waitUntilItListens(pid_t process) {
  for (int round = 0; round < 10000; ++round) {
    std::ifstream status("/proc/" + std::to_string(process) + "/status");
    for (std::string line; std::getline(status, line);)
      if (line.rfind("SigCgt:", 0) == 0 && (std::stoull(line.substr(7), nullptr, 16) >> (SIGTERM - 1) & 1))
        return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

std::string firstLine(const std::string &text) { return text.substr(0, text.find('\n')); }

} // namespace

TEST_F(ProcessesTest, EqualBytesOnEveryNumberOfRanksAndThreads) {
  space.must(train("--threads 1", "one"));
  auto expected = results("one", kUpdates);
  ASSERT_GT(expected["weights"].size(), 50000u);
  for (int nodes : {1, 2, 4})
    for (int threads : {1, 2}) {
      std::string dir = std::to_string(nodes) + "x" + std::to_string(threads);
      space.must(train("--nodes " + std::to_string(nodes) + " --threads " + std::to_string(threads), dir));
      EXPECT_TRUE(results(dir, kUpdates) == expected) << dir;
    }
  space.must(train("--nodes 2 --set experiment.seed=1", "other"));
  EXPECT_FALSE(weights("other") == expected["weights"]);
}

TEST_F(ProcessesTest, TheLogTellsOfTheNodesAndOfTheirWaiting) {
  Outcome outcome = space.must(train("--nodes 2 --threads 1", "run"));
  EXPECT_NE(firstLine(outcome.out).find(", 2 nodes x 1 thread, "), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("  comm_wait_ms "), std::string::npos) << outcome.out;
  // Once, although two ranks train.
  EXPECT_EQ(outcome.out.find("step 4/4"), outcome.out.rfind("step 4/4"));
  ASSERT_EQ(space.steps("run").size(), size_t(kUpdates));
  EXPECT_GE(space.steps("run")[0]["comm_wait_ms"].get<double>(), 0);
  EXPECT_EQ(space.must(train("", "alone")).out.find("comm_wait_ms"), std::string::npos);
}

TEST_F(ProcessesTest, WhoeverStartsMpirunMaySo) {
  space.must(train("", "one"));
  std::string mpirun = "mpirun --allow-run-as-root --oversubscribe -n ";
  space.must(mpirun + "2 " + train("", "two"));
  EXPECT_TRUE(weights("two") == weights("one"));
  space.must(mpirun + "1 " + train("", "again"));
  EXPECT_TRUE(weights("again") == weights("one"));
  Outcome outcome = space.run(mpirun + "2 " + train("--nodes 4", "four"));
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.err.find("reciperun: error: --nodes must be the number of ranks that mpirun started, got 4 and 2"),
            std::string::npos)
      << outcome.err;
}

TEST_F(ProcessesTest, WhatAllRanksRefuseIsSaidOnce) {
  auto before = space.listing();
  Outcome outcome = space.run(train("--nodes 3", "run"));
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.err,
            "reciperun: error: step.bin: --nodes must be one of the numbers of ranks that the step was compiled for, "
            "got 3 and 1, 2, 4\n");
  outcome = space.run(train("--nodes 2 --set data.path=missing.tok", "run"));
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(firstLine(outcome.err) + "\n", outcome.err);
  EXPECT_NE(outcome.err.find("missing.tok"), std::string::npos) << outcome.err;
  outcome = space.run(train("--nodes 2 --hostfile none", "run"));
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.err, "reciperun: error: --hostfile: none: No such file or directory\n");
  EXPECT_EQ(space.listing(), before);
}

// Each rank has its own command line, files and folder; replicas that differ would train on without a word.
TEST_F(ProcessesTest, RanksThatWouldTrainDifferentThingsAreRefused) {
  for (int rank : {0, 1}) {
    std::string dir = "rank" + std::to_string(rank);
    space.must("mkdir " + dir + "; cp step.bin text.tok " + dir);
    // Under one name, other bytes: a checkpoint, initial weights.
    std::string seed = " --set experiment.seed=" + std::to_string(rank);
    space.must(train("--steps 2" + seed, dir + "/source"));
    space.must("mkdir " + dir + "/hf; cp " + dir + "/source/model.safetensors " + dir + "/hf");
  }
  space.must("tr a-y b-z < text.txt > other.txt; recipedata tokenize other.txt -o other.tok");
  space.must("recipec compile gpt2.recipe --set data.batch_size=4 --set optim.grad_accum_steps=4 --set optim.eps=1e-6 "
             "-o other.bin");
  space.must("cp other.tok other.bin rank1");
  auto both = [&](const std::string &first, const std::string &second) {
    auto context = [](int rank, const std::string &arguments) {
      return "-n 1 --wdir rank" + std::to_string(rank) + " reciperun " + arguments + " --output-dir run";
    };
    return space.run("mpirun --allow-run-as-root --oversubscribe " + context(0, first) + " : " + context(1, second));
  };
  struct Case {
    std::string first, second, message;
  };
  const Case cases[] = {
      {"step.bin --set optim.lr=1e-3", "step.bin --set optim.lr=1e-2",
       "rank 1: 'optim.lr' must be the same on all ranks, got 0.01 and 0.001 on rank 0"},
      {"step.bin", "step.bin --set experiment.seed=7",
       "rank 1: 'experiment.seed' must be the same on all ranks, got 7 and 0 on rank 0"},
      {"step.bin", "step.bin --set logging.ckpt_interval=2",
       "rank 1: 'logging.ckpt_interval' must be the same on all ranks, got 2 and 0 on rank 0"},
      {"step.bin --set data.eval_path=text.tok --set logging.eval_interval=2",
       "step.bin --set data.eval_path=text.tok --set logging.eval_interval=3",
       "rank 1: 'logging.eval_interval' must be the same on all ranks, got 3 and 2 on rank 0"},
      {"step.bin", "step.bin --steps 2", "rank 1: --steps must be the same on all ranks, got 2 and 4 on rank 0"},
      {"step.bin", "other.bin", "rank 1: the step must be the same on all ranks, got SHA-256 "},
      {"step.bin", "step.bin --set data.path=other.tok",
       "rank 1: the data of 'data.path' must be the same on all ranks, got SHA-256 "},
      {"step.bin --set data.eval_path=text.tok", "step.bin --set data.eval_path=other.tok",
       "rank 1: the data of 'data.eval_path' must be the same on all ranks, got SHA-256 "},
      {"step.bin", "step.bin --resume source",
       "rank 1: whether --resume is given must be the same on all ranks, got yes and no on rank 0"},
      {"step.bin", "step.bin --set model.init_from=hf",
       "rank 1: whether 'model.init_from' is set must be the same on all ranks, got yes and no on rank 0"},
      {"step.bin --set model.init_from=hf", "step.bin --set model.init_from=hf",
       "rank 1: the weights of 'model.init_from' must be the same on all ranks, got SHA-256 "},
      {"step.bin --resume source", "step.bin --resume source",
       "rank 1: the checkpoint to resume from must be the same on all ranks, got step 2, SHA-256 "},
  };
  for (const Case &one : cases) {
    Outcome outcome = both(one.first, one.second);
    EXPECT_EQ(outcome.code, 1) << one.second;
    std::string line = "reciperun: error: " + one.message;
    EXPECT_NE(outcome.err.find(line), std::string::npos) << one.second << "\n" << outcome.err;
    EXPECT_EQ(outcome.err.find("reciperun: error: "), outcome.err.rfind("reciperun: error: ")) << outcome.err;
    EXPECT_FALSE(std::filesystem::exists(space.files().path("rank0/run/model.safetensors"))) << one.second;
  }
  // Another spelling, another path and what only rank 0 heeds are no differences.
  space.must("cp text.tok rank1/moved.tok");
  Outcome outcome = both("step.bin --set optim.lr=1e-3", "step.bin --set optim.lr=0.001 --set data.path=moved.tok "
                                                         "--set logging.keep_last=3 --threads 1");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
}

TEST_F(ProcessesTest, SelftestIsGood) {
  for (int nodes : {2, 4}) {
    Outcome outcome = space.must("reciperun selftest --nodes " + std::to_string(nodes));
    EXPECT_NE(outcome.out.find("have the bits of the tree\n"), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.out.find("time limit other ranks gave no answer within 0.5 s"), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.out.find("\ngood\n"), std::string::npos) << outcome.out;
  }
  EXPECT_EQ(space.run("reciperun selftest").code, 1);
  EXPECT_EQ(space.run("reciperun selftest --nodes 3").code, 1);
  // It trains nothing.
  for (std::string option : {"--steps 1", "--set optim.lr=1", "--threads 1", "--output-dir x", "--resume",
                             "--overwrite", "--allow-changes", "--profile", "--max-restarts 1"}) {
    std::string name = option.substr(0, option.find(' '));
    Outcome outcome = space.run("reciperun selftest --nodes 2 " + option);
    EXPECT_EQ(outcome.code, 1) << option;
    EXPECT_EQ(outcome.err,
              "reciperun: error: selftest takes --nodes, --hostfile and --timeout only, got " + name + "\n");
  }
}

TEST_F(ProcessesTest, AStopSavesAndAnotherNumberOfRanksGoesOn) {
  const std::string longer = "--set optim.max_steps=100000 --set logging.log_interval=100000 ";
  RunningRanks run(space, "reciperun step.bin --nodes 2 --threads 1 " + longer, "stopped");
  ASSERT_TRUE(run.waitForOutput("tiny-gpt2: ")) << run.err();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  kill(run.launcher(), SIGTERM);
  EXPECT_EQ(run.wait(60), 128 + SIGTERM) << run.err();
  int done = 0;
  ASSERT_EQ(std::sscanf(run.err().c_str(), "reciperun: stopped after step %d of 100000, as asked", &done), 1)
      << run.err();
  EXPECT_TRUE(run.nothingIsLeft());
  std::string steps = " --steps " + std::to_string(done + 3);
  space.must(train("--nodes 4 --resume " + longer + steps, "stopped"));
  space.must(train(longer + steps, "whole"));
  EXPECT_TRUE(weights("stopped") == weights("whole"));
}

// Before mpirun has started the ranks, while they join, while they load, while they train.
TEST_F(ProcessesTest, AStopIsNeverLost) {
  int trained = 0, early = 0;
  for (int delay : {0, 20, 40, 60, 80, 100, 130, 160, 200, 300, 2500}) {
    int signal = delay % 3 == 1 ? SIGINT : SIGTERM;
    std::string dir = "after" + std::to_string(delay);
    RunningRanks run(space, "reciperun step.bin --nodes 2 --threads 1 --set optim.max_steps=1000000", dir);
    waitUntilItListens(run.launcher());
    std::this_thread::sleep_for(std::chrono::milliseconds(delay));
    kill(run.launcher(), signal);
    EXPECT_EQ(run.wait(30), 128 + signal) << delay << " ms: " << run.err();
    std::string err = run.err();
    EXPECT_EQ(err.find('\n'), err.size() - 1) << delay << " ms: " << err;
    if (err.find("reciperun: stopped after step ") == 0) {
      ++trained;
      EXPECT_FALSE(weights(dir).empty());
    } else {
      ++early;
      EXPECT_EQ(err, "reciperun: stopped before training began, as asked\n") << delay << " ms";
      EXPECT_FALSE(std::filesystem::exists(space.files().path(dir))) << delay << " ms";
    }
    EXPECT_TRUE(run.nothingIsLeft());
  }
  EXPECT_GE(early, 1);
  EXPECT_GE(trained, 1);
}

TEST_F(ProcessesTest, ASecondStopKills) {
  RunningRanks run(space, "reciperun step.bin --nodes 2 --threads 1 --set optim.max_steps=1000000", "killed");
  ASSERT_TRUE(run.waitForOutput("tiny-gpt2: ")) << run.err();
  // It cannot stop by itself.
  kill(run.rank(1), SIGSTOP);
  kill(run.launcher(), SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  kill(run.launcher(), SIGTERM);
  EXPECT_EQ(run.wait(30), 128 + SIGINT) << run.err();
  // mpirun wakes the ranks before it kills them: the first stop may still be done.
  if (run.err().find("reciperun: stopped after step ") != 0)
    EXPECT_EQ(run.err(), "reciperun: ended at once, as asked; only checkpoints that were complete stay\n");
  EXPECT_EQ(run.err().find('\n'), run.err().size() - 1) << run.err();
  EXPECT_TRUE(run.nothingIsLeft());
}

TEST_F(ProcessesTest, WhatMpirunCannotStartIsSaidInOneError) {
  const std::string parse = "reciperun: error: --hostfile: hosts:1: must have the form HOST slots=N, mpirun cannot ";
  const std::string ssh = "reciperun: error: mpirun could not start its program orted on every host: ";
  for (auto [hosts, message] : {std::pair("one host = = 3", parse), std::pair("slots=3", parse),
                                std::pair("", std::string("reciperun: error: --hostfile must name a host")),
                                std::pair("elsewhere slots=2", "no way\n" + ssh)}) {
    space.files().write("hosts", std::string(hosts) + "\n");
    space.must("printf '#!/bin/sh\\necho no way >&2\\nexit 255\\n' > agent; chmod +x agent");
    Outcome outcome =
        space.run("OMPI_MCA_plm_rsh_agent=$PWD/agent " + train("--nodes 2 --hostfile hosts --timeout 20", "nowhere"));
    EXPECT_EQ(outcome.code, 1) << hosts;
    EXPECT_EQ(outcome.err.find(message), 0u) << hosts << "\n" << outcome.err;
    EXPECT_EQ(outcome.err.find('\n', message.size()), outcome.err.size() - 1) << hosts << "\n" << outcome.err;
  }
  Outcome outcome = space.run("OMPI_MCA_plm_rsh_agent=nothing " + train("--nodes 2 --hostfile hosts", "nowhere"));
  EXPECT_EQ(outcome.err, "reciperun: error: mpirun needs ssh to reach other hosts (Debian: openssh-client), found no "
                         "program of 'nothing'\n");
}

TEST_F(ProcessesTest, ASignalToMpirunIsNoSilenceOfTheRanks) {
  RunningRanks run(space, "reciperun step.bin --nodes 2 --threads 1 --set optim.max_steps=1000000", "signalled");
  ASSERT_TRUE(run.waitForOutput("tiny-gpt2: ")) << run.err();
  // The launcher's child, and the ranks' parent.
  for (pid_t process : run.processes()) {
    std::ifstream name("/proc/" + std::to_string(process) + "/comm");
    std::string text;
    if (name >> text && text == "mpirun")
      kill(process, SIGTERM);
  }
  EXPECT_EQ(run.wait(30), 1) << run.err();
  EXPECT_NE(
      run.err().find("reciperun: error: mpirun ended with exit code 1 and without a word, as after a signal that is "
                     "sent to it; "),
      std::string::npos)
      << run.err();
  EXPECT_TRUE(run.nothingIsLeft());
}

TEST_F(ProcessesTest, NoRankOutlivesTheLauncher) {
  RunningRanks run(space, "reciperun step.bin --nodes 2 --threads 1 --set optim.max_steps=1000000", "orphans");
  ASSERT_TRUE(run.waitForOutput("tiny-gpt2: ")) << run.err();
  kill(run.launcher(), SIGKILL);
  EXPECT_EQ(run.wait(10), -1);
  for (int i = 0; i < 100 && !run.processes().empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_TRUE(run.processes().empty());
}

TEST_F(ProcessesTest, ASignalThatWasIgnoredStaysIgnored) {
  const std::string options = "--threads 1 --set optim.max_steps=1500 --set logging.log_interval=1500";
  RunningRanks run(space, "nohup reciperun step.bin --nodes 2 " + options, "nohup");
  ASSERT_TRUE(run.waitForOutput("tiny-gpt2: ")) << run.err();
  for (pid_t process : {run.launcher(), run.rank(0), run.rank(1)})
    kill(process, SIGHUP);
  EXPECT_EQ(run.wait(60), 0) << run.err();
  EXPECT_NE(run.out().find("step 1500/1500"), std::string::npos) << run.out();
}

TEST_F(ProcessesTest, ARankLostBeforeTheBeginLeavesOldResultsOldOnes) {
  space.must(train("", "whole"));
  space.must(train("--set experiment.seed=5 --steps 2", "old"));
  RunningRanks run(space, "reciperun step.bin --nodes 2 --threads 1 --overwrite --max-restarts 1", "old");
  kill(run.rank(1), SIGKILL);
  EXPECT_EQ(run.wait(60), 0) << run.err();
  EXPECT_NE(run.err().find("reciperun: restart 1 of 1\n"), std::string::npos) << run.err();
  EXPECT_EQ(run.err().find("training begins"), std::string::npos) << run.err();
  EXPECT_EQ(run.out().find("resumed from "), std::string::npos) << run.out();
  EXPECT_TRUE(results("old", kUpdates) == results("whole", kUpdates));
}

// No rank can tell of these.
TEST_F(ProcessesTest, WhenNobodyIsLeftToMissOthersTheStarterDoes) {
  const std::string options = " --timeout 1 --threads 1 --set optim.max_steps=100000 --set logging.log_interval=100000";
  {
    RunningRanks run(space, "reciperun step.bin --nodes 2" + options, "stopped");
    ASSERT_TRUE(run.waitForOutput("tiny-gpt2: ")) << run.err();
    std::vector<pid_t> ranks = {run.rank(0), run.rank(1)};
    for (pid_t process : ranks)
      kill(process, SIGSTOP);
    EXPECT_EQ(run.wait(30), 1) << run.err();
    EXPECT_TRUE(run.nothingIsLeft());
    EXPECT_EQ(run.err(), "reciperun: error: all ranks are stopped: rank 0 (process " + std::to_string(ranks[0]) +
                             "): stopped by a signal, rank 1 (process " + std::to_string(ranks[1]) +
                             "): stopped by a signal\n");
  }
  // An mpirun that hangs.
  std::string folder = space.files().path("hanging");
  std::filesystem::create_directory(folder);
  std::ofstream(folder + "/mpirun") << "#!/bin/sh\nexec sleep 1000\n";
  std::filesystem::permissions(folder + "/mpirun", std::filesystem::perms::owner_all);
  RunningRanks run(space, "env PATH=" + folder + ":$PATH reciperun step.bin --nodes 2" + options, "hanging-run");
  EXPECT_EQ(run.wait(30), 1) << run.err();
  EXPECT_EQ(run.err(), "reciperun: error: the ranks did not come in time (--timeout): mpirun, or ssh to a host, does "
                       "not answer\n");
}

TEST_F(ProcessesTest, ALostRankIsReplacedFromTheNewestCheckpoint) {
  const std::string options = "--threads 1 --set optim.max_steps=400 --set logging.log_interval=400 "
                              "--set logging.ckpt_interval=50 ";
  space.must(train(options, "whole"));
  for (const char *times : {"--nodes 2 --max-restarts 1", "--set distributed.max_restarts=1",
                            "--nodes 2 --max-restarts 1 --set distributed.max_restarts=0"}) {
    RunningRanks run(space, "reciperun step.bin " + options + times + " --overwrite", "restarted");
    ASSERT_TRUE(run.waitForOutput("checkpoints/step-00000050")) << times << run.err();
    pid_t victim = -1; // the only rank has no number
    for (pid_t process : run.processes())
      victim = process != run.launcher() ? process : victim;
    kill(absl::StrContains(times, "--nodes") ? run.rank(1) : victim, SIGKILL);
    EXPECT_EQ(run.wait(120), 0) << times << run.err();
    EXPECT_NE(run.err().find("reciperun: restart 1 of 1\n"), std::string::npos) << times << run.err();
    EXPECT_NE(run.out().find("resumed from "), std::string::npos) << times << run.out();
    EXPECT_TRUE(weights("restarted") == weights("whole")) << times;
  }
}

} // namespace recipe::test
