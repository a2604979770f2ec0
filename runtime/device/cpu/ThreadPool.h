// Runs the workgroups of one launch on N threads, the caller among them.
#ifndef RUNTIME_DEVICE_CPU_THREADPOOL_H
#define RUNTIME_DEVICE_CPU_THREADPOOL_H
#include "runtime/abi/kernel_abi.h"
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace recipe::rt {

/// One kernel over `workgroups` (1 .. 2^31 - 1) workgroups. Thread t works in scratch + t * scratchStride.
struct Launch {
  rcp_kernel_v1 kernel = nullptr;
  const rcp_launch_v1 *arguments = nullptr;
  int64_t workgroups = 1;
  std::byte *scratch = nullptr;
  size_t scratchStride = 0;
};

/// The CPUs that this process may use.
std::vector<int> allowedCpus();

/// Threads take workgroups from one counter, in ascending order. They wait for work by spinning for at most 50 us and
/// then sleep; a launch waits only for workgroups that were taken, never for a thread that has not yet woken up. run()
/// may be called by one thread at a time, the one that made the pool; it has the kernels' floating-point environment
/// for the time of the call, the others have it always.
class ThreadPool {
public:
  /// Pins the threads to CPUs of their own if there are at least `threads` of them and more than one thread. Neither
  /// pins nor spins if the process shares its CPUs with others that compute.
  explicit ThreadPool(int threads, bool sharesCpus = false);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  /// What the caller might use before it was pinned.
  const std::vector<int> &allCpus() const { return callerCpus; }
  int threads() const { return int(workers.size()) + 1; }
  void run(const Launch &launch);

private:
  void work(int thread);
  /// Takes and runs workgroups of the open launch until there are none. Returns false if none was taken.
  bool help(int thread);
  void waitForWork(uint32_t seen);
  void waitForDone(uint32_t workgroups);

  // A launch is open while the lower half of `state`, the workgroups that nobody has taken, is not 0. The upper half is
  // the launch's number, so that a late thread cannot take from a launch whose description it has not read.
  alignas(64) std::atomic<uint64_t> state{0};
  alignas(64) std::atomic<uint32_t> done{0}; // workgroups of the open launch that have ended
  std::atomic<uint32_t> callerSleeps{0};
  alignas(64) std::atomic<uint32_t> number{0}; // of the newest launch; idle threads sleep on it
  std::atomic<uint32_t> sleepers{0};
  std::atomic<bool> stop{false};
  // The open launch. Atomic, because a late thread may read it while the next one is written; it then throws it away.
  std::atomic<rcp_kernel_v1> kernel{nullptr};
  std::atomic<const rcp_launch_v1 *> arguments{nullptr};
  std::atomic<uint32_t> workgroups{0};
  std::atomic<std::byte *> scratch{nullptr};
  std::atomic<size_t> scratchStride{0};

  int64_t spinNanoseconds;
  std::vector<int> cpus; // of the threads; empty: not pinned
  std::vector<int> callerCpus;
  std::vector<std::thread> workers;
};

} // namespace recipe::rt
#endif
