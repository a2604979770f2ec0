// One step.bin on 1, 2 and 4 ranks and 1 and 2 threads: the same bits everywhere. The ranks are threads of this
// process; dropout is on, GPT-2's embedding is tied, Llama's heads share keys and values.
#include "tests/e2e/Workspace.h"
#include "tests/numerics/NativeRun.h"
#include "tests/unit/comm/Ranks.h"
#include <cstdio>
#include <gtest/gtest.h>

namespace recipe::test {

namespace {

/// What a run leaves: losses and norms as text that stands for their bits, and the bytes of parameters and optimizer.
struct Trace {
  std::string updates, evaluation;
  std::map<std::string, std::string> state;
};

class NodesTest : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    if (isSplit(GetParam()) && !hasTiles())
      GTEST_SKIP() << "this machine has no AMX";
  }

  std::string compile(int batch, const std::string &more = "") {
    std::string name = "step-" + std::to_string(batch) + (more.empty() ? "" : "-other") + ".bin";
    space.must("recipec compile " + recipeArguments(GetParam()) + " --set data.batch_size=" + std::to_string(batch) +
               " --set optim.grad_accum_steps=" + std::to_string(16 / batch) + more + " -o " + name);
    return space.files().path(name);
  }

  std::unique_ptr<rt::Executor> open(const std::string &path, rt::Communicator &comm, int threads) {
    rt::LoadOptions options;
    options.ranks = comm.size();
    absl::StatusOr<rt::LoadedStep> loaded = rt::loadStepFile(path, options);
    EXPECT_TRUE(loaded.ok()) << loaded.status();
    rt::ExecutorOptions executorOptions;
    executorOptions.threads = threads;
    executorOptions.communicator = comm.size() > 1 ? &comm : nullptr;
    auto executor = rt::Executor::create(*std::move(loaded), executorOptions);
    EXPECT_TRUE(executor.ok()) << executor.status();
    return *std::move(executor);
  }

  rt::TextData openData(const abi::Manifest &manifest) {
    rt::TextDataOptions options = dataOptions(space.files().path("text.tok"), manifest);
    options.evalFraction = 0.2;
    absl::StatusOr<rt::TextData> data = rt::openTextData(options);
    EXPECT_TRUE(data.ok()) << data.status();
    return *std::move(data);
  }

  Trace train(const std::string &path, rt::Communicator &comm, int threads) {
    Trace trace;
    rt::TextData data; // outlives the executor, whose prefetch thread reads it
    std::unique_ptr<rt::Executor> executor = open(path, comm, threads);
    data = openData(executor->step().manifest());
    executor->initialize();
    EXPECT_TRUE(executor->begin(*data.training, 0).ok());
    for (int step = 0; step < kUpdates; ++step) {
      absl::StatusOr<rt::StepResult> result = executor->runStep();
      EXPECT_TRUE(result.ok()) << result.status();
      if (!result.ok())
        return trace;
      char line[100];
      std::snprintf(line, sizeof line, "%a %a\n", result->loss, result->gradNorm);
      trace.updates += line;
    }
    absl::StatusOr<rt::EvaluationResult> evaluation = executor->evaluate(*data.evaluation);
    EXPECT_TRUE(evaluation.ok()) << evaluation.status();
    char line[100];
    std::snprintf(line, sizeof line, "%a %ld", evaluation->loss, long(evaluation->validTokens));
    trace.evaluation = line;
    for (const abi::Buffer &buffer : executor->step().buffers())
      if (buffer.category() == "parameters" || buffer.category() == "optimizer") {
        auto bytes = executor->buffer(buffer.name());
        trace.state[buffer.name()].assign(reinterpret_cast<const char *>(bytes->data()), bytes->size());
      }
    return trace;
  }

  Workspace space;
};

} // namespace

// 16 samples have 8 batch segments of 2: a micro-batch of 4 is two segments, one of 2 is one, one of 1 half of one. So
// a rank of four has one to two nodes of the batch tree, and one of one up to eight.
TEST_P(NodesTest, EveryNumberOfRanksGivesTheSameBits) {
  Trace expected;
  std::vector<std::pair<int, std::string>> steps;
  for (int batch : {4, 2, 1})
    steps.push_back({batch, compile(batch)});
  steps.push_back({4, compile(4, " --set fusion.enabled=false")});
  for (const auto &[batch, path] : steps) {
    for (int ranks : {1, 2, 4})
      for (int threads : {1, 2})
        onRanks(ranks, [&, path = path, ranks, threads](rt::Communicator &comm) {
          Trace trace = train(path, comm, threads);
          if (expected.updates.empty()) {
            expected = trace;
            return;
          }
          std::string where = path + ", " + std::to_string(ranks) + " ranks, " + std::to_string(threads) +
                              " threads, rank " + std::to_string(comm.rank());
          EXPECT_EQ(trace.updates, expected.updates) << where;
          EXPECT_EQ(trace.evaluation, expected.evaluation) << where;
          ASSERT_EQ(trace.state.size(), expected.state.size());
          for (const auto &[name, bytes] : expected.state)
            EXPECT_TRUE(trace.state[name] == bytes) << where << ": " << name;
        });
  }
  EXPECT_GT(expected.state.size(), 40u);
}

// Every gradient, the loss and the count are summed, early: all but the last few in programs of the micro-batch.
TEST_P(NodesTest, EverySumIsIssuedInTheLastMicrobatch) {
  compile(2);
  abi::Step step = space.step("step-2.bin");
  std::set<std::string> summed;
  for (const abi::SubProgram &program : step.programs())
    for (const abi::Instruction &instruction : program.instructions())
      if (instruction.has_collective()) {
        EXPECT_TRUE(program.name() == "forward" || program.name() == "backward") << program.name();
        EXPECT_EQ(instruction.predicate(), abi::LAST_MICROBATCH);
        for (const abi::KernelArgument &argument : instruction.arguments())
          EXPECT_TRUE(summed.insert(step.buffers(int(argument.buffer())).name()).second) << "summed twice";
      }
  size_t gradients = 0;
  for (const abi::Parameter &parameter : step.parameters())
    for (uint32_t gradient : parameter.gradient_buffers()) {
      EXPECT_TRUE(summed.count(step.buffers(int(gradient)).name())) << parameter.name();
      ++gradients;
    }
  EXPECT_EQ(summed.size(), gradients + 2);
}

INSTANTIATE_TEST_SUITE_P(Models, NodesTest, testing::Values("gpt2", "llama", "llama-bf16", "llama-split"),
                         [](const auto &info) { return testName(info.param); });

} // namespace recipe::test
