// Checkpoints of several ranks: one writes, all read, and an error of one is an error of all.
#include "runtime/tools/Checkpointing.h"
#include "runtime/checkpoint/CheckpointFolder.h"
#include "runtime/comm/ThreadCommunicator.h"
#include "tests/abi/HandWrittenStep.h"
#include "tests/unit/TempFolder.h"
#include <cstring>
#include <gtest/gtest.h>
#include <thread>

namespace recipe::test {

namespace {

/// One rank's part of a run. The step itself is one of a single rank: only checkpoints are shared here.
struct Rank {
  Rank(rt::Communicator &communicator, const TempFolder &folder, const std::string &resume) {
    auto loaded = rt::loadStep(bytesOf(makeLineStep()), {});
    EXPECT_TRUE(loaded.ok()) << loaded.status();
    rt::ExecutorOptions executorOptions;
    executorOptions.threads = 1;
    executor = *rt::Executor::create(std::move(*loaded), executorOptions);
    executor->initialize();
    rt::CheckpointingOptions options;
    options.outputDir = folder.path("run");
    options.resume = resume;
    options.communicator = &communicator;
    options.timeoutSeconds = 20;
    options.out = std::fopen("/dev/null", "w");
    checkpoints = *rt::Checkpointing::create(*executor, options);
    out = options.out;
  }
  ~Rank() {
    checkpoints.reset();
    std::fclose(out);
  }
  std::vector<float> line() const {
    std::vector<float> values(2);
    std::memcpy(values.data(), executor->buffer("param:line")->data(), 8);
    return values;
  }

  FILE *out;
  std::unique_ptr<rt::Executor> executor;
  std::unique_ptr<rt::Checkpointing> checkpoints;
};

struct CheckpointingTest : testing::Test {
  /// Runs `body` on each of three ranks.
  void onRanks(const std::string &resume, const std::function<void(int, Rank &)> &body) {
    std::filesystem::create_directories(folder.path("run"));
    std::vector<std::unique_ptr<rt::Communicator>> communicators = rt::makeThreadCommunicators(3);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < 3; ++rank)
      threads.emplace_back([&, rank] {
        Rank one(*communicators[size_t(rank)], folder, resume);
        body(rank, one);
      });
    for (std::thread &thread : threads)
      thread.join();
  }

  TempFolder folder;
};

} // namespace

TEST_F(CheckpointingTest, OneRankWritesAndAllGoOn) {
  std::vector<float> saved;
  onRanks("", [&](int rank, Rank &one) {
    EXPECT_EQ(*one.checkpoints->restore(), 0);
    EXPECT_TRUE(one.checkpoints->settle().ok());
    LineSource source{LineShape{}};
    ASSERT_TRUE(one.executor->begin(source, 0).ok());
    ASSERT_TRUE(one.executor->runStep().ok());
    EXPECT_TRUE(one.checkpoints->end(1).ok());
    if (rank == 0)
      saved = one.line();
    one.checkpoints.reset(), one.executor.reset(); // which reads ahead of `source`
  });
  ASSERT_EQ(*rt::listCheckpoints(folder.path("run/checkpoints")), std::vector<int64_t>{1});
  onRanks("latest", [&](int, Rank &one) {
    EXPECT_NE(one.line(), saved);
    EXPECT_EQ(*one.checkpoints->restore(), 1);
    EXPECT_EQ(one.line(), saved);
    EXPECT_TRUE(one.checkpoints->settle().ok());
    EXPECT_TRUE(one.checkpoints->end(1).ok());
  });
}

TEST_F(CheckpointingTest, NoRankGoesOnAlone) {
  onRanks("latest", [&](int rank, Rank &one) {
    absl::Status status = one.checkpoints->restore().status();
    EXPECT_NE(status.message().find("no checkpoint found"), std::string::npos) << "rank " << rank << ": " << status;
  });
  onRanks("", [&](int rank, Rank &one) {
    // The folder's place is taken before the first save.
    if (rank == 0)
      folder.write("run/checkpoints", "a file");
    absl::Status status = one.checkpoints->end(1);
    EXPECT_NE(status.message().find("the folder cannot be created"), std::string::npos) << "rank " << rank;
  });
}

} // namespace recipe::test
