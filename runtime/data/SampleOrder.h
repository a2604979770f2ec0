// Which window of the training text is global sample g: a pure function of (windows, seed, shuffle, g), so that resume,
// data parallelism and accumulation cannot change it. docs/data.md states the permutation. Immutable, thread-safe.
#ifndef RUNTIME_DATA_SAMPLEORDER_H
#define RUNTIME_DATA_SAMPLEORDER_H

#include <cstdint>

namespace recipe::rt {

class SampleOrder {
public:
  /// `windows` must be at least 1.
  SampleOrder(uint64_t windows, uint64_t seed, bool shuffle) : windows(windows), seed(seed), shuffle(shuffle) {}

  /// Epoch sample / windows visits every window once; each epoch has its own order.
  uint64_t window(uint64_t sample) const;

  uint64_t windowCount() const { return windows; }

private:
  uint64_t windows;
  uint64_t seed;
  bool shuffle;
};

/// The image of `index` under permutation (seed, epoch) of 0..size-1: an alternating Feistel network over the least
/// power of two >= size, walked until it returns below `size`. Constant memory, fewer than two rounds of it on average.
uint64_t permute(uint64_t index, uint64_t size, uint64_t seed, uint64_t epoch);

} // namespace recipe::rt

#endif // RUNTIME_DATA_SAMPLEORDER_H
