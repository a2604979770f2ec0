// A run that is stopped and resumed is the run that was never stopped.
#include "dialects/train/NumericsVersion.h"
#include "runtime/abi/Container.h"
#include "tests/e2e/CheckpointRun.h"
#include "tests/unit/ChildProcess.h"
#include <csignal>
#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

namespace recipe::test {

namespace {

struct CheckpointTest : testing::Test {
  /// The command must fail with this on stderr, and leave every file as it was.
  void expectRefusal(const std::string &options, const std::string &message) {
    auto before = run.space.listing();
    Outcome outcome = run.space.run(run.command(options));
    EXPECT_EQ(outcome.code, 1) << options;
    EXPECT_NE(outcome.err.find("reciperun: error: " + message), std::string::npos) << options << "\n" << outcome.err;
    EXPECT_EQ(outcome.out, "") << options;
    EXPECT_EQ(run.space.listing(), before) << options;
  }

  CheckpointRun run{10};
};

/// Three MiB.
struct SmallDisk {
  explicit SmallDisk(const std::string &path) : path(path) {
    std::filesystem::create_directories(path);
    mounted = mount("tmpfs", path.c_str(), "tmpfs", 0, "size=3m") == 0;
  }
  ~SmallDisk() {
    if (mounted)
      umount(path.c_str());
  }
  std::string path;
  bool mounted;
};

} // namespace

TEST_F(CheckpointTest, ResumedRunsEqualTheUninterruptedOne) {
  run.runWhole("--threads 1 --set logging.ckpt_interval=4");
  EXPECT_EQ(run.checkpoints("whole"), (std::vector<int64_t>{4, 8, 10}));

  // Saved at the end, by a run that ends there: the same bytes as saved on the way.
  run.space.must(run.command("--threads 2 --output-dir parts --steps 4"));
  run.expectSameCheckpoint("parts/checkpoints/step-00000004", "whole/checkpoints/step-00000004");
  Outcome second = run.space.must(run.command("--threads 2 --output-dir parts --resume --steps 7"));
  EXPECT_NE(second.out.find("resumed from parts/checkpoints/step-00000004, step 4\n"), std::string::npos) << second.out;
  EXPECT_NE(second.out.find("\ncheckpoint parts/checkpoints/step-00000007  seconds "), std::string::npos) << second.out;
  run.space.must(run.command("--threads 1 --output-dir parts --resume latest"));
  EXPECT_EQ(run.checkpoints("parts"), (std::vector<int64_t>{4, 7, 10}));
  run.expectSameEnd("parts");

  // Nothing is left to do, and that is no error.
  run.space.must(run.command("--output-dir parts --resume latest"));
  run.expectSameEnd("parts");
}

TEST_F(CheckpointTest, AnotherFactoringGoesOnWithTheSameBits) {
  run.runWhole("--set logging.ckpt_interval=5");
  run.space.must("recipec compile gpt2.recipe --set data.batch_size=2 --set optim.grad_accum_steps=8 -o small.bin");
  run.space.must(run.command("--output-dir other --resume whole/checkpoints/step-00000005", "small.bin"));
  EXPECT_EQ(run.checkpoints("other"), std::vector<int64_t>{10});
  run.expectSameCheckpoint("other/checkpoints/step-00000010", "whole/checkpoints/step-00000010");
  // The newest checkpoint of another run.
  run.space.must(run.command("--output-dir third --resume whole --threads 3"));
  EXPECT_TRUE(run.space.files().read("third/model.safetensors") == run.space.files().read("whole/model.safetensors"));
  EXPECT_EQ(run.course("third"), "");
}

TEST_F(CheckpointTest, OldCheckpointsGoAndNewOnesStay) {
  run.space.must(run.command("--output-dir few --set logging.ckpt_interval=1 --set logging.keep_last=2"));
  EXPECT_EQ(run.checkpoints("few"), (std::vector<int64_t>{9, 10}));
  run.space.must(run.command("--output-dir all --set logging.ckpt_interval=1"));
  EXPECT_EQ(run.checkpoints("all").size(), 10u);
  run.space.must(run.command("--output-dir all --overwrite --steps 3"));
  EXPECT_EQ(run.checkpoints("all"), std::vector<int64_t>{3}) << "a new run keeps nothing of the one it replaces";
}

TEST_F(CheckpointTest, AStopRequestSavesAndTheRunGoesOn) {
  run.updates = 400;
  run.runWhole();
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) {
    std::string dir = "stopped-" + std::to_string(signal);
    TempFolder streams; // the program's working folder, too
    ChildProcess child(streams, run.words("--output-dir " + run.space.files().path(dir)));
    while (run.space.files().read(dir + "/metrics.jsonl").empty())
      usleep(1000);
    kill(child.id(), signal);
    EXPECT_EQ(child.wait(), 128 + signal) << streams.read("stderr");
    EXPECT_NE(streams.read("stderr").find("reciperun: stopped after step "), std::string::npos);
    std::vector<int64_t> saved = run.checkpoints(dir);
    ASSERT_EQ(saved.size(), 1u);
    EXPECT_LT(saved[0], run.updates) << "the signal came too late to test anything";
    run.space.must(run.command("--output-dir " + dir + " --resume"));
    run.expectSameEnd(dir);
  }
}

TEST_F(CheckpointTest, ALossThatIsNotFiniteKeepsWhatWasSaved) {
  Outcome outcome = run.space.run(run.command("--output-dir wild --set logging.ckpt_interval=1 --set optim.lr=1000 "
                                              "--set optim.max_steps=200 --set optim.scheduler=constant"));
  ASSERT_EQ(outcome.code, 1) << "this rate was to be too much";
  int failed = 0;
  ASSERT_EQ(std::sscanf(outcome.err.c_str(), "reciperun: error: step %d: ", &failed), 1) << outcome.err;
  EXPECT_EQ(run.checkpoints("wild").back(), failed - 1);
  run.space.must("recipeckpt verify wild");
}

TEST_F(CheckpointTest, MetricsGoOnWithoutDoubleLines) {
  const std::string held = " --set data.eval_fraction=0.1 ";
  run.runWhole("--set logging.ckpt_interval=4 --steps 6" + held);
  // As if killed during the evaluation after step 6: its checkpoint never came, but its lines did, and half of one
  // more.
  std::filesystem::remove_all(run.space.files().path("whole/checkpoints/step-00000006"));
  std::ofstream(run.space.files().path("whole/metrics.jsonl"), std::ios::app) << "{\"step\":7,\"lo";
  run.space.must(run.command("--output-dir whole --resume" + held));
  // Nor when there is nothing left to do.
  run.space.must(run.command("--output-dir whole --resume" + held));
  EXPECT_EQ(run.space.evaluations("whole").size(), 1u);
  std::vector<nlohmann::json> lines = run.space.steps("whole");
  ASSERT_EQ(lines.size(), 10u);
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(lines[size_t(i)]["step"], i + 1);
}

// One command is right after every interruption, whatever the run had reached.
TEST_F(CheckpointTest, ResumeBeforeTheFirstCheckpointBeginsAnew) {
  run.runWhole();
  run.space.must("mkdir -p empty killed/checkpoints/step-00000004.partial; cp whole/metrics.jsonl killed; touch "
                 "killed/reciperun.lock killed/checkpoints/step-00000004.partial/model.safetensors");
  for (std::string dir : {"missing", "empty", "killed"}) {
    Outcome outcome = run.space.must(run.command("--output-dir " + dir + " --resume"));
    EXPECT_NE(outcome.out.find("no checkpoint in " + dir + " yet: training begins at step 0\n"), std::string::npos)
        << outcome.out;
    run.expectSameEnd(dir);
    outcome = run.space.must(run.command("--output-dir " + dir + " --resume"));
    EXPECT_EQ(outcome.out.find("no checkpoint in "), std::string::npos) << outcome.out;
  }
  run.space.must(run.command("--output-dir source --set experiment.seed=5"));
  const std::string from = " --set model.init_from=source";
  run.space.must(run.command("--output-dir direct" + from));
  run.space.must(run.command("--output-dir repeated --resume" + from));
  EXPECT_TRUE(run.space.files().read("direct/model.safetensors") ==
              run.space.files().read("repeated/model.safetensors"));
}

TEST_F(CheckpointTest, MissingMetricsAreSaid) {
  run.runWhole();
  const std::string resume = run.command("--output-dir whole --resume");
  EXPECT_EQ(run.space.must(resume).err, "");
  run.space.must("head -n 4 whole/metrics.jsonl > metrics; mv metrics whole/metrics.jsonl");
  EXPECT_EQ(run.space.run(resume).err, "reciperun: whole/metrics.jsonl: lines before the checkpoint's step 10 are "
                                       "missing, the last is of step 4\n");
}

TEST_F(CheckpointTest, AnotherNameIsNoOtherCheckpoint) {
  run.runWhole("--set logging.ckpt_interval=4");
  run.space.must("cp -r whole/checkpoints/step-00000004 best; cp -r best step-00000099; cp -r whole beside; "
                 "cd beside/checkpoints; rm -r step-00000010 step-00000008; mv step-00000004 best");
  for (std::string from : {"best", "best/", "step-00000099", "beside/checkpoints/best"}) {
    run.space.must("recipeckpt verify " + from);
    run.space.must("rm -rf x; " + run.command("--output-dir x --resume " + from));
    run.expectSameCheckpoint("x/checkpoints/step-00000010", "whole/checkpoints/step-00000010");
  }
  run.space.must(run.command("--output-dir beside --resume beside/checkpoints/best"));
  run.expectSameEnd("beside");
  EXPECT_TRUE(std::filesystem::exists(run.space.files().path("beside/checkpoints/best"))) << "it is the user's";
  // The newest is found by its name.
  run.space.must("mv whole/checkpoints/step-00000008 whole/checkpoints/step-00000012");
  for (std::string from : {"latest", "whole", "whole/checkpoints/step-00000012/"})
    expectRefusal("--output-dir whole --resume " + from,
                  "whole/checkpoints/step-00000012" + std::string(from.back() == '/' ? "/" : "") +
                      ": its name must be that of its step, step-00000008; rename it, or take it from another "
                      "folder");
}

TEST_F(CheckpointTest, Refusals) {
  run.space.must("mkdir weights; touch weights/model.safetensors");
  expectRefusal("--output-dir weights --resume",
                "weights/checkpoints: no checkpoint found, but model.safetensors of an earlier run; --overwrite in "
                "place of --resume begins anew");
  run.runWhole("--set logging.ckpt_interval=4");
  expectRefusal("--output-dir whole", "whole: must not hold results of another run, found ");
  expectRefusal("--output-dir x --resume nowhere",
                "nowhere: must be a checkpoint or the output folder of a run, found");
  expectRefusal("--output-dir whole --resume whole/checkpoints/step-00000004",
                "whole: must not hold checkpoints beyond the one to resume from, found step-00000010 and "
                "step-00000004; choose another --output-dir, or remove newer results with --overwrite");
  expectRefusal("--output-dir whole --resume --steps 3",
                "--steps must not end before the checkpoint, got 3 and its step 10");
  expectRefusal("--output-dir whole --resume --allow-changes --set optim.max_steps=6",
                "'optim.max_steps' must not end before the checkpoint, got 6 and its step 10");

  // Another course, another model.
  const std::string from = "--output-dir x --resume whole/checkpoints/step-00000004 ";
  const std::string rule =
      "whole/checkpoints/step-00000004: training must go on as it began, unless --allow-changes is "
      "given, these settings differ:\nreciperun: error:   ";
  expectRefusal(from + "--set optim.max_steps=20", rule + "optim.max_steps: 10 in the checkpoint, 20 now\n");
  expectRefusal(from + "--set optim.warmup_steps=2", rule + "optim.warmup_ratio: 0.03 in the checkpoint, not set now\n"
                                                            "reciperun: error:   optim.warmup_steps: not set in the "
                                                            "checkpoint, 2 now\n");
  expectRefusal(from + "--set optim.scheduler=linear",
                rule + "optim.scheduler: cosine in the checkpoint, linear now\n");
  expectRefusal(from + "--set experiment.seed=3", rule + "experiment.seed: 0 in the checkpoint, 3 now\n");
  run.space.must("tr a-m n-z <text.txt >other.txt; recipedata tokenize other.txt -o other.tok");
  expectRefusal(from + "--set data.path=other.tok", rule + "data.sha256: ");
  run.space.must("recipec compile llama.recipe -o llama.bin");
  Outcome outcome = run.space.run(run.command(from, "llama.bin"));
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.err.find("the step must be of the checkpoint's model and batch, these differ:"), std::string::npos);
  EXPECT_NE(outcome.err.find("model.type: gpt2 in the checkpoint, llama now"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("model.config.n_embd: 24 in the checkpoint, not set now"), std::string::npos);
  run.space.must("recipec compile gpt2.recipe --set optim.grad_accum_steps=2 -o twice.bin");
  outcome = run.space.run(run.command(from, "twice.bin"));
  EXPECT_NE(outcome.err.find("global_batch: 16 in the checkpoint, 32 now"), std::string::npos) << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(run.space.files().path("x")));
}

TEST_F(CheckpointTest, ChangesAreTakenWhenAllowedAndTold) {
  run.runWhole("--set logging.ckpt_interval=4");
  Outcome outcome = run.space.run(
      run.command("--output-dir x --resume whole/checkpoints/step-00000004 --allow-changes --set optim.lr=1e-2"));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "reciperun: changed: optim.lr: 0.001 in the checkpoint, 0.01 now\n");
  EXPECT_EQ(run.space.steps("x").size(), 6u);
  // The same number in other words is no change; nor is another place of the same tokens.
  run.space.must("cp text.tok elsewhere.tok");
  run.space.must(run.command("--output-dir y --resume whole/checkpoints/step-00000004 --set optim.lr=0.1e-2 --set "
                             "data.path=elsewhere.tok"));
  // Leaving a course for good.
  run.space.must(run.command("--output-dir whole --resume whole/checkpoints/step-00000004 --overwrite --steps 5"));
  EXPECT_EQ(run.checkpoints("whole"), (std::vector<int64_t>{4, 5}));
  EXPECT_EQ(run.space.steps("whole").size(), 5u);
}

// The same recipe, compiled for another order of bf16 sums, by a compiler of other rules, or by one that told neither.
TEST_F(CheckpointTest, OtherNumericsAreTold) {
  const std::string factoring = "recipec compile gpt2.recipe --set data.batch_size=8 --set optim.grad_accum_steps=2 ";
  run.space.must(factoring + "--set precision.compute=bf16 --set target.arch=x86-64-v3 -o gpt2.bin");
  run.runWhole("--steps 5 --set logging.ckpt_interval=4");
  const std::string from = "whole/checkpoints/step-00000004",
                    version = "version " + std::to_string(train::NumericsVersion),
                    ours = version + ", bf16 sums in pairs", known = "\nnumerics    " + ours + "\n";
  EXPECT_NE(run.space.must("recipeckpt inspect " + from).out.find(known), std::string::npos);
  EXPECT_NE(run.space.must("reciperun gpt2.bin --print-manifest").out.find("\nnumerics          " + ours + "\n"),
            std::string::npos);
  EXPECT_NE(run.space.must("recipec inspect gpt2.bin").out.find("\nnumerics        " + ours + "\n"), std::string::npos);

  struct Other {
    uint32_t version;
    std::string order, how, text;
  };
  const uint32_t next = train::NumericsVersion + 1;
  for (const Other &other :
       {Other{train::NumericsVersion, "blocks", "goes on", version + ", bf16 sums in blocks (AMX)"},
        {next, "pairs", "may go on", "version " + std::to_string(next) + ", bf16 sums in pairs"},
        {0, "", "may go on", "not recorded, before version 1"}}) {
    abi::Step step = run.space.step("gpt2.bin");
    step.mutable_manifest()->set_numerics_version(other.version);
    step.mutable_manifest()->set_bf16_order(other.order);
    std::string bytes, error;
    ASSERT_TRUE(abi::serializeStep(step, bytes, error)) << error;
    run.space.files().write("other.bin", bytes);
    auto expectTold = [&](const std::string &command, const std::string &path, const std::string &checkpoint,
                          const std::string &now) {
      Outcome outcome = run.space.run(command);
      EXPECT_EQ(outcome.code, 0) << outcome.err;
      EXPECT_EQ(outcome.err, "reciperun: " + path + ": the run " + other.how + " with other bits, numerics of the " +
                                 "checkpoint: " + checkpoint + "; of this step: " + now + "\n");
    };
    // On several ranks, once.
    expectTold(run.command("--output-dir x --nodes 2 --threads 1 --steps 5 --resume " + from, "other.bin"), from, ours,
               other.text);
    Outcome diff = run.space.run("recipeckpt diff whole x");
    EXPECT_EQ(diff.out, "numerics: " + ours + " and " + other.text + "\n") << diff.err;
    // The other way round: a checkpoint that does not say is read as one of before there were versions.
    expectTold(run.command("--output-dir x --resume"), "x/checkpoints/step-00000005", other.text, ours);
    run.space.must("rm -r x");
  }
  run.space.must(run.command("--output-dir x --nodes 2 --threads 1 --resume " + from));
}

TEST_F(CheckpointTest, DamageIsNamed) {
  run.runWhole();
  const std::string dir = "whole/checkpoints/step-00000010/";
  for (const char *name : {"manifest.json", "model.safetensors", "optimizer.safetensors"}) {
    std::string good = run.space.files().read(dir + name);
    for (size_t part = 0; part < 5; ++part) {
      std::string bad = good;
      size_t place = (bad.size() - 1) * part / 4;
      bad[place] = char(bad[place] ^ 4);
      run.space.files().write(dir + name, bad);
      expectRefusal("--output-dir whole --resume", dir + name + ": ");
      Outcome verify = run.space.run("recipeckpt verify whole");
      EXPECT_EQ(verify.code, 1);
      EXPECT_EQ(verify.err.find("recipeckpt: error: " + dir + name + ": "), 0u) << verify.err;
    }
    run.space.files().write(dir + name, good);
  }
  run.space.must("recipeckpt verify whole");
  std::string newer = run.space.files().read(dir + "manifest.json");
  newer.replace(newer.find("\"version\": 1"), 12, "\"version\": 9");
  run.space.files().write(dir + "manifest.json", newer);
  expectRefusal("--output-dir whole --resume", dir +
                                                   "manifest.json: the checkpoint format must be version 1, which this "
                                                   "program reads, got 9");
}

TEST_F(CheckpointTest, AFullDiskKeepsTheLastGoodCheckpoint) {
  SmallDisk disk(run.space.files().path("disk"));
  if (!disk.mounted)
    GTEST_SKIP() << "only root can make a small disk";
  Outcome outcome =
      run.space.run(run.command("--output-dir disk/run --set logging.ckpt_interval=1 --set optim.max_steps=100"));
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.err.find("reciperun: error: disk/run/checkpoints/step-"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("the disk must have room for its "), std::string::npos) << outcome.err;
  EXPECT_EQ(run.space.run("recipeckpt verify disk/run").code, 0);
  ASSERT_FALSE(run.checkpoints("disk/run").empty());
  EXPECT_NE(outcome.err.find("; the updates after step " + std::to_string(run.checkpoints("disk/run").back()) +
                             " are lost, --resume goes on from there when there is room\n"),
            std::string::npos)
      << outcome.err;
  // With room again it goes on.
  run.space.must("rm -r disk/run/checkpoints/step-00000001");
  EXPECT_EQ(run.space
                .run(run.command("--output-dir disk/run --resume --set optim.max_steps=100 --set "
                                 "logging.keep_last=1 --set logging.ckpt_interval=1"))
                .code,
            0);
}

// The last save of a run is the last of it.
TEST_F(CheckpointTest, AFullDiskAtTheEndIsWaitedFor) {
  SmallDisk disk(run.space.files().path("disk"));
  if (!disk.mounted)
    GTEST_SKIP() << "only root can make a small disk";
  run.updates = 400;
  // With checkpoints on the way, the last update has one, too.
  for (std::string options : {"", "--set logging.ckpt_interval=400", "--nodes 2 --threads 1 --timeout 1"})
    for (bool freed : {true, false}) {
      std::string step = "gpt2.bin";
      if (options.find("--nodes") == 0) {
        step = "nodes.bin";
        run.space.must(
            "recipec compile gpt2.recipe --set data.batch_size=8 --set optim.grad_accum_steps=2 -o nodes.bin");
      }
      run.space.must("rm -rf disk/* whole; " + run.command("--output-dir whole", step));
      TempFolder streams;
      ChildProcess child(streams, run.words("--output-dir " + disk.path + "/run " + options, step));
      while (run.space.files().read("disk/run/metrics.jsonl").empty())
        usleep(1000);
      // Metrics and weights have room, a checkpoint has not.
      run.space.must("head -c 2000000 /dev/zero > disk/filler");
      const std::string place = disk.path + "/run/checkpoints/step-00000400: the disk must have room for its ";
      for (int i = 0; i < 6000 && streams.read("stderr").find('\n') == std::string::npos; ++i)
        usleep(10000);
      std::string waiting = streams.read("stderr");
      EXPECT_EQ(waiting.find("reciperun: " + place), 0u) << waiting;
      const std::string end = "; waiting for room, all updates are in memory only; SIGTERM or Ctrl-C gives up\n";
      EXPECT_EQ(waiting.find(end) + end.size(), waiting.size()) << waiting;
      if (step == "nodes.bin")
        usleep(2500000); // longer than a rank that is lost is waited for
      if (freed)
        run.space.must("rm disk/filler");
      else
        kill(child.id(), SIGTERM);
      EXPECT_EQ(child.wait(), freed ? 0 : 1) << streams.read("stderr");
      std::string rest = streams.read("stderr").substr(waiting.size());
      if (freed) {
        EXPECT_EQ(rest, "");
        run.expectSameEnd("disk/run");
        continue;
      }
      EXPECT_EQ(rest.find("reciperun: error: " + place), 0u) << rest;
      EXPECT_NE(rest.find("; given up as asked, all updates are lost; the weights after step 400 are written, without "
                          "what --resume needs\n"),
                std::string::npos)
          << rest;
      EXPECT_EQ(rest.find('\n'), rest.size() - 1) << rest;
      EXPECT_TRUE(run.checkpoints("disk/run").empty());
      EXPECT_TRUE(run.space.files().read("disk/run/model.safetensors") ==
                  run.space.files().read("whole/model.safetensors"));
    }
}

} // namespace recipe::test
