// Prepares the coming micro-batches while the current one is computed: worker threads fill a ring of them.
#ifndef RUNTIME_EXECUTOR_PREFETCHER_H
#define RUNTIME_EXECUTOR_PREFETCHER_H
#include "runtime/executor/BatchSource.h"
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace recipe::rt {

struct PrefetchOptions {
  int64_t firstStep = 0;
  int64_t microbatches = 1;    // of a step that this rank takes
  int64_t firstMicrobatch = 0; // the first of those
  int64_t samples = 0, length = 0;
  int64_t workers = 1;   // 0: next() asks the source itself
  int64_t depth = 2;     // micro-batches that are prepared ahead, at least 1
  std::vector<int> cpus; // where workers run; they must not inherit the pinning of a compute thread
};

/// next() is for one thread. What it gives depends neither on the number of workers nor on the depth.
class Prefetcher {
public:
  Prefetcher(BatchSource &source, PrefetchOptions options);
  ~Prefetcher();
  Prefetcher(const Prefetcher &) = delete;
  Prefetcher &operator=(const Prefetcher &) = delete;

  /// Writes the next micro-batch to `out`, waiting for it if it must. The status is the source's.
  absl::Status next(const MicroBatch &out);

private:
  struct Slot {
    std::vector<int32_t> values; // tokens, labels, positions
    absl::Status status;
    bool ready = false;
  };

  absl::Status fill(int64_t sequence, const MicroBatch &out);
  void work();

  BatchSource &source;
  PrefetchOptions options;
  std::vector<Slot> ring; // micro-batch number n of the run lies in slot n % depth
  std::mutex mutex;
  std::condition_variable changed;
  int64_t taken = 0;   // by next()
  int64_t started = 0; // by workers; at most taken + depth
  bool stopping = false;
  std::vector<std::thread> threads; // last: they use all of the above
};

} // namespace recipe::rt
#endif
