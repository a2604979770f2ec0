#include "runtime/executor/Executor.h"
#include "runtime/device/cpu/FloatingPoint.h"
#include "tests/abi/HandWrittenStep.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <thread>
#include <tuple>
#include <unistd.h>

namespace recipe::test {

static std::unique_ptr<rt::Executor> makeExecutor(const abi::Step &step, int threads,
                                                  std::vector<std::string> overrides = {}) {
  rt::LoadOptions options;
  options.overrides = std::move(overrides);
  absl::StatusOr<rt::LoadedStep> loaded = rt::loadStep(bytesOf(step), options);
  EXPECT_TRUE(loaded.ok()) << loaded.status().message();
  rt::ExecutorOptions executorOptions;
  executorOptions.threads = threads;
  auto executor = rt::Executor::create(std::move(*loaded), executorOptions);
  EXPECT_TRUE(executor.ok()) << executor.status().message();
  return std::move(*executor);
}

template <typename T> static std::vector<T> read(rt::Executor &executor, const std::string &name, int slot = 0) {
  auto bytes = executor.buffer(name, slot);
  EXPECT_TRUE(bytes.ok()) << bytes.status().message();
  std::vector<T> values(bytes->size() / sizeof(T));
  std::memcpy(values.data(), bytes->data(), bytes->size());
  return values;
}

/// Factorings of one global batch of 8 samples into micro-batches; the last two take whole segments at once.
static std::vector<LineShape> factorings() {
  std::vector<LineShape> shapes;
  for (int64_t batch : {1, 2, 4, 8}) {
    LineShape shape;
    shape.batch = batch;
    shapes.push_back(shape);
  }
  return shapes;
}

TEST(Executor, TrainsLikePlainCode) {
  for (const LineShape &shape : factorings())
    for (int threads : {1, 2}) {
      LineSource source(shape);
      auto executor = makeExecutor(makeLineStep(shape), threads);
      executor->initialize();
      ASSERT_TRUE(executor->begin(source, 0).ok());
      for (int64_t step = 0; step < 5; ++step) {
        auto result = executor->runStep();
        ASSERT_TRUE(result.ok());
        LineReference expected = lineReference(shape, step + 1, 0.125, 0.75, 1);
        EXPECT_EQ(result->step, step);
        EXPECT_EQ(result->learningRate, 0.125 * std::pow(0.75, double(step)));
        EXPECT_EQ(result->loss, expected.loss) << shape.batch;
        EXPECT_EQ(result->gradNorm, expected.gradNorm) << shape.batch;
        EXPECT_FALSE(result->skipped);
        std::vector<float> line = read<float>(*executor, "param:line");
        EXPECT_EQ(line[0], expected.line[0]) << shape.batch << " " << threads << " " << step;
        EXPECT_EQ(line[1], expected.line[1]);
      }
    }
}

TEST(Executor, LossFalls) {
  LineShape shape;
  LineSource source(shape);
  auto executor = makeExecutor(makeLineStep(shape), 2, {"optim.lr=0.05", "optim.decay=1"});
  executor->initialize();
  ASSERT_TRUE(executor->begin(source, 0).ok());
  double first = executor->runStep()->loss, last = 0;
  for (int step = 1; step < 300; ++step)
    last = executor->runStep()->loss;
  EXPECT_LT(last, 0.02 * first);
}

TEST(Executor, PredicatesHoldWhenTheyShould) {
  // counters: ALWAYS, FIRST, LAST, SEGMENT_BEGIN, SEGMENT_END, ACCUMULATING in one step
  const std::vector<std::vector<int64_t>> expected = {
      {8, 1, 1, 4, 4, 4}, {4, 1, 1, 4, 4, 4}, {2, 1, 1, 2, 2, 2}, {1, 1, 1, 1, 1, 0}};
  std::vector<LineShape> shapes = factorings();
  for (size_t i = 0; i < shapes.size(); ++i) {
    LineSource source(shapes[i]);
    auto executor = makeExecutor(makeLineStep(shapes[i]), 1);
    ASSERT_TRUE(executor->begin(source, 0).ok());
    ASSERT_TRUE(executor->runStep().ok());
    EXPECT_EQ(read<int64_t>(*executor, "counters"), expected[i]) << shapes[i].batch;
  }
}

TEST(Executor, KernelsFlushDenormalsOnEveryThread) {
  LineShape shape;
  shape.batch = 8;
  LineSource source(shape);
  auto executor = makeExecutor(makeLineStep(shape), 2);
  ASSERT_TRUE(executor->begin(source, 0).ok());
  for (int step = 0; step < 50; ++step) {
    ASSERT_TRUE(executor->runStep().ok());
    for (uint32_t environment : read<uint32_t>(*executor, "environment"))
      EXPECT_EQ(environment & ~63u, rt::kKernelMxcsr) << "or scratch is not aligned";
  }
}

TEST(Executor, AsksForEveryMicrobatchOnceAndInOrder) {
  LineShape shape;
  LineSource source(shape);
  std::vector<std::pair<int64_t, int64_t>> expected;
  {
    auto executor = makeExecutor(makeLineStep(shape), 1);
    ASSERT_TRUE(executor->begin(source, 7).ok());
    for (int step = 0; step < 3; ++step)
      ASSERT_TRUE(executor->runStep().ok());
  }
  for (int64_t step = 7; step < 11; ++step)
    for (int64_t microbatch = 0; microbatch < 4; ++microbatch)
      expected.emplace_back(step, microbatch);
  // Two at most are prepared ahead.
  ASSERT_GE(source.calls.size(), 12u);
  ASSERT_LE(source.calls.size(), 14u);
  expected.resize(source.calls.size());
  EXPECT_EQ(source.calls, expected);
}

TEST(Executor, KeysOfTheDataLoaderCount) {
  for (auto [workers, depth, most] : {std::tuple{0, 9, 0u}, {1, 5, 5u}, {3, 7, 7u}}) {
    LineShape shape;
    LineSource source(shape);
    auto executor =
        makeExecutor(makeLineStep(shape), 1,
                     {"data.num_workers=" + std::to_string(workers), "data.prefetch_depth=" + std::to_string(depth)});
    ASSERT_TRUE(executor->begin(source, 0).ok());
    for (int i = 0; i < 1000 && source.callCount() < most; ++i)
      usleep(1000);
    usleep(20000);
    EXPECT_EQ(source.callCount(), most);
    executor->initialize();
    LineReference expected = lineReference(shape, 1, 0.125, 0.75, 1);
    EXPECT_EQ(executor->runStep()->loss, expected.loss);
    EXPECT_EQ(source.threadCount() == 1 && source.onThread(std::this_thread::get_id()), workers == 0);
  }
}

TEST(Executor, SourceErrorsReachTheCaller) {
  LineShape shape;
  LineSource source(shape);
  source.failAtStep = 1;
  auto executor = makeExecutor(makeLineStep(shape), 1);
  ASSERT_TRUE(executor->begin(source, 0).ok());
  ASSERT_TRUE(executor->runStep().ok());
  auto result = executor->runStep();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().message(), "the source fails here");
}

namespace {

/// Seven samples in batches of B; the last batch is short.
class LineEvaluation : public rt::EvaluationSource {
public:
  explicit LineEvaluation(const LineShape &shape) : shape(shape) {}
  int64_t batchCount() const override { return (7 + shape.batch - 1) / shape.batch; }
  absl::Status fill(int64_t batch, const rt::MicroBatch &out) override {
    for (int64_t i = 0; i < out.samples; ++i)
      for (int64_t t = 0; t < out.length; ++t) {
        int64_t sample = batch * out.samples + i;
        out.tokens[i * out.length + t] = lineToken(sample + 1000, t);
        out.labels[i * out.length + t] = sample < 7 ? lineLabel(sample + 1000, t) : rt::kIgnoredLabel;
      }
    return absl::OkStatus();
  }

private:
  LineShape shape;
};

} // namespace

TEST(Executor, EvaluationIsTokenWeightedAndLeavesTrainingAlone) {
  double loss = 0;
  for (const LineShape &shape : factorings()) {
    LineSource a(shape), b(shape);
    LineEvaluation evaluation(shape);
    auto with = makeExecutor(makeLineStep(shape), 1), without = makeExecutor(makeLineStep(shape), 1);
    with->initialize();
    without->initialize();
    auto start = with->evaluate(evaluation);
    ASSERT_TRUE(start.ok());
    if (loss != 0) {
      EXPECT_NEAR(start->loss, loss, 1e-12 * loss) << "batch " << shape.batch;
    }
    loss = start->loss;
    ASSERT_TRUE(with->begin(a, 0).ok());
    ASSERT_TRUE(without->begin(b, 0).ok());
    for (int step = 0; step < 4; ++step) {
      auto x = with->runStep(), y = without->runStep();
      EXPECT_EQ(x->loss, y->loss);
      rcp_step_params_v1 before = with->params();
      ASSERT_TRUE(with->evaluate(evaluation).ok());
      EXPECT_EQ(std::memcmp(&before, &with->params(), sizeof before), 0);
    }
    EXPECT_EQ(read<float>(*with, "param:line"), read<float>(*without, "param:line"));
  }
}

namespace {

/// Good data with one value overwritten: an array (0 tokens, 1 labels, 2 positions) of sample 1 at position 2.
struct OneBadValue : rt::BatchSource, rt::EvaluationSource {
  OneBadValue(const LineShape &shape, int array, int32_t value) : good(shape), array(array), value(value) {}
  int64_t batchCount() const override { return 1; }
  absl::Status fill(int64_t batch, const rt::MicroBatch &out) override { return fill(0, batch, out); }
  absl::Status fill(int64_t step, int64_t microbatch, const rt::MicroBatch &out) override {
    absl::Status status = good.fill(step, microbatch, out);
    (array == 0 ? out.tokens : array == 1 ? out.labels : out.positions)[out.length + 2] = value;
    return status;
  }
  LineSource good;
  int array;
  int32_t value;
};

} // namespace

// Kernels index by ids without looking: whatever source they come from, the executor has looked.
TEST(Executor, RefusesIdsThatKernelsMustNotSee) {
  LineShape shape;
  shape.batch = 2;
  struct Case {
    int array;
    int32_t value;
    const char *message; // "" where the value is legal
  };
  const Case cases[] = {
      {0, 255, ""},
      {0, 256, "tokens of a micro-batch must be below 256 and not negative, got 256 in sample 1 at position 2"},
      {0, -1, "tokens of a micro-batch must be below 256 and not negative, got -1 in sample 1 at position 2"},
      {1, -2147483647 - 1, ""},
      {1, 256, "labels of a micro-batch must be below 256, got 256 in sample 1 at position 2"},
      {2, 0, ""},
      {2, 1 << 20, "positions of a micro-batch must be below "},
      {2, -1, "positions of a micro-batch must be below "},
  };
  for (const Case &c : cases) {
    OneBadValue source(shape, c.array, c.value);
    auto executor = makeExecutor(makeLineStep(shape), 1);
    auto evaluated = executor->evaluate(source);
    ASSERT_TRUE(executor->begin(source, 0).ok());
    auto trained = executor->runStep();
    for (const absl::Status &status : {evaluated.status(), trained.status()})
      if (*c.message)
        EXPECT_EQ(status.message().substr(0, std::strlen(c.message)), c.message);
      else
        EXPECT_TRUE(status.ok()) << status;
  }
}

TEST(Executor, RunsOneProgramAndReadsBuffers) {
  LineShape shape;
  auto executor = makeExecutor(makeLineStep(shape), 1, {"experiment.seed=3"});
  ASSERT_TRUE(executor->runProgram("init").ok());
  EXPECT_EQ(read<float>(*executor, "param:line"), (std::vector<float>{0.625f, -0.5f}));
  EXPECT_EQ(read<float>(*executor, "const:scale")[0], 0.0625f);
  LineSource source(shape);
  int32_t *slot0[2];
  for (int i = 0; i < 2; ++i)
    slot0[i] = reinterpret_cast<int32_t *>(executor->buffer(i ? "input:labels" : "input:tokens")->data());
  std::vector<int32_t> positions(size_t(shape.batch * shape.length));
  ASSERT_TRUE(source.fill(0, 2, {slot0[0], slot0[1], positions.data(), shape.batch, shape.length}).ok());
  ASSERT_TRUE(executor->runProgram("forward", 2).ok());
  std::vector<float> residual = read<float>(*executor, "residual");
  EXPECT_EQ(residual[0], 0.625f * (float(lineToken(4, 0)) * 0.0625f) - 0.5f - float(lineLabel(4, 0)) * 0.0625f);
  EXPECT_EQ(residual[1], 0.0f) << "a label that does not count";
  EXPECT_EQ(executor->params().microbatch, 2);
  EXPECT_EQ(executor->params().first_sample, 4);
  EXPECT_FALSE(executor->runProgram("nothing").ok());
  EXPECT_FALSE(executor->buffer("nothing").ok());
}

TEST(Executor, NonFiniteUpdateIsSkippedAndNamed) {
  LineShape shape;
  LineSource source(shape);
  auto executor = makeExecutor(makeLineStep(shape), 1);
  executor->initialize();
  ASSERT_TRUE(executor->begin(source, 0).ok());
  ASSERT_TRUE(executor->runStep().ok());
  EXPECT_EQ(executor->firstBadParameter(), "");
  float nan = std::nanf("");
  std::memcpy(executor->buffer("param:line")->data(), &nan, 4);
  auto result = executor->runStep();
  EXPECT_TRUE(result->skipped);
  EXPECT_TRUE(std::isnan(result->loss));
  EXPECT_EQ(executor->firstBadParameter(), "line");
}

TEST(Executor, RefusesThreadsBeyondTheTarget) {
  absl::StatusOr<rt::LoadedStep> loaded = rt::loadStep(bytesOf(makeLineStep()), {});
  rt::ExecutorOptions options;
  options.threads = 5;
  auto executor = rt::Executor::create(std::move(*loaded), options);
  ASSERT_FALSE(executor.ok());
  EXPECT_EQ(executor.status().message(), "the number of threads must be 1..target.max_threads, got 5 and 4");
}

TEST(Executor, RefusesMoreMemoryThanThereIs) {
  abi::Step step = makeLineStep();
  abi::Certificate::Row *row = step.mutable_certificate()->mutable_rows(0);
  row->set_state_bytes(uint64_t(1) << 45);
  row->set_total_bytes(row->state_bytes() + row->input_bytes() + row->transient_bytes());
  absl::StatusOr<rt::LoadedStep> loaded = rt::loadStep(bytesOf(step), {});
  ASSERT_TRUE(loaded.ok());
  auto executor = rt::Executor::create(std::move(*loaded), {});
  ASSERT_FALSE(executor.ok());
  EXPECT_NE(executor.status().message().find("the step needs 32768.00 GiB"), absl::string_view::npos);
}

TEST(Executor, TimesInstructionsWhenAsked) {
  absl::StatusOr<rt::LoadedStep> loaded = rt::loadStep(bytesOf(makeLineStep()), {});
  rt::ExecutorOptions options;
  options.threads = 1;
  options.timed = true;
  LineSource source{LineShape{}};
  auto executor = rt::Executor::create(std::move(*loaded), options);
  ASSERT_TRUE((*executor)->begin(source, 0).ok());
  ASSERT_TRUE((*executor)->runStep().ok());
  for (const auto &program : (*executor)->allPrograms())
    if (program->name() == "forward") {
      EXPECT_EQ(program->timings()[0].runs, 4);
      EXPECT_GT(program->timings()[0].nanoseconds, 0);
    }
}

} // namespace recipe::test
