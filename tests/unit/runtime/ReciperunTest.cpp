// The program as a user meets it: results on stdout, diagnostics on stderr, exit codes.
#include "runtime/base/File.h"
#include "runtime/checkpoint/Safetensors.h"
#include "tests/abi/HandWrittenStep.h"
#include "tests/unit/TempFolder.h"
#include "tests/unit/data/Tokens.h"
#include <csignal>
#include <cstring>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

namespace recipe::test {

namespace {

struct ReciperunTest : testing::Test {
  void SetUp() override {
    std::vector<int32_t> ids;
    for (int i = 0; i < 4000; ++i)
      ids.push_back((i * 31 + i / 7) % 64);
    writeTokens(folder.path("t.tok"), ids, 256);
    folder.write("step.bin", bytesOf(makeLineStep()));
  }

  void run(const std::string &arguments) {
    std::string command = "cd " + folder.path("") + " && " RECIPERUN_PATH " " + arguments + " >stdout 2>stderr";
    int status = std::system(command.c_str());
    code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    out = folder.read("stdout");
    err = folder.read("stderr");
  }

  std::vector<nlohmann::json> metrics(const std::string &dir = "output") {
    std::istringstream lines(folder.read(dir + "/metrics.jsonl"));
    std::vector<nlohmann::json> records;
    for (std::string line; std::getline(lines, line);)
      records.push_back(nlohmann::json::parse(line));
    return records;
  }

  std::vector<float> weights(const std::string &dir = "output") {
    auto file = rt::readSafetensors(folder.path(dir + "/model.safetensors"));
    EXPECT_TRUE(file.ok()) << file.status();
    const rt::TensorView *tensor = file->find("model.line");
    std::vector<float> values(2);
    std::memcpy(values.data(), tensor->data, 8);
    return values;
  }

  void expectError(const std::string &arguments, const std::string &part) {
    run(arguments);
    EXPECT_EQ(code, 1) << arguments;
    EXPECT_NE(err.find(part), std::string::npos) << arguments << "\n" << err;
    EXPECT_FALSE(rt::readFile(folder.path("output/model.safetensors")).ok());
  }

  TempFolder folder;
  int code = -1;
  std::string out, err;
};

} // namespace

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
      run("step.bin --set data.path=t.tok --output-dir other --threads " + std::string(threads));
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
  run("step.bin --set data.path=t.tok --steps 0 --set experiment.seed=5");
  ASSERT_EQ(code, 0) << err;
  EXPECT_EQ(weights(), (std::vector<float>{0.875f, -0.5f})) << "the initial weights";
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
  expectError("wide.bin --nodes 2", "--nodes must be 1, got 2: more than one node comes later");
  expectError("step.bin --set data.path=t.tok --threads 5", "1..target.max_threads, got 5 and 4");
  expectError("step.bin --set data.path=t.tok --threads 0", "--threads");
  expectError("step.bin --set data.path=t.tok --steps 11", "got 11 and 10");
  expectError("step.bin --set data.path=t.tok --set experiment.output_dir=t.tok",
              "t.tok: the folder cannot be created");
}

TEST_F(ReciperunTest, NonFiniteLossEndsTheRun) {
  expectError("step.bin --set data.path=t.tok --set optim.lr=1e30",
              "are not finite; first in parameter 'line'; the update was not applied and no weights were written");
}

TEST_F(ReciperunTest, PrintsTheManifest) {
  run("step.bin --print-manifest");
  EXPECT_EQ(code, 0) << err;
  for (const char *part :
       {"name              line", "legal ranks       1", "* optim.lr", "  data.batch_size", "forward"})
    EXPECT_NE(out.find(part), std::string::npos) << part << "\n" << out;
  run("--version");
  EXPECT_EQ(code, 0);
  EXPECT_EQ(out, "reciperun " RECIPEC_VERSION "\nstep format 1\nkernel ABI 1\n");
}

TEST_F(ReciperunTest, ProfileNamesKernels) {
  run("step.bin --set data.path=t.tok --profile");
  EXPECT_EQ(code, 0);
  EXPECT_NE(err.find("line_residual"), std::string::npos) << err;
}

TEST_F(ReciperunTest, InterruptedRunWritesItsWeights) {
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (chdir(folder.path("").c_str()) != 0 || !std::freopen("stdout", "w", stdout) ||
        !std::freopen("stderr", "w", stderr))
      _exit(99);
    execl(RECIPERUN_PATH, "reciperun", "step.bin", "--set", "data.path=t.tok", "--set", "optim.max_steps=100000000",
          "--set", "optim.lr=1e-4", "--set", "optim.decay=1", static_cast<char *>(nullptr));
    _exit(99);
  }
  for (int i = 0; i < 1000 && folder.read("output/metrics.jsonl").empty(); ++i)
    usleep(10000);
  kill(child, SIGINT);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
  EXPECT_NE(folder.read("stderr").find("reciperun: stopped after step "), std::string::npos);
  EXPECT_TRUE(std::isfinite(weights()[0]));
}

} // namespace recipe::test
