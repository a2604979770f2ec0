#include "runtime/data/SampleOrder.h"

#include <cassert>

namespace recipe::rt {

static constexpr int RoundCount = 8;
// 2^64 divided by the golden ratio, odd: SplitMix64's increment.
static constexpr uint64_t Increment = 0x9E3779B97F4A7C15u;

// The output function of SplitMix64 (Steele, Lea, Flood 2014): a bijection of 64-bit words that diffuses fully.
static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

static uint64_t lowBits(int count) { return count == 0 ? 0 : ~uint64_t(0) >> (64 - count); }

uint64_t permute(uint64_t index, uint64_t size, uint64_t seed, uint64_t epoch) {
  assert(index < size);
  int bits = size <= 1 ? 0 : 64 - __builtin_clzll(size - 1);
  int lowCount = (bits + 1) / 2;
  uint64_t lowMask = lowBits(lowCount), highMask = lowBits(bits - lowCount);
  // Seed and epoch are mixed one after the other: their sum would make (seed, epoch + 1) equal (seed + 1, epoch).
  uint64_t key = mix(mix(seed + Increment) ^ (epoch + 1) * Increment);
  do {
    uint64_t low = index & lowMask, high = index >> lowCount;
    // Each round replaces one half by its xor with a function of the other, which undoes itself: a bijection.
    for (int round = 0; round < RoundCount; round += 2) {
      high ^= mix(low + key + (round + 1) * Increment) & highMask;
      low ^= mix(high + key + (round + 2) * Increment) & lowMask;
    }
    index = high << lowCount | low;
    // Cycle walking: following the permutation of the larger set from a point below `size` must come back below it.
  } while (index >= size);
  return index;
}

uint64_t SampleOrder::window(uint64_t sample) const {
  uint64_t index = sample % windows;
  return shuffle ? permute(index, windows, seed, sample / windows) : index;
}

} // namespace recipe::rt
