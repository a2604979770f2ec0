// The floating point peaks of one core: multiply-adds on registers alone; and clocks to hold them against.
#ifndef TESTS_BENCHMARKS_PEAK_H
#define TESTS_BENCHMARKS_PEAK_H

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <immintrin.h>

namespace recipe::bench {

inline double secondsOf(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
}

// Of this thread: other processes do not count.
inline double cpuSeconds() { return secondsOf(CLOCK_THREAD_CPUTIME_ID); }
inline double wallSeconds() { return secondsOf(CLOCK_MONOTONIC); }

// Seconds that `body` takes: by the clock on the wall, which is exact, unless something else ran in between in each of
// `most` runs; then by that of the thread, which errs in both directions on a virtual machine.
template <typename Body> double undisturbedSeconds(Body body, int most = 3) {
  for (int tries = 1;; ++tries) {
    double wall = wallSeconds(), cpu = cpuSeconds();
    body();
    cpu = cpuSeconds() - cpu, wall = wallSeconds() - wall;
    if (cpu > 0.95 * wall - 2e-6)
      return wall;
    if (tries == most)
      return cpu;
  }
}

// Independent chains hide the latency of an operation: twelve of fma.
constexpr int kChains = 12;

__attribute__((target("avx2,fma"), noinline)) inline void fmaAvx2(int64_t rounds) {
  __m256 chains[kChains], x = _mm256_set1_ps(1.0f), y = _mm256_set1_ps(1e-3f);
  for (__m256 &chain : chains)
    chain = _mm256_setzero_ps();
  for (int64_t i = 0; i < rounds; ++i) {
#pragma clang loop unroll(full)
    for (__m256 &chain : chains)
      chain = _mm256_fmadd_ps(x, y, chain);
    asm volatile("" : "+x"(x), "+x"(y));
  }
  for (__m256 &chain : chains)
    asm volatile("" ::"x"(chain));
}

__attribute__((target("avx512f"), noinline)) inline void fmaAvx512(int64_t rounds) {
  __m512 chains[kChains], x = _mm512_set1_ps(1.0f), y = _mm512_set1_ps(1e-3f);
  for (__m512 &chain : chains)
    chain = _mm512_setzero_ps();
  for (int64_t i = 0; i < rounds; ++i) {
#pragma clang loop unroll(full)
    for (__m512 &chain : chains)
      chain = _mm512_fmadd_ps(x, y, chain);
    asm volatile("" : "+v"(x), "+v"(y));
  }
  for (__m512 &chain : chains)
    asm volatile("" ::"v"(chain));
}

// vdpbf16ps: two multiply-adds in each lane.
__attribute__((target("avx512f,avx512bf16"), noinline)) inline void dotBf16(int64_t rounds) {
  __m512 chains[kChains];
  __m512bh x, y;
  std::memset(&x, 0x3c, sizeof x), std::memset(&y, 0x3a, sizeof y); // 0x3c3c and 0x3a3a: small normal numbers
  for (__m512 &chain : chains)
    chain = _mm512_setzero_ps();
  for (int64_t i = 0; i < rounds; ++i) {
#pragma clang loop unroll(full)
    for (__m512 &chain : chains)
      chain = _mm512_dpbf16_ps(chain, x, y);
    asm volatile("" : "+v"(x), "+v"(y));
  }
  for (__m512 &chain : chains)
    asm volatile("" ::"v"(chain));
}

// FLOP/s in a window of 50 to 150 microseconds.
inline double measurePeak(bool wide) {
  constexpr int64_t kRounds = 30000;
  double seconds = undisturbedSeconds([&] { wide ? fmaAvx512(kRounds) : fmaAvx2(kRounds); });
  return double(kRounds * kChains * (wide ? 32 : 16)) / seconds;
}

// The same of vdpbf16ps. 0 where the processor has no such instruction.
inline double measureDotPeak() {
  if (!__builtin_cpu_supports("avx512bf16"))
    return 0;
  constexpr int64_t kRounds = 15000;
  return double(kRounds * kChains * 64) / undisturbedSeconds([] { dotBf16(kRounds); });
}

// tdpbf16ps on four tiles of values, as the kernels use it: 32 multiply-adds for each of 256 values.
__attribute__((target("amx-tile,amx-bf16"), noinline)) inline void dotTiles(int64_t rounds) {
  struct {
    uint8_t palette = 1, start = 0, reserved[14] = {};
    uint16_t columnBytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
  } shapes;
  _tile_loadconfig(&shapes);
  for (int64_t i = 0; i < rounds; ++i) {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_release();
}

// The same of tdpbf16ps. The process must have the kernel's permission.
inline double measureTilePeak() {
  constexpr int64_t kRounds = 3000;
  return double(kRounds * 4 * 2 * 256 * 32) / undisturbedSeconds([] { dotTiles(kRounds); });
}

} // namespace recipe::bench
#endif
