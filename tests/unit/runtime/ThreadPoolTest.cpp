#include "runtime/device/cpu/ThreadPool.h"
#include "runtime/base/Clock.h"
#include "runtime/device/cpu/FloatingPoint.h"
#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <list>
#include <unistd.h>

namespace recipe::test {

namespace {

struct Record {
  std::vector<std::atomic<int>> runs;
  std::atomic<int> wrong{0};
  std::byte *scratch;
  size_t stride;
  int threads;
  explicit Record(size_t n) : runs(n) {}
};

} // namespace

/// Notes each workgroup, and whether its environment and scratch are as promised.
static void note(const rcp_launch_v1 *launch, int64_t workgroup, void *scratch) {
  auto *record = static_cast<Record *>(launch->buffers[0]);
  record->runs[size_t(workgroup)].fetch_add(1);
  auto offset = size_t(static_cast<std::byte *>(scratch) - record->scratch);
  auto *owner = static_cast<std::atomic<int> *>(scratch);
  if (_mm_getcsr() / 64 * 64 != rt::kKernelMxcsr / 64 * 64 || offset % record->stride != 0 ||
      offset / record->stride >= size_t(record->threads) || owner->fetch_add(1) != 0)
    record->wrong.fetch_add(1);
  owner->fetch_sub(1);
}

/// Launches of so many workgroups, together.
static void launchNotes(rt::ThreadPool &pool, const std::vector<int64_t> &workgroups) {
  alignas(64) static std::byte scratch[16 * 64];
  std::list<Record> records;
  std::list<std::array<void *, 1>> buffers;
  std::list<rcp_launch_v1> arguments;
  std::vector<rt::Launch> launches;
  for (int64_t count : workgroups) {
    Record &record = records.emplace_back(size_t(count));
    record.scratch = scratch;
    record.stride = 64;
    record.threads = pool.threads();
    rt::Launch &launch = launches.emplace_back();
    launch.kernel = note;
    launch.arguments =
        &arguments.emplace_back(rcp_launch_v1{buffers.emplace_back(std::array<void *, 1>{&record}).data()});
    launch.workgroups = count;
    launch.scratch = scratch;
    launch.scratchStride = 64;
  }
  pool.run(launches);
  for (const Record &record : records) {
    for (const std::atomic<int> &runs : record.runs)
      ASSERT_EQ(runs.load(), 1);
    ASSERT_EQ(record.wrong.load(), 0);
  }
}

static void launchNote(rt::ThreadPool &pool, int64_t workgroups) { launchNotes(pool, {workgroups}); }

TEST(ThreadPool, EveryWorkgroupOnceInItsEnvironment) {
  for (int threads : {1, 2, 3, 7}) {
    rt::ThreadPool pool(threads);
    for (int round = 0; round < 2000; ++round)
      launchNote(pool, 1 + round % 23);
    launchNote(pool, 100000);
  }
}

TEST(ThreadPool, LaunchesTogether) {
  for (int threads : {1, 2, 3, 7}) {
    rt::ThreadPool pool(threads);
    for (int round = 0; round < 1000; ++round) {
      launchNotes(pool, {1, 1 + round % 7, 1, 1 + round % 23});
      launchNotes(pool, {1 + round % 3, 1});
      launchNotes(pool, std::vector<int64_t>(16, 1));
    }
    launchNotes(pool, {});
  }
}

TEST(ThreadPool, SleepingThreadsWakeUp) {
  rt::ThreadPool pool(2);
  for (int round = 0; round < 20; ++round) {
    usleep(3000); // far longer than threads spin
    launchNote(pool, 64);
  }
}

TEST(ThreadPool, CallerKeepsItsEnvironment) {
  unsigned before = _mm_getcsr();
  {
    rt::ThreadPool pool(2);
    launchNote(pool, 10);
    EXPECT_EQ(_mm_getcsr(), before);
  }
  EXPECT_EQ(_mm_getcsr(), before);
}

TEST(ThreadPool, PinsNothingOnSharedCpus) {
  std::vector<int> before = rt::allowedCpus();
  if (before.size() < 2)
    GTEST_SKIP() << "pinning needs two CPUs";
  rt::ThreadPool shared(2, true);
  EXPECT_EQ(rt::allowedCpus(), before);
  rt::ThreadPool own(2);
  EXPECT_EQ(rt::allowedCpus().size(), 1u);
}

TEST(ThreadPool, GivesBackTheCpus) {
  std::vector<int> before = rt::allowedCpus();
  {
    rt::ThreadPool pool(2);
  }
  EXPECT_EQ(rt::allowedCpus(), before);
}

static void nothing(const rcp_launch_v1 *, int64_t, void *) {}

/// Not a limit, a record: the machine may be busy.
TEST(ThreadPool, LaunchOverhead) {
  for (int threads : {1, 2}) {
    rt::ThreadPool pool(threads);
    rt::Launch launch;
    launch.kernel = nothing;
    for (int64_t workgroups : {1, 2, 16}) {
      launch.workgroups = workgroups;
      std::vector<double> times;
      for (int round = 0; round < 20; ++round) {
        int64_t begin = rt::nowNanoseconds();
        for (int i = 0; i < 500; ++i)
          pool.run(launch);
        times.push_back(double(rt::nowNanoseconds() - begin) / 500);
      }
      double best = *std::min_element(times.begin(), times.end());
      RecordProperty("ns_" + std::to_string(threads) + "_" + std::to_string(workgroups), int(best));
      std::printf("%d threads, %2d workgroups: %.0f ns per launch\n", threads, int(workgroups), best);
      EXPECT_LT(best, 100000);
    }
  }
}

} // namespace recipe::test
