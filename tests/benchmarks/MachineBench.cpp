// What the machine can do and what a launch costs: floating point peaks, bandwidths, and the thread pool with a kernel
// that does nothing. Run alone on an idle machine:
//
//   machine-bench [--benchmark_filter=Launch ...]
#include "runtime/device/cpu/ThreadPool.h"
#include "tests/benchmarks/Pages.h"
#include "tests/benchmarks/Peak.h"
#include <benchmark/benchmark.h>

using namespace recipe;

namespace {

void setRate(benchmark::State &state, const char *name, double each) {
  state.counters[name] = benchmark::Counter(each * double(state.iterations()), benchmark::Counter::kIsRate);
}

void FmaAvx2(benchmark::State &state) {
  if (!__builtin_cpu_supports("fma"))
    return state.SkipWithError("this processor has no fma");
  for (auto _ : state)
    bench::fmaAvx2(1000);
  setRate(state, "FLOP", 1000.0 * bench::kChains * 16);
}
BENCHMARK(FmaAvx2);

void FmaAvx512(benchmark::State &state) {
  if (!__builtin_cpu_supports("avx512f"))
    return state.SkipWithError("this processor has no AVX-512");
  for (auto _ : state)
    bench::fmaAvx512(1000);
  setRate(state, "FLOP", 1000.0 * bench::kChains * 32);
}
// By two threads: a machine whose cores share units or a power budget shows it here.
BENCHMARK(FmaAvx512)->UseRealTime()->ThreadRange(1, 2);

void DotBf16(benchmark::State &state) {
  if (!__builtin_cpu_supports("avx512bf16"))
    return state.SkipWithError("this processor has no vdpbf16ps");
  for (auto _ : state)
    bench::dotBf16(1000);
  setRate(state, "FLOP", 1000.0 * bench::kChains * 64);
}
BENCHMARK(DotBf16);

// Eight chains, so that the latency of an addition does not count. floats: a multiple of 64.
__attribute__((target("avx2"), noinline)) void readAll(const float *data, int64_t floats) {
  __m256 sums[8] = {};
  for (int64_t i = 0; i < floats; i += 64)
#pragma clang loop unroll(full)
    for (int chain = 0; chain < 8; ++chain)
      sums[chain] = _mm256_add_ps(sums[chain], _mm256_load_ps(data + i + chain * 8));
  for (__m256 &sum : sums)
    asm volatile("" ::"x"(sum));
}

// Argument: KiB that are read again and again.
void Read(benchmark::State &state) {
  bench::Pages pages(state.range(0) * 256);
  pages.fill(1);
  for (auto _ : state)
    readAll(pages.data, state.range(0) * 256);
  setRate(state, "bytes", double(state.range(0) << 10));
}
BENCHMARK(Read)->UseRealTime()->Arg(24)->Arg(1 << 10)->Arg(8 << 10)->Arg(256 << 10)->ThreadRange(1, 2);

// Argument: KiB that are copied; read and written bytes count.
void Copy(benchmark::State &state) {
  bench::Pages from(state.range(0) * 256), to(state.range(0) * 256);
  from.fill(1);
  for (auto _ : state) {
    std::memcpy(to.data, from.data, size_t(state.range(0)) << 10);
    benchmark::ClobberMemory();
  }
  setRate(state, "bytes", double(state.range(0) << 11));
}
BENCHMARK(Copy)->UseRealTime()->Arg(256 << 10)->ThreadRange(1, 2);

// Arguments: threads, workgroups.
void Launch(benchmark::State &state) {
  if (rt::allowedCpus().size() < size_t(state.range(0)))
    return state.SkipWithError("fewer processors than threads");
  rt::ThreadPool pool(int(state.range(0)));
  rcp_launch_v1 arguments = {};
  rt::Launch launch;
  launch.kernel = [](const rcp_launch_v1 *, int64_t, void *) {};
  launch.arguments = &arguments;
  launch.workgroups = state.range(1);
  for (auto _ : state)
    pool.run(launch);
}
BENCHMARK(Launch)->UseRealTime()->ArgNames({"threads", "workgroups"})->ArgsProduct({{1, 2}, {1, 2, 16, 64}});

} // namespace

BENCHMARK_MAIN();
