// The floating point peak of one core: fma on registers alone.
#ifndef TESTS_BENCHMARKS_PEAK_H
#define TESTS_BENCHMARKS_PEAK_H

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <immintrin.h>

namespace recipe::bench {

// Of this thread: other processes do not count.
inline double cpuSeconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
}

// Twelve independent chains hide the latency of fma.
__attribute__((target("avx2,fma"), noinline)) inline double fmaAvx2(int64_t rounds) {
  __m256 chains[12], x = _mm256_set1_ps(1.0f), y = _mm256_set1_ps(1e-3f);
  for (__m256 &chain : chains)
    chain = _mm256_setzero_ps();
  double begin = cpuSeconds();
  for (int64_t i = 0; i < rounds; ++i) {
#pragma clang loop unroll(full)
    for (__m256 &chain : chains)
      chain = _mm256_fmadd_ps(x, y, chain);
    asm volatile("" : "+x"(x), "+x"(y));
  }
  double seconds = cpuSeconds() - begin;
  for (__m256 &chain : chains)
    asm volatile("" ::"x"(chain));
  return double(rounds) * 12 * 16 / seconds;
}

__attribute__((target("avx512f"), noinline)) inline double fmaAvx512(int64_t rounds) {
  __m512 chains[12], x = _mm512_set1_ps(1.0f), y = _mm512_set1_ps(1e-3f);
  for (__m512 &chain : chains)
    chain = _mm512_setzero_ps();
  double begin = cpuSeconds();
  for (int64_t i = 0; i < rounds; ++i) {
#pragma clang loop unroll(full)
    for (__m512 &chain : chains)
      chain = _mm512_fmadd_ps(x, y, chain);
    asm volatile("" : "+v"(x), "+v"(y));
  }
  double seconds = cpuSeconds() - begin;
  for (__m512 &chain : chains)
    asm volatile("" ::"v"(chain));
  return double(rounds) * 12 * 32 / seconds;
}

// FLOP/s in a window of about 100 microseconds.
inline double measurePeak(bool wide) { return wide ? fmaAvx512(20000) : fmaAvx2(20000); }

} // namespace recipe::bench
#endif
