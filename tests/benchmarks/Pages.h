// Memory of a benchmark: zeroed, on huge pages where the system gives them.
#ifndef TESTS_BENCHMARKS_PAGES_H
#define TESTS_BENCHMARKS_PAGES_H

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <immintrin.h>
#include <sys/mman.h>

namespace recipe::bench {

struct Pages {
  explicit Pages(int64_t floats) : bytes(size_t(floats * 4 + (2 << 20) - 1) / (2 << 20) * (2 << 20)) {
    data = static_cast<float *>(std::aligned_alloc(2 << 20, bytes));
    madvise(data, bytes, MADV_HUGEPAGE);
    std::memset(data, 0, bytes);
  }
  ~Pages() { std::free(data); }
  Pages(const Pages &) = delete;
  Pages &operator=(const Pages &) = delete;
  // Numbers from -0.5 to 0.5; two bf16 in place of a float where wanted.
  void fill(uint32_t seed, bool bf16 = false) {
    for (size_t i = 0; i < bytes / 4; ++i) {
      seed = seed * 1664525u + 1013904223u;
      data[i] = float(int32_t(seed) >> 8) * 0x1p-24f;
      if (bf16) {
        uint32_t bits;
        std::memcpy(&bits, &data[i], 4);
        bits = (bits & 0xffff0000u) | (bits >> 16);
        std::memcpy(&data[i], &bits, 4);
      }
    }
  }
  // From all caches.
  void flush() const {
    for (size_t at = 0; at < bytes; at += 64)
      _mm_clflush(reinterpret_cast<const char *>(data) + at);
    _mm_mfence();
  }
  size_t bytes;
  float *data;
};

} // namespace recipe::bench
#endif
