// The executor as one rank of several, on the hand-written step; the ranks are threads of this process.
#include "tests/unit/comm/Ranks.h"
#include "runtime/executor/Executor.h"
#include "tests/abi/HandWrittenStep.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

namespace recipe::test {
namespace {

LineShape shapeFor(int64_t batch) {
  LineShape shape;
  shape.batch = batch;
  shape.ranks = {1, 2, 4};
  return shape;
}

std::unique_ptr<rt::Executor> rankExecutor(const LineShape &shape, rt::Communicator &comm, int threads = 1,
                                           double timeout = 60) {
  rt::LoadOptions options;
  options.ranks = comm.size();
  absl::StatusOr<rt::LoadedStep> loaded = rt::loadStep(bytesOf(makeLineStep(shape)), options);
  EXPECT_TRUE(loaded.ok()) << loaded.status();
  rt::ExecutorOptions executorOptions;
  executorOptions.threads = threads;
  executorOptions.communicator = comm.size() > 1 ? &comm : nullptr;
  executorOptions.communication.timeoutSeconds = timeout;
  auto executor = rt::Executor::create(std::move(*loaded), executorOptions);
  EXPECT_TRUE(executor.ok()) << executor.status();
  return std::move(*executor);
}

class FixedSet : public rt::EvaluationSource {
public:
  FixedSet(int64_t count, int64_t failAt = -1) : count(count), failAt(failAt) {}
  int64_t batchCount() const override { return count; }
  absl::Status fill(int64_t batch, const rt::MicroBatch &out) override {
    filled.push_back(batch);
    if (batch == failAt)
      return absl::DataLossError("the set fails here");
    for (int64_t i = 0; i < out.samples * out.length; ++i) {
      out.tokens[i] = int32_t((batch * 31 + i * 7) % 64);
      out.labels[i] = int32_t((batch * 5 + i * 3) % 61);
      out.positions[i] = 0;
    }
    return absl::OkStatus();
  }
  std::vector<int64_t> filled;

private:
  int64_t count, failAt;
};

} // namespace

TEST(Ranks, TrainTogetherLikeOne) {
  constexpr int kSteps = 4;
  for (int64_t batch : {1, 2})
    for (int ranks : {1, 2, 4})
      for (int threads : {1, 2}) {
        LineShape shape = shapeFor(batch);
        onRanks(ranks, [&](rt::Communicator &comm) {
          LineSource source(shape);
          auto executor = rankExecutor(shape, comm, threads);
          EXPECT_EQ(executor->rank(), comm.rank());
          executor->initialize();
          ASSERT_TRUE(executor->begin(source, 0).ok());
          for (int64_t step = 0; step < kSteps; ++step) {
            auto result = executor->runStep();
            ASSERT_TRUE(result.ok()) << result.status();
            LineReference expected = lineReference(shape, step + 1, 0.125, 0.75, 1);
            EXPECT_DOUBLE_EQ(result->loss, expected.loss); // the kernels add it in fp64 without an order
            EXPECT_EQ(result->gradNorm, expected.gradNorm);
            EXPECT_EQ(result->commBytes > 0, ranks > 1);
            float line[2];
            std::memcpy(line, executor->buffer("param:line")->data(), sizeof line);
            EXPECT_EQ(line[0], expected.line[0]) << batch << " " << ranks << " " << threads << " " << step;
            EXPECT_EQ(line[1], expected.line[1]);
          }
        });
      }
}

// Rank r owns samples [r G/N, (r+1) G/N).
TEST(Ranks, AskForTheirOwnSamples) {
  LineShape shape = shapeFor(1);
  onRanks(4, [&](rt::Communicator &comm) {
    LineSource source(shape);
    {
      auto executor = rankExecutor(shape, comm);
      ASSERT_TRUE(executor->begin(source, 3).ok());
      ASSERT_TRUE(executor->runStep().ok());
      EXPECT_EQ(executor->runProgram("forward", 1), absl::OkStatus());
      EXPECT_EQ(executor->params().first_sample, comm.rank() * 2 + 1);
      EXPECT_EQ(executor->params().node, 0);
      EXPECT_EQ(executor->params().node_count, 1);
    }
    std::sort(source.calls.begin(), source.calls.end());
    ASSERT_GE(source.calls.size(), 2u);
    EXPECT_EQ(source.calls[0], std::pair(int64_t(3), int64_t(comm.rank() * 2)));
    EXPECT_EQ(source.calls[1], std::pair(int64_t(3), int64_t(comm.rank() * 2 + 1)));
  });
}

TEST(Ranks, ShareAnEvaluationAndAgreeOnIt) {
  double expected = 0;
  for (int ranks : {1, 2, 4})
    onRanks(ranks, [&](rt::Communicator &comm) {
      LineShape shape = shapeFor(2);
      FixedSet set(7);
      auto executor = rankExecutor(shape, comm);
      executor->initialize();
      auto result = executor->evaluate(set);
      ASSERT_TRUE(result.ok()) << result.status();
      if (ranks == 1)
        expected = result->loss;
      EXPECT_EQ(result->loss, expected) << ranks;
      EXPECT_EQ(result->validTokens, 7 * 2 * 8);
      std::vector<int64_t> own;
      for (int64_t batch = comm.rank(); batch < 7; batch += ranks)
        own.push_back(batch);
      EXPECT_EQ(set.filled, own);
    });
  EXPECT_GT(expected, 0);
}

TEST(Ranks, FailTogetherInAnEvaluation) {
  onRanks(2, [&](rt::Communicator &comm) {
    FixedSet set(6, /*failAt=*/3);
    auto executor = rankExecutor(shapeFor(2), comm);
    auto result = executor->evaluate(set);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.status().message(), comm.rank() == 1 ? "the set fails here" : "rank 1 could not evaluate");
  });
}

TEST(Ranks, DoNotWaitForeverForOneThatIsGone) {
  onRanks(2, [&](rt::Communicator &comm) {
    LineShape shape = shapeFor(2);
    LineSource source(shape);
    auto executor = rankExecutor(shape, comm, 1, /*timeout=*/0.2);
    ASSERT_TRUE(executor->begin(source, 0).ok());
    ASSERT_TRUE(executor->runStep().ok());
    if (comm.rank() == 1)
      return;
    auto result = executor->runStep();
    ASSERT_FALSE(result.ok());
    EXPECT_NE(result.status().message().find("all-reduce of grad:line (op "), absl::string_view::npos)
        << result.status().message();
  });
}

TEST(Ranks, RefuseAnotherNumber) {
  rt::LoadOptions options;
  options.ranks = 2;
  absl::StatusOr<rt::LoadedStep> loaded = rt::loadStep(bytesOf(makeLineStep(shapeFor(2))), options);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  auto executor = rt::Executor::create(std::move(*loaded), {});
  ASSERT_FALSE(executor.ok());
  EXPECT_EQ(executor.status().message(), "a step must run on the number of ranks it was loaded for, got 1 and 2");
}

} // namespace recipe::test
