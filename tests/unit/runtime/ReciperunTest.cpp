// The program as a user meets it: results on stdout, diagnostics on stderr, exit codes.
#include "tests/unit/runtime/Reciperun.h"
#include <cmath>

namespace recipe::test {

TEST_F(ReciperunTest, TrainsEvaluatesAndWritesWeights) {
  run("step.bin --set data.path=t.tok --set data.eval_fraction=0.1");
  ASSERT_EQ(code, 0) << err;
  EXPECT_EQ(err, "");
  EXPECT_EQ(out.find("line: 2 parameters, 8 x 8 tokens per update, "), 0u) << out;
  EXPECT_NE(out.find("\nstep 10/10  loss "), std::string::npos) << out;
  EXPECT_NE(out.find("\neval 10/10  eval_loss "), std::string::npos) << out;
  EXPECT_NE(out.find("\nweights output/model.safetensors\n"), std::string::npos) << out;
  std::vector<nlohmann::json> records = metrics();
  ASSERT_EQ(records.size(), 11u);
  EXPECT_EQ(records.back()["eval_tokens"], 399);
  EXPECT_TRUE(std::isfinite(weights()[0]));
}

TEST_F(ReciperunTest, SameBitsOnOneAndTwoThreadsAndInEveryFactoring) {
  std::vector<float> expected;
  std::vector<double> losses;
  for (int64_t batch : {1, 2})
    for (const char *threads : {"1", "2"}) {
      LineShape shape;
      shape.batch = batch;
      folder.write("step.bin", bytesOf(makeLineStep(shape)));
      run("step.bin --set data.path=t.tok --output-dir other --overwrite --threads " + std::string(threads));
      ASSERT_EQ(code, 0) << err;
      std::vector<double> now;
      for (const nlohmann::json &record : metrics("other"))
        now.push_back(record["loss"]);
      if (expected.empty()) {
        expected = weights("other");
        losses = now;
      }
      EXPECT_EQ(weights("other"), expected);
      EXPECT_EQ(now, losses);
    }
}

TEST_F(ReciperunTest, StepsAndIntervals) {
  run("step.bin --set data.path=t.tok --steps 3 --set logging.log_interval=2");
  ASSERT_EQ(code, 0) << err;
  std::vector<nlohmann::json> records = metrics();
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0]["step"], 2);
  EXPECT_EQ(records[1]["step"], 3);
  EXPECT_EQ(records[0]["learning_rate"], 0.125 * 0.75);
  run("step.bin --set data.path=t.tok --steps 0 --set experiment.seed=5 --overwrite");
  ASSERT_EQ(code, 0) << err;
  EXPECT_EQ(weights(), (std::vector<float>{0.875f, -0.5f})) << "the initial weights";
}

TEST_F(ReciperunTest, OptionsWithoutEffectAreRefused) {
  const std::string start = "step.bin --set data.path=t.tok ";
  expectError(start + "--allow-changes", "reciperun: error: --allow-changes must come with --resume\n");
  expectError(start + "--hostfile t.tok", "reciperun: error: --hostfile must come with --nodes of at least 2\n");
  expectError(start + "--nodes 1 --hostfile t.tok", "--hostfile must come with --nodes of at least 2\n");
  for (const char *option : {"--set optim.lr=1", "--nodes 2", "--resume", "--steps 1", "--output-dir x"})
    expectError(std::string("step.bin --print-manifest ") + option,
                "reciperun: error: --print-manifest must be the only option, got " +
                    std::string(option).substr(0, std::string(option).find(' ')) + "\n");
  for (const char *option : {"--hostfile", "--max-restarts"}) {
    run(start + "--nodes 2 " + option + " 2", [] {
      setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
      setenv("OMPI_COMM_WORLD_RANK", "0", 1);
    });
    EXPECT_EQ(code, 1);
    EXPECT_EQ(err, std::string("reciperun: error: ") + option +
                       " is for the reciperun that starts ranks, not for a rank that was started\n");
  }
}

TEST_F(ReciperunTest, ATimeIsANumber) {
  for (const char *text : {"nan", "-nan", "inf", "0", "1s"}) {
    expectError(std::string("step.bin --set data.path=t.tok --timeout ") + text, "reciperun: error: --timeout: ");
    EXPECT_FALSE(exists("output"));
  }
}

TEST_F(ReciperunTest, Refusals) {
  folder.write("text", "no step at all");
  folder.write("cut.bin", bytesOf(makeLineStep()).substr(0, 5000));
  abi::Step foreign = makeLineStep();
  foreign.mutable_objects(0)->add_features("sparc-vis");
  folder.write("foreign.bin", bytesOf(foreign));
  abi::Step wide = makeLineStep();
  wide.mutable_manifest()->add_legal_ranks(2);
  *wide.mutable_certificate()->add_rows() = wide.certificate().rows(0);
  wide.mutable_certificate()->mutable_rows(1)->set_ranks(2);
  wide.mutable_certificate()->mutable_rows(1)->set_accumulation(2);
  folder.write("wide.bin", bytesOf(wide));
  expectError("", "step is required");
  expectError("step.bin --thread 2", "not expected");
  expectError("none.bin", "reciperun: error: none.bin: cannot be opened: No such file or directory");
  expectError("text", "text: not a step.bin");
  expectError("cut.bin", "cut.bin: truncated");
  expectError("foreign.bin", "this machine lacks sparc-vis");
  expectError("step.bin", "'data.path' is not set");
  expectError("step.bin --set data.path=none.tok", "none.tok");
  expectError("step.bin --set data.path=step.bin", "step.bin");
  expectError("step.bin --set lr=1 --set data.batch_size=3",
              "reciperun: error: step.bin: unknown key 'lr'; did you mean 'optim.lr'?\n"
              "reciperun: error: step.bin: 'data.batch_size' is compiled in with the value 2");
  expectError("step.bin --nodes 4", "--nodes must be ");
  expectError("wide.bin --nodes 2", "wide.bin: the step has no sums over ranks: it must run on 1 rank, got 2");
  expectError("step.bin --set data.path=t.tok --threads 5", "1..target.max_threads, got 5 and 4");
  expectError("step.bin --set data.path=t.tok --threads 0", "--threads");
  expectError("step.bin --set data.path=t.tok --steps 11", "got 11 and 10");
  expectError("step.bin --set data.path=t.tok --set experiment.output_dir=t.tok",
              "t.tok: the folder cannot be created");
  expectError("step.bin --set data.path=t.tok --set experiment.output_dir=",
              "reciperun: error: 'experiment.output_dir' must name a folder, got \"\"\n");
  expectError("step.bin --set data.path=t.tok --output-dir ''",
              "reciperun: error: --output-dir must name a folder, got \"\"\n");
  EXPECT_FALSE(exists("output")) << "a refused run leaves nothing";
}

// What a file says is printed, not obeyed by the terminal.
TEST_F(ReciperunTest, NamesFromAFileArePrintedWithoutControlCharacters) {
  abi::Step step = makeLineStep();
  step.mutable_manifest()->set_name("l\x1b[2Jine");
  folder.write("step.bin", bytesOf(step));
  run("step.bin --set data.path=t.tok --steps 1");
  EXPECT_EQ(code, 0) << err;
  EXPECT_EQ(out.find("l\\x1b[2Jine: 2 parameters"), 0u) << out;
  run("step.bin --print-manifest");
  EXPECT_NE(out.find("l\\x1b[2Jine\n"), std::string::npos) << out;
  writeTokens(folder.path("esc.tok"), {1, 2, 3}, 300, "b\x1b[31m");
  run("step.bin --set data.path=esc.tok --output-dir other");
  EXPECT_EQ(code, 1);
  EXPECT_NE(err.find("(tokenizer \"b\\x1b[31m\")"), std::string::npos) << err;
  EXPECT_EQ((out + err).find('\x1b'), std::string::npos);
}

TEST_F(ReciperunTest, NonFiniteLossEndsTheRun) {
  expectError("step.bin --set data.path=t.tok --set optim.lr=1e30",
              "are not finite; first in parameter 'line'; the update was not applied and no weights were written");
  EXPECT_EQ(err.find("-nan"), std::string::npos) << err;
}

TEST_F(ReciperunTest, PrintsTheManifest) {
  run("step.bin --print-manifest");
  EXPECT_EQ(code, 0) << err;
  for (const char *part :
       {"name              line", "legal ranks       1", "* optim.lr", "  data.batch_size", "forward"})
    EXPECT_NE(out.find(part), std::string::npos) << part << "\n" << out;
  run("--version");
  EXPECT_EQ(code, 0);
  EXPECT_EQ(out, "reciperun " RECIPEC_VERSION "\nstep format 2\nkernel ABI 1\n");
}

TEST_F(ReciperunTest, ProfileNamesKernels) {
  run("step.bin --set data.path=t.tok --profile");
  EXPECT_EQ(code, 0);
  EXPECT_NE(err.find("line_residual"), std::string::npos) << err;
}

} // namespace recipe::test
