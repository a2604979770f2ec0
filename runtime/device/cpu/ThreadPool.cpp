#include "runtime/device/cpu/ThreadPool.h"
#include "runtime/base/Clock.h"
#include "runtime/device/cpu/FloatingPoint.h"
#include <algorithm>
#include <cassert>
#include <climits>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace recipe::rt;

static_assert(sizeof(std::atomic<uint32_t>) == 4 && std::atomic<uint64_t>::is_always_lock_free, "futex words");

static void futexWait(std::atomic<uint32_t> &word, uint32_t expected) {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

static void futexWake(std::atomic<uint32_t> &word, int count) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

static void pinTo(const std::vector<int> &cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int cpu : cpus)
    CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set); // an optimisation: a refusal changes nothing but speed
}

std::vector<int> recipe::rt::allowedCpus() {
  cpu_set_t set;
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &set))
        cpus.push_back(cpu);
  return cpus;
}

/// Spins until `ready()` or until the time is over; returns whether it is ready.
template <typename Ready> static bool spin(int64_t nanoseconds, Ready ready) {
  if (nanoseconds == 0)
    return ready();
  int64_t end = nowNanoseconds() + nanoseconds;
  do {
    for (int i = 0; i < 32; ++i) {
      if (ready())
        return true;
      _mm_pause();
    }
  } while (nowNanoseconds() < end);
  return false;
}

ThreadPool::ThreadPool(int threads, bool sharesCpus) : callerCpus(allowedCpus()) {
  assert(threads >= 1 && "a pool has at least the caller");
  bool enough = !sharesCpus && size_t(threads) <= callerCpus.size();
  // A thread that spins while another waits for its CPU delays what it waits for.
  spinNanoseconds = enough ? 50000 : 0;
  if (enough && threads > 1) {
    cpus.assign(callerCpus.begin(), callerCpus.begin() + threads);
    pinTo({cpus[0]});
  }
  for (int thread = 1; thread < threads; ++thread)
    workers.emplace_back([this, thread] { work(thread); });
}

ThreadPool::~ThreadPool() {
  stop.store(true);
  number.fetch_add(1);
  futexWake(number, INT_MAX);
  for (std::thread &worker : workers)
    worker.join();
  if (!cpus.empty())
    pinTo(callerCpus);
}

void ThreadPool::work(int thread) {
  if (!cpus.empty())
    pinTo({cpus[size_t(thread)]});
  KernelFloatingPoint environment;
  while (!stop.load(std::memory_order_relaxed)) {
    uint32_t seen = number.load(std::memory_order_acquire);
    help(thread);
    waitForWork(seen);
  }
}

bool ThreadPool::help(int thread) {
  uint32_t finished = 0;
  uint64_t current = state.load(std::memory_order_acquire);
  while (uint32_t(current) != 0) {
    const Launch *launch = open.load(std::memory_order_relaxed);
    uint32_t count = workgroups.load(std::memory_order_relaxed);
    // What was read belongs to `current` if that is still the state, which this exchange decides.
    std::atomic_thread_fence(std::memory_order_acquire);
    if (!state.compare_exchange_weak(current, current - 1, std::memory_order_acq_rel, std::memory_order_acquire))
      continue;
    int64_t workgroup = int64_t(count) - int64_t(uint32_t(current));
    for (; workgroup >= launch->workgroups; ++launch)
      workgroup -= launch->workgroups;
    launch->kernel(launch->arguments, workgroup, launch->scratch + size_t(thread) * launch->scratchStride);
    ++finished;
    // The launches stay open at least until these are counted, so their number cannot have changed.
    if (uint32_t(current) == 1)
      break;
    current = state.load(std::memory_order_acquire);
  }
  if (finished == 0)
    return false;
  uint32_t count = workgroups.load(std::memory_order_relaxed);
  if (done.fetch_add(finished) + finished == count && callerSleeps.load() != 0)
    futexWake(done, 1);
  return true;
}

void ThreadPool::waitForWork(uint32_t seen) {
  auto ready = [&] { return number.load(std::memory_order_acquire) != seen; };
  if (spin(spinNanoseconds, ready))
    return;
  sleepers.fetch_add(1);
  while (number.load() == seen)
    futexWait(number, seen);
  sleepers.fetch_sub(1);
}

void ThreadPool::waitForDone(uint32_t workgroups) {
  auto ready = [&] { return done.load(std::memory_order_acquire) == workgroups; };
  if (spin(spinNanoseconds, ready))
    return;
  callerSleeps.store(1);
  for (uint32_t value = done.load(); value != workgroups; value = done.load())
    futexWait(done, value);
  callerSleeps.store(0);
}

void ThreadPool::run(absl::Span<const Launch> launches) {
  int64_t all = 0;
  for (const Launch &launch : launches) {
    assert(launch.workgroups >= 1 && "checked by the loader");
    all += launch.workgroups;
  }
  assert(all <= INT_MAX && "checked by the loader, and by who puts launches together");
  KernelFloatingPoint environment;
  if (all <= 1 || workers.empty()) {
    for (const Launch &launch : launches)
      for (int64_t i = 0; i < launch.workgroups; ++i)
        launch.kernel(launch.arguments, i, launch.scratch);
    return;
  }
  uint32_t count = uint32_t(all);
  // Pairs with the fence in help(): whoever reads any of the following also sees that the previous launches are closed.
  std::atomic_thread_fence(std::memory_order_release);
  open.store(launches.data(), std::memory_order_relaxed);
  workgroups.store(count, std::memory_order_relaxed);
  done.store(0, std::memory_order_relaxed);
  uint64_t next = uint64_t(number.load(std::memory_order_relaxed)) + 1;
  state.store(next << 32 | count, std::memory_order_release);
  number.store(uint32_t(next));
  if (uint32_t asleep = sleepers.load())
    futexWake(number, int(std::min(asleep, count - 1)));
  help(0);
  waitForDone(count);
}
