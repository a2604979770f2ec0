// Runs the workgroups of launches on N threads, the caller among them.
#ifndef RUNTIME_DEVICE_CPU_THREADPOOL_H
#define RUNTIME_DEVICE_CPU_THREADPOOL_H
#include "absl/types/span.h"
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
  /// Launches that do not wait for each other: their workgroups are taken one after the other, all have ended when it
  /// returns. The launches must stay where they are until then.
  void run(absl::Span<const Launch> launches);
  void run(const Launch &launch) { run(absl::MakeConstSpan(&launch, 1)); }

private:
  void work(int thread);
  /// Takes and runs workgroups of the open launch until there are none. Returns false if none was taken.
  bool help(int thread);
  void waitForWork(uint32_t seen);
  void waitForDone(uint32_t workgroups);

  // Launches are open while the lower half of `state`, their workgroups that nobody has taken, is not 0. The upper half
  // is their number, so that a late thread cannot take from launches whose description it has not read.
  alignas(64) std::atomic<uint64_t> state{0};
  alignas(64) std::atomic<uint32_t> done{0}; // workgroups of the open launches that have ended
  std::atomic<uint32_t> callerSleeps{0};
  alignas(64) std::atomic<uint32_t> number{0}; // of the newest launches; idle threads sleep on it
  std::atomic<uint32_t> sleepers{0};
  std::atomic<bool> stop{false};
  // The open launches, and their workgroups together. Atomic, because a late thread may read them while the next ones
  // are written; it then throws them away, and has not looked behind the pointer.
  std::atomic<const Launch *> open{nullptr};
  std::atomic<uint32_t> workgroups{0};

  int64_t spinNanoseconds;
  std::vector<int> cpus; // of the threads; empty: not pinned
  std::vector<int> callerCpus;
  std::vector<std::thread> workers;
};

} // namespace recipe::rt
#endif
