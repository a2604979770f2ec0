// What the ring gives is a matter of the source alone; workers and depth decide when and by whom it is filled.
#include "runtime/executor/Prefetcher.h"
#include "tests/abi/HandWrittenStep.h"
#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <set>

namespace recipe::test {

namespace {

/// Each value tells its place; calls can be held up, and are noted.
class Places : public rt::BatchSource {
public:
  absl::Status fill(int64_t step, int64_t microbatch, const rt::MicroBatch &out) override {
    {
      std::unique_lock<std::mutex> lock(mutex);
      threads.insert(std::this_thread::get_id());
      calls.emplace_back(step, microbatch);
      most = std::max(most, ++running);
      met = met || running >= together;
      changed.notify_all();
      changed.wait_for(lock, std::chrono::seconds(5), [&] { return met; });
    }
    for (int64_t i = 0; i < out.samples * out.length; ++i) {
      out.tokens[i] = value(step, microbatch, i);
      out.labels[i] = out.tokens[i] + 1;
      out.positions[i] = out.tokens[i] + 2;
    }
    std::lock_guard<std::mutex> lock(mutex);
    --running;
    return step == failAt ? absl::DataLossError("no such step") : absl::OkStatus();
  }

  static int32_t value(int64_t step, int64_t microbatch, int64_t i) {
    return int32_t(10000 * step + 100 * microbatch + i);
  }
  size_t callCount() {
    std::lock_guard<std::mutex> lock(mutex);
    return calls.size();
  }

  std::vector<std::pair<int64_t, int64_t>> calls;
  std::set<std::thread::id> threads;
  int together = 1, running = 0, most = 0; // calls that must be under way at once before any goes on
  int64_t failAt = -1;

private:
  bool met = false;
  std::mutex mutex;
  std::condition_variable changed;
};

rt::PrefetchOptions options(int64_t workers, int64_t depth) {
  rt::PrefetchOptions options;
  options.firstStep = 5;
  options.microbatches = 3;
  options.samples = 2;
  options.length = 4;
  options.workers = workers;
  options.depth = depth;
  options.cpus = {0};
  return options;
}

/// A micro-batch of 2 x 4.
struct Storage {
  int32_t values[24];
  rt::MicroBatch view() { return {values, values + 8, values + 16, 2, 4}; }
};

/// Waits, a second at most.
bool eventually(const std::function<bool()> &holds) {
  for (int i = 0; i < 1000 && !holds(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return holds();
}

} // namespace

TEST(Prefetcher, GivesTheSameForAnyWorkersAndDepth) {
  for (int64_t workers : {0, 1, 2, 5})
    for (int64_t depth : {1, 2, 3, 7}) {
      Places source;
      rt::Prefetcher prefetcher(source, options(workers, depth));
      for (int64_t n = 0; n < 40; ++n) {
        Storage got;
        ASSERT_TRUE(prefetcher.next(got.view()).ok());
        for (int i = 0; i < 8; ++i) {
          int32_t expected = Places::value(5 + n / 3, n % 3, i);
          ASSERT_EQ(got.values[i], expected) << workers << " workers, depth " << depth << ", number " << n;
          ASSERT_EQ(got.values[8 + i], expected + 1);
          ASSERT_EQ(got.values[16 + i], expected + 2);
        }
      }
    }
}

TEST(Prefetcher, ARankTakesItsMicrobatches) {
  Places source;
  rt::PrefetchOptions second = options(0, 1);
  second.firstMicrobatch = 3;
  rt::Prefetcher prefetcher(source, second);
  Storage got;
  for (int i = 0; i < 4; ++i)
    ASSERT_TRUE(prefetcher.next(got.view()).ok());
  EXPECT_EQ(source.calls, (std::vector<std::pair<int64_t, int64_t>>{{5, 3}, {5, 4}, {5, 5}, {6, 3}}));
}

TEST(Prefetcher, DepthIsHowFarItRunsAhead) {
  for (size_t depth : {1, 4}) {
    Places source;
    rt::Prefetcher prefetcher(source, options(1, int64_t(depth)));
    EXPECT_TRUE(eventually([&] { return source.callCount() == depth; }));
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    EXPECT_EQ(source.callCount(), depth) << "not further";
    Storage got;
    ASSERT_TRUE(prefetcher.next(got.view()).ok());
    EXPECT_TRUE(eventually([&] { return source.callCount() == depth + 1; }));
  }
}

TEST(Prefetcher, WorkersFillAtTheSameTime) {
  Places source;
  source.together = 3;
  {
    rt::Prefetcher prefetcher(source, options(3, 3));
    Storage got;
    ASSERT_TRUE(prefetcher.next(got.view()).ok());
  }
  EXPECT_EQ(source.threads.size(), 3u);
  EXPECT_EQ(source.most, 3);
}

TEST(Prefetcher, WithoutWorkersTheCallerReads) {
  Places source;
  rt::Prefetcher prefetcher(source, options(0, 4));
  EXPECT_TRUE(source.calls.empty());
  Storage got;
  ASSERT_TRUE(prefetcher.next(got.view()).ok());
  EXPECT_EQ(source.threads, std::set<std::thread::id>{std::this_thread::get_id()});
  EXPECT_EQ(source.calls.size(), 1u);
}

TEST(Prefetcher, AnErrorComesWhenItsTurnComes) {
  for (int64_t workers : {0, 1, 3}) {
    Places source;
    source.failAt = 6;
    rt::Prefetcher prefetcher(source, options(workers, 4));
    Storage got;
    for (int i = 0; i < 3; ++i)
      EXPECT_TRUE(prefetcher.next(got.view()).ok()) << workers;
    EXPECT_EQ(prefetcher.next(got.view()).message(), "no such step") << workers;
  }
}

} // namespace recipe::test
