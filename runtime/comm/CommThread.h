// Runs collectives beside the computation: one thread executes them in the order in which they were issued.
#ifndef RUNTIME_COMM_COMMTHREAD_H
#define RUNTIME_COMM_COMMTHREAD_H
#include "runtime/comm/TreeAllReduce.h"
#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace recipe::rt {

struct CommOptions {
  std::byte *staging = nullptr; // abi::kAllReduceStagingBytes, 64-byte aligned
  double timeoutSeconds = 600; // a collective has failed without progress for so long, in which no rank worked on files
  std::vector<int> cpus;       // where the thread may run; empty: as its maker
};

/// One thread issues and waits, in any order of waiting. Everybody's order of issuing must be the same. The thread
/// polls; idle it sleeps.
class CommThread {
public:
  CommThread(Communicator &comm, CommOptions options);
  /// Whatever is not complete stays so: wait before, unless the run has failed.
  ~CommThread();
  CommThread(const CommThread &) = delete;
  CommThread &operator=(const CommThread &) = delete;

  /// The number of a collective: 1, 2, ...
  using Ticket = uint64_t;
  /// Returns at once (at most kQueue may be open: then it waits). `op` and its data belong to the thread until then.
  Ticket issue(const AllReduce &op);
  /// Returns when that one and all before it are complete, or with the reason why they never will be.
  absl::Status wait(Ticket ticket);

  uint64_t completedCount() const { return completed.load(std::memory_order_acquire); }

  struct Counters {
    int64_t exposedNanoseconds = 0; // time in which wait() waited
    int64_t busyNanoseconds = 0;    // time from a collective's start to its end, added up
    uint64_t bytesSent = 0;
    uint64_t collectives = 0;
  };
  /// Since the beginning. For the thread that waits.
  Counters counters() const;

private:
  void work();
  absl::Status execute(const AllReduce &op, Ticket ticket);
  absl::Status stalled(const AllReduce &op, Ticket ticket, double seconds) const;

  static constexpr size_t kQueue = 4096;
  Communicator &comm;
  CommOptions options;
  TreeAllReduce engine;
  std::array<const AllReduce *, kQueue> queue{}; // ticket t at t % kQueue
  std::atomic<uint64_t> issued{0}, completed{0};
  std::atomic<bool> failed{false}, stop{false};
  mutable std::mutex mutex; // of what follows, and of changes of the above that somebody sleeps on
  std::condition_variable changed;
  absl::Status failure;
  Counters total;
  int64_t exposed = 0; // of the waiting thread
  std::thread thread;  // last: it uses all of the above
};

} // namespace recipe::rt
#endif
