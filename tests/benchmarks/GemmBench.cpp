// Speed of contract's kernels on one thread, as a share of the peak measured in the same run.
//
//   gemm-bench [filter [seconds per line]]      filter: part of a line's name
#include "compiler/target/cpu/Compile.h"
#include "compiler/target/cpu/Target.h"
#include "dialects/train/Policies.h"
#include "dialects/train/Segments.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/select/GemmLaunch.h"
#include "tests/benchmarks/Peak.h"
#include "tests/numerics/LoadedObject.h"
#include <chrono>
#include <cstdio>
#include <cstdlib>

using namespace mlir;
using namespace recipe;

namespace {

struct Line {
  std::string name;
  select::GemmShape shape;
};

std::vector<Line> lines() {
  std::vector<Line> all;
  auto add = [&](const char *form, int64_t m, int64_t n, int64_t k, int64_t segments = 1, bool accumulator = false) {
    select::GemmShape shape;
    shape.form = *train::symbolizeContractForm(form);
    shape.m = m, shape.n = n, shape.k = {k};
    shape.segments = train::paddedSegments(k, segments);
    shape.accumulator = accumulator;
    std::string name = std::string(form) + " " + std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k);
    if (segments > 1)
      name += " segments " + std::to_string(segments);
    all.push_back({name + (accumulator ? " accumulate" : ""), shape});
  };
  for (const char *form : {"nn", "nt", "tn"})
    add(form, 512, 768, 768);
  for (const char *form : {"nn", "nt"}) {
    add(form, 4096, 768, 768);
    add(form, 4096, 3072, 768);
    add(form, 4096, 768, 3072);
    add(form, 4096, 768, 3072, 8);
  }
  add("nn", 4096, 768, 768, 8);
  add("tn", 768, 768, 4096, 1, true);
  add("tn", 768, 3072, 4096);
  add("tn", 768, 3072, 4096, 8);
  add("nt", 512, 50257, 768); // GPT-2's loss
  add("nn", 512, 768, 50257, 8);
  add("tn", 50257, 768, 512, 1, true);
  for (const char *form : {"nn", "nt", "tn"})
    add(form, 1024, 256, 256);
  return all;
}

// Zeroed, on huge pages where the system gives them.
struct Pages {
  explicit Pages(int64_t floats) : bytes(size_t(floats * 4 + (2 << 20) - 1) / (2 << 20) * (2 << 20)) {
    data = static_cast<float *>(std::aligned_alloc(2 << 20, bytes));
    madvise(data, bytes, MADV_HUGEPAGE);
    std::memset(data, 0, bytes);
  }
  ~Pages() { std::free(data); }
  Pages(const Pages &) = delete;
  void fill(uint32_t seed) {
    for (size_t i = 0; i < bytes / 4; ++i) {
      seed = seed * 1664525u + 1013904223u;
      data[i] = float(int32_t(seed) >> 8) * 0x1p-24f;
    }
  }
  size_t bytes;
  float *data;
};

bool run(const Line &line, const step::TargetInfo &target, double seconds) {
  MLIRContext context;
  context.loadDialect<step::StepDialect>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  OpBuilder builder(module->getBodyRegion());
  select::Launch launch = select::gemmLaunch(&context, line.shape, target);
  auto kernel =
      step::KernelOp::create(builder, module->getLoc(), "gemm", launch.family, builder.getDictionaryAttr(launch.spec));
  auto begin = std::chrono::steady_clock::now();
  llvm::Expected<std::string> object = cpu::compileKernels({kernel}, target, 1);
  double compileSeconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!object) {
    std::fprintf(stderr, "%s\n", llvm::toString(object.takeError()).c_str());
    return false;
  }
  test::LoadedObject loaded(*object);
  rcp_kernel_v1 function = loaded.kernel("gemm");

  int64_t k = line.shape.k[0];
  Pages lhs(line.shape.m * k), rhs(line.shape.n * k), result(line.shape.m * line.shape.n),
      scratch(launch.scratchBytes / 4 + 1);
  lhs.fill(1), rhs.fill(2);
  SmallVector<void *> buffers = {lhs.data, rhs.data, result.data};
  if (line.shape.accumulator)
    buffers.push_back(result.data);
  rcp_launch_v1 arguments{buffers.data(), nullptr, nullptr, nullptr};
  train::FlushDenormals flush;

  bool wide = target.vectorBits >= 512;
  double peak = 0, start = bench::cpuSeconds();
  std::vector<double> times;
  while (times.size() < 3 || bench::cpuSeconds() - start < seconds) {
    peak = std::max(peak, bench::measurePeak(wide));
    double before = bench::cpuSeconds();
    for (int64_t w = 0; w < launch.workgroups; ++w)
      function(&arguments, w, scratch.data);
    times.push_back(bench::cpuSeconds() - before);
  }
  std::sort(times.begin(), times.end());
  double flops = double(launch.flops);
  auto share = [&](double time) { return 100 * flops / time / peak; };
  std::printf("%-38s %6.1f GFLOP/s   %5.1f %% of peak (median %5.1f)   %4ld workgroups  %5ld KiB scratch   compiled in "
              "%3.0f ms\n",
              line.name.c_str(), flops / times.front() * 1e-9, share(times.front()), share(times[times.size() / 2]),
              long(launch.workgroups), long(launch.scratchBytes >> 10), compileSeconds * 1e3);
  std::fflush(stdout);
  return true;
}

} // namespace

int main(int argc, char **argv) {
  llvm::Expected<step::TargetInfo> target = cpu::resolveTarget("native", 16);
  if (!target) {
    std::fprintf(stderr, "%s\n", llvm::toString(target.takeError()).c_str());
    return 1;
  }
  double seconds = 1.0, peak = 0;
  if (argc > 2 && (llvm::StringRef(argv[2]).getAsDouble(seconds) || !(seconds > 0))) {
    std::fprintf(stderr, "gemm-bench: the seconds per line must be a number above 0, got: %s\n", argv[2]);
    return 1;
  }
  for (int i = 0; i < 200; ++i)
    peak = std::max(peak, bench::measurePeak(target->vectorBits >= 512));
  std::printf("%s, peak %.1f GFLOP/s\n", target->cpu.c_str(), peak * 1e-9);
  for (const Line &line : lines())
    if (argc < 2 || line.name.find(argv[1]) != std::string::npos)
      if (!run(line, *target, seconds))
        return 1;
  return 0;
}
