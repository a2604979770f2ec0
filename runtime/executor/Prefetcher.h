// Fills the next micro-batch while the current one is computed.
#ifndef RUNTIME_EXECUTOR_PREFETCHER_H
#define RUNTIME_EXECUTOR_PREFETCHER_H
#include "runtime/executor/BatchSource.h"
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace recipe::rt {

/// One request at a time: request(), then wait(), alternating, from one thread.
class Prefetcher {
public:
  /// The thread runs on any of `cpus`; it must not inherit the pinning of a compute thread.
  Prefetcher(BatchSource &source, std::vector<int> cpus);
  ~Prefetcher();
  Prefetcher(const Prefetcher &) = delete;
  Prefetcher &operator=(const Prefetcher &) = delete;

  void request(int64_t step, int64_t microbatch, const MicroBatch &out);
  /// Returns when the request is done, with its status.
  absl::Status wait();

private:
  void work();

  BatchSource &source;
  std::vector<int> cpus;
  std::mutex mutex;
  std::condition_variable changed;
  enum { Idle, Requested, Done, Stop } phase = Idle;
  int64_t step = 0, microbatch = 0;
  MicroBatch out{};
  absl::Status result;
  std::thread thread; // last: it uses all of the above
};

} // namespace recipe::rt
#endif
