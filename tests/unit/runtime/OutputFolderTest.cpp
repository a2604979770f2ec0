// The folder of a run: one run at a time, never over the results of another, and no surprise at the end.
#include "runtime/tools/OutputFolder.h"
#include "tests/unit/runtime/Reciperun.h"
#include <csignal>
#include <sys/resource.h>

namespace recipe::test {

namespace {

struct OutputFolderTest : ReciperunTest {
  /// Opens `name` and returns what is wrong with it; "": nothing.
  std::string open(const std::string &name, const rt::OutputFolderOptions &options = {}) {
    absl::StatusOr<rt::OutputFolder> opened = rt::OutputFolder::open(folder.path(name), options);
    return opened.ok() ? "" : std::string(opened.status().message());
  }

  void expectRefused(const std::string &name, const std::string &part, const rt::OutputFolderOptions &options = {}) {
    std::string message = open(name, options);
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }

  /// Contents by name.
  std::map<std::string, std::string> contents(const std::string &name) {
    std::map<std::string, std::string> files;
    for (const auto &entry : std::filesystem::directory_iterator(folder.path(name)))
      files[entry.path().filename().string()] =
          entry.is_regular_file() ? folder.read(name + "/" + entry.path().filename().string()) : "";
    return files;
  }

  static rt::OutputFolderOptions overwriting(bool overwrite = true) {
    rt::OutputFolderOptions options;
    options.overwrite = overwrite;
    return options;
  }

  static rt::OutputFolderOptions withWeights(uint64_t bytes) {
    rt::OutputFolderOptions options;
    options.weightBytes = bytes;
    return options;
  }
};

} // namespace

TEST_F(OutputFolderTest, IsRemovedWithItsParentsIfNothingWasPutIntoIt) {
  EXPECT_EQ(open("a/b/c"), "");
  EXPECT_FALSE(exists("a"));
  std::filesystem::create_directory(folder.path("a"));
  {
    auto opened = rt::OutputFolder::open(folder.path("a/b/c"), {});
    ASSERT_TRUE(opened.ok()) << opened.status();
    EXPECT_EQ(opened->weightsPath(), folder.path("a/b/c/model.safetensors"));
    folder.write("a/b/c/metrics.jsonl", "{}\n");
    EXPECT_TRUE(exists("a/b/c/reciperun.lock"));
  }
  EXPECT_EQ(contents("a/b/c"), (std::map<std::string, std::string>{{"metrics.jsonl", "{}\n"}}));
  expectRefused("t.tok/x/y", "t.tok/x/y: the folder cannot be created: Not a directory");
}

TEST_F(OutputFolderTest, OneRunAtATime) {
  auto first = rt::OutputFolder::open(folder.path("o"), {});
  ASSERT_TRUE(first.ok()) << first.status();
  for (bool overwrite : {false, true})
    expectRefused("o",
                  "one run at a time may write to a folder; " + folder.path("o/reciperun.lock") + ": held by process " +
                      std::to_string(getpid()),
                  overwriting(overwrite));
  EXPECT_TRUE(exists("o/reciperun.lock"));
}

// What a killed run leaves is a file that nobody holds.
TEST_F(OutputFolderTest, AStaleLockIsTaken) {
  std::filesystem::create_directory(folder.path("o"));
  folder.write("o/reciperun.lock", "1\n");
  EXPECT_EQ(open("o"), "");
  EXPECT_FALSE(exists("o/reciperun.lock"));
}

TEST_F(OutputFolderTest, AFileThatOnlyHasTheNameOfTheLockStays) {
  std::filesystem::create_directory(folder.path("o"));
  for (const char *text : {"my notes\n", "1\nmy notes\n"}) {
    folder.write("o/reciperun.lock", text);
    expectRefused("o", "reciperun.lock: must be empty or hold a process id");
    EXPECT_EQ(folder.read("o/reciperun.lock"), text);
  }
  std::filesystem::remove(folder.path("o/reciperun.lock"));
  for (const char *target : {"notes", "missing"}) {
    folder.write("notes", "");
    std::filesystem::create_symlink(folder.path(target), folder.path("o/reciperun.lock"));
    expectRefused("o", "reciperun.lock: must not be a symbolic link");
    EXPECT_EQ(folder.read("notes"), "");
    EXPECT_FALSE(exists("missing"));
    std::filesystem::remove(folder.path("o/reciperun.lock"));
  }
  folder.write("o/reciperun.lock", "");
  EXPECT_EQ(open("o"), "") << "killed between its creation and its first word";
}

TEST_F(OutputFolderTest, ResultsOfAnotherRunAreRefusedAndStay) {
  for (const char *name : {"metrics.jsonl", "model.safetensors"}) {
    std::filesystem::create_directory(folder.path("o"));
    folder.write("o/notes.txt", "mine");
    EXPECT_EQ(open("o"), "") << "other files do not matter";
    folder.write(std::string("o/") + name, "theirs");
    auto before = contents("o");
    expectRefused("o", std::string("o: must not hold results of another run, found ") + name +
                           "; choose another --output-dir, or replace them with --overwrite");
    EXPECT_EQ(open("o", overwriting()), "");
    EXPECT_EQ(contents("o"), before);
    std::filesystem::remove_all(folder.path("o"));
  }
}

TEST_F(OutputFolderTest, WhatCannotBeWrittenAtTheEndIsRefusedAtOnce) {
  for (const char *name : {"metrics.jsonl", "model.safetensors"}) {
    std::filesystem::create_directories(folder.path(std::string("o/") + name));
    auto before = contents("o");
    expectRefused("o", std::string(name) + ": ", overwriting());
    EXPECT_EQ(contents("o"), before);
    std::filesystem::remove_all(folder.path("o"));
  }
  std::filesystem::create_directory(folder.path("o"));
  std::filesystem::create_symlink("/no/such/file", folder.path("o/model.safetensors"));
  expectRefused("o", "model.safetensors: exists and is not a regular file", overwriting());
}

TEST_F(OutputFolderTest, ReadOnlyFoldersAreRefusedAtOnce) {
  std::filesystem::create_directory(folder.path("output"));
  for (const char *name : {"", "output", "t.tok", "step.bin"})
    std::filesystem::permissions(folder.path(name), std::filesystem::perms(0555));
  run("step.bin --set data.path=t.tok", [] {
    // Nothing is read-only for root.
    if (geteuid() == 0 && setuid(65534) != 0)
      _exit(98);
  });
  EXPECT_EQ(code, 1);
  EXPECT_EQ(out, "");
  EXPECT_EQ(err, "reciperun: error: output/reciperun.lock: cannot be created: Permission denied\n");
  std::filesystem::permissions(folder.path(""), std::filesystem::perms(0755));
}

TEST_F(OutputFolderTest, WeightsThatDoNotFitAreRefused) {
  expectRefused("o", "model.safetensors: the disk must have room for its 1152921504606846976 bytes, got ",
                withWeights(uint64_t(1) << 60));
  rlimit old;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  rlimit low = {999, old.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &low), 0);
  std::string fits = open("o", withWeights(999)), doesNot = open("o", withWeights(1000));
  setrlimit(RLIMIT_FSIZE, &old);
  EXPECT_EQ(fits, "");
  EXPECT_NE(doesNot.find("model.safetensors: the limit on the size of files (ulimit -f) must be at least its 1000 "
                         "bytes, got 999"),
            std::string::npos)
      << doesNot;
  EXPECT_FALSE(exists("o"));
}

// 16 TiB of weights: refused before anything asks for memory.
TEST_F(OutputFolderTest, TheRunAsksForTheRoomOfItsWeights) {
  abi::Step step = makeLineStep();
  abi::Certificate::Row *row = step.mutable_certificate()->mutable_rows(0);
  abi::Parameter *parameter = step.add_parameters();
  parameter->set_name("huge");
  parameter->set_hf_name("model.huge");
  parameter->add_shape(int64_t(1) << 42);
  parameter->add_hf_shape(int64_t(1) << 42);
  parameter->set_slice_dim(-1);
  parameter->set_buffer(uint32_t(step.buffers_size()));
  abi::Buffer *buffer = step.add_buffers();
  *buffer = step.buffers(0);
  buffer->set_name("param:huge");
  buffer->set_shape(0, int64_t(1) << 42);
  buffer->set_offset((row->state_bytes() + 63) / 64 * 64);
  buffer->set_bytes(uint64_t(1) << 44);
  row->set_state_bytes(buffer->offset() + buffer->bytes());
  row->set_total_bytes(row->state_bytes() + row->input_bytes() + row->transient_bytes());
  folder.write("step.bin", bytesOf(step));
  run("step.bin --set data.path=t.tok");
  EXPECT_EQ(code, 1);
  EXPECT_EQ(err.find("reciperun: error: output/model.safetensors: the disk must have room for its 17592186"), 0u)
      << err;
  EXPECT_EQ(out, "");
  EXPECT_FALSE(exists("output"));
}

TEST_F(OutputFolderTest, ASecondRunIntoTheFolderOfARunIsRefused) {
  std::unique_ptr<ChildProcess> first = start("", [] {
    ChildProcess::redirect(STDOUT_FILENO, "/dev/null");
    ChildProcess::redirect(STDERR_FILENO, "/dev/null");
  });
  std::string started = folder.read("output/metrics.jsonl").substr(0, 50);
  for (const char *more : {"", " --overwrite"}) {
    run(std::string("step.bin --set data.path=t.tok") + more);
    EXPECT_EQ(code, 1);
    EXPECT_EQ(out, "");
    EXPECT_EQ(err,
              "reciperun: error: one run at a time may write to a folder; output/reciperun.lock: held by process " +
                  std::to_string(first->id()) + "\n");
  }
  EXPECT_EQ(folder.read("output/metrics.jsonl").substr(0, 50), started);
  kill(first->id(), SIGKILL);
  EXPECT_EQ(first->wait(), -SIGKILL);
  run("step.bin --set data.path=t.tok --overwrite");
  EXPECT_EQ(code, 0) << err;
  EXPECT_EQ(metrics().size(), 10u);
}

TEST_F(OutputFolderTest, OverwriteReplacesOnceTheRunReallyStarts) {
  run("step.bin --set data.path=t.tok --steps 3");
  ASSERT_EQ(code, 0) << err;
  auto before = contents("output");
  ASSERT_TRUE(before.count("metrics.jsonl") && before.count("model.safetensors"));
  for (const char *refused :
       {"--steps 0", "--overwrite --steps 11", "--overwrite --set data.path=none.tok", "--overwrite --threads 99"}) {
    run(std::string("step.bin --set data.path=t.tok ") + refused);
    EXPECT_EQ(code, 1) << refused;
    EXPECT_EQ(contents("output"), before) << refused;
  }
  // A run that starts and fails replaces the metrics; the weights stay until there are new ones.
  run("step.bin --set data.path=t.tok --overwrite --set optim.lr=1e30");
  EXPECT_EQ(code, 1);
  auto after = contents("output");
  EXPECT_NE(after["metrics.jsonl"], before["metrics.jsonl"]);
  EXPECT_EQ(after["model.safetensors"], before["model.safetensors"]);
  run("step.bin --set data.path=t.tok --overwrite");
  EXPECT_EQ(code, 0) << err;
  EXPECT_EQ(metrics().size(), 10u);
  EXPECT_NE(contents("output")["model.safetensors"], before["model.safetensors"]);
}

} // namespace recipe::test
