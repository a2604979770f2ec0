// recipeckpt as a user meets it.
#include "tests/e2e/CheckpointRun.h"
#include "tests/unit/ChildProcess.h"
#include <csignal>
#include <gtest/gtest.h>

namespace recipe::test {

namespace {

struct RecipeckptTest : testing::Test {
  void expectError(const std::string &arguments, const std::string &message) {
    Outcome outcome = run.space.run("recipeckpt " + arguments);
    EXPECT_EQ(outcome.code, 1) << arguments;
    EXPECT_EQ(outcome.err.find("recipeckpt: error: " + message), 0u) << arguments << "\n" << outcome.err;
    EXPECT_EQ(outcome.out, "") << arguments;
  }

  CheckpointRun run{4};
};

} // namespace

TEST_F(RecipeckptTest, InspectTellsWhatIsInside) {
  run.runWhole("--set logging.ckpt_interval=2 --threads 2");
  std::string text = run.space.must("recipeckpt inspect whole/checkpoints/step-00000002").out;
  for (const char *part :
       {"checkpoint  whole/checkpoints/step-00000002\n", "\nstep        2\n", "\nsamples     32\n",
        "\nmodel       gpt2, 21024 parameters\n", "\nrun         tiny-gpt2\n", ", nodes 1, threads 2\n",
        "  optim.max_steps         4\n", "\"n_embd\":24", "\nmodel.safetensors, 86680 bytes, SHA-256 ",
        "  transformer.wte.weight                           F32 [256, 24]\n",
        "  adam_v.transformer.h.1.attn.c_attn.weight        F32 [24, 72]\n"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  EXPECT_NE(run.space.must("recipeckpt inspect whole").out.find("\nstep        4\n"), std::string::npos);
  EXPECT_EQ(run.space.must("recipeckpt verify whole").out,
            "whole/checkpoints/step-00000004: good, step 4, 260424 bytes in 2 files\n");
}

TEST_F(RecipeckptTest, DiffTellsStatesApart) {
  run.runWhole("--set logging.ckpt_interval=2 --threads 1");
  run.space.must(run.command("--output-dir again --threads 2"));
  EXPECT_EQ(run.space.must("recipeckpt diff whole again").out, "") << "provenance does not matter";
  Outcome steps = run.space.run("recipeckpt diff whole/checkpoints/step-00000002 again");
  EXPECT_EQ(steps.code, 1);
  EXPECT_EQ(steps.err, "");
  EXPECT_EQ(steps.out.find("step: 2 and 4\nsamples: 32 and 64\nmodel.safetensors: transformer.wte.weight: "), 0u);
  EXPECT_NE(steps.out.find(" of 6144 values differ, by at most "), std::string::npos) << steps.out;
  run.space.must(run.command("--output-dir other --set optim.lr=1e-2"));
  EXPECT_EQ(run.space.run("recipeckpt diff again other").out.find("optim.lr: 0.001 and 0.01\nmodel.safetensors: "), 0u);
}

// A run that keeps one checkpoint removes what is being read.
TEST_F(RecipeckptTest, BesideARunThatGoesOn) {
  TempFolder streams;
  ChildProcess child(streams, run.words("--output-dir " + run.space.files().path("live") +
                                        " --set optim.max_steps=1000000 --set logging.ckpt_interval=1 --set "
                                        "logging.keep_last=1"));
  while (run.checkpoints("live").empty())
    usleep(1000);
  for (int i = 0; i < 50 && !HasFailure(); ++i)
    for (const char *command : {"verify live", "inspect live"})
      run.space.must(std::string("recipeckpt ") + command);
  kill(child.id(), SIGKILL);
  EXPECT_EQ(child.wait(), -SIGKILL) << streams.read("stderr");
}

TEST_F(RecipeckptTest, Errors) {
  expectError("", "A subcommand is required");
  expectError("foo", "unknown command 'foo': a command is required: inspect, verify, diff or export");
  expectError("verify", "CHECKPOINT is required");
  expectError("diff whole", "OTHER is required");
  expectError("inspect nowhere", "nowhere: must be a checkpoint or the output folder of a run, found neither");
  run.space.must("mkdir -p empty/checkpoints plain");
  expectError("verify empty", "empty/checkpoints: no checkpoint found");
  run.space.must("echo '{}' >plain/manifest.json");
  expectError("verify plain", "plain/manifest.json: not a checkpoint's manifest: 'format' must be ");
  run.runWhole();
  run.space.must("rm whole/checkpoints/step-00000004/model.safetensors");
  expectError("verify whole", "whole/checkpoints/step-00000004/model.safetensors: cannot be opened: No such file");
}

} // namespace recipe::test
