// Speed of contract's kernels on one thread, as a share of the peak measured in the same run, and what more threads
// gain.
//
//   gemm-bench [filter [seconds per line [threads [target.arch [target.max_threads [cold]]]]]]
//                                                                                 filter: part of a line's name
//
// cold: operands and result are flushed from all caches before each launch, as they are in a step whose data is far
// larger than the caches.
//
// The clock of a virtual machine wanders by several percent within a second. So windows that measure the peak lie
// between the workgroups of a launch: "best" is the best launch over the best mean peak of a launch, the median is that
// of each launch over its own. With two threads or more, launches alternate between one thread and all of them.
// Kernels are compiled for as many threads as there are CPUs unless the command says so. The peak of bf16 is that of
// the instruction its kernels use: in pairs vdpbf16ps or, where that is slower, fma; in blocks tdpbf16ps.
#include "compiler/target/cpu/Compile.h"
#include "compiler/target/cpu/Target.h"
#include "dialects/train/Segments.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/select/GemmLaunch.h"
#include "runtime/device/cpu/FloatingPoint.h"
#include "runtime/device/cpu/ThreadPool.h"
#include "tests/benchmarks/Pages.h"
#include "tests/benchmarks/Peak.h"
#include "tests/numerics/LoadedObject.h"
#include <cmath>
#include <cstdio>
#include <cstdlib>

using namespace mlir;
using namespace recipe;

namespace {

struct Line {
  std::string name;
  select::GemmShape shape;
};

enum class Operands { F32, Pairs, Blocks, Split };
constexpr const char *kNames[] = {"f32", "bf16", "bf16 blocks", "bf16x6"};

// Lines that have a mean together.
struct Group {
  std::string name;
  Operands operands;
  std::vector<Line> lines;

  void add(const char *form, int64_t m, int64_t n, int64_t k, int64_t segments = 1, bool accumulator = false,
           int64_t subtrees = 1) {
    select::GemmShape shape;
    shape.form = *train::symbolizeContractForm(form);
    shape.m = m, shape.n = n, shape.k = {k};
    shape.segments = train::paddedSegments(k, segments);
    shape.accumulator = accumulator;
    shape.bf16 = operands == Operands::Pairs || operands == Operands::Blocks;
    shape.blocks = operands == Operands::Blocks || operands == Operands::Split;
    std::string line = std::string(kNames[int(operands)]) + " " + form + " " + std::to_string(m) + "x" +
                       std::to_string(n) + "x" + std::to_string(k);
    if (segments > 1)
      line += " segments " + std::to_string(segments);
    shape.subtrees = subtrees;
    if (subtrees > 1)
      line += " in " + std::to_string(subtrees) + " subtrees";
    lines.push_back({line + (accumulator ? " accumulate" : ""), shape});
  }
};

// Plain products of many shapes, and what a step of GPT-2 runs.
void addGroups(Operands operands, std::vector<Group> &all) {
  constexpr int64_t kShapes[][3] = {{512, 768, 768},    {512, 3072, 768}, {512, 768, 3072}, {768, 3072, 512},
                                    {1024, 50257, 768}, {64, 512, 64},    {64, 64, 512}};
  std::string type = std::string(kNames[int(operands)]) + ", ";
  for (int64_t segments : {1, 8}) {
    Group &shapes = all.emplace_back(Group{type + (segments == 1 ? "one segment" : "eight segments"), operands, {}});
    for (auto [m, n, k] : kShapes)
      for (const char *form : {"nn", "nt", "tn"})
        shapes.add(form, m, n, k, segments);
  }
  Group &model = all.emplace_back(Group{type + "GPT-2, 4096 tokens", operands, {}});
  for (const char *form : {"nn", "nt"}) {
    model.add(form, 4096, 768, 768);
    model.add(form, 4096, 3072, 768);
    model.add(form, 4096, 768, 3072, 8);
  }
  model.add("nn", 4096, 768, 768, 8);
  model.add("tn", 768, 768, 4096, 1, true);
  model.add("tn", 768, 3072, 4096, 1, true);
  model.add("tn", 768, 3072, 4096, 8);
  model.add("nt", 512, 50257, 768); // a chunk of the loss
  model.add("nn", 512, 768, 50257, 8);
  if (operands == Operands::F32)
    model.add("nn", 512, 768, 50257, 8, false, 4);
  model.add("tn", 50257, 768, 512, 1, true);
  // Q, K and V as one product, against three of 4096 x 768 x 768.
  Group &merged = all.emplace_back(Group{type + "Q, K and V as one", operands, {}});
  merged.add("nn", 4096, 2304, 768);
}

// A line's kernel, and memory to run it in.
class Runnable {
public:
  Runnable(const select::GemmShape &shape, const select::Launch &launch, const std::string &object, int64_t threads)
      : workgroups(launch.workgroups), scratchBytes(launch.scratchBytes), flops(double(launch.flops)), loaded(object),
        kernel(loaded.kernel("gemm")), stride(int64_t(llvm::alignTo(scratchBytes, 4096))), lhs(shape.m * shape.k[0]),
        rhs(shape.n * shape.k[0]), result(shape.m * shape.n * shape.subtrees), scratch(threads * stride / 4 + 1) {
    lhs.fill(1, shape.bf16), rhs.fill(2, shape.bf16);
    buffers = {lhs.data, rhs.data, result.data};
    if (shape.accumulator)
      buffers.push_back(result.data);
    arguments.buffers = buffers.data();
  }

  // FLOP/s of a millisecond or more of launches on this thread, and the mean peak of windows between their workgroups.
  std::pair<double, double> rateAndPeak(double (*measurePeak)(), bool cold) {
    double seconds = 0, peakSeconds = 0, windows = 0;
    int64_t launches = 0;
    for (; seconds < 1e-3; ++launches) {
      if (cold)
        flush();
      for (int64_t w = 0, next = 0; w < workgroups; w = next) {
        peakSeconds += 1 / measurePeak(), ++windows;
        auto some = [&] {
          next = w;
          for (double begin = bench::wallSeconds(); next < workgroups && bench::wallSeconds() - begin < 2e-4;)
            kernel(&arguments, next++, scratch.data);
        };
        seconds += bench::undisturbedSeconds(some, cold ? 1 : 3); // another try would find its data in cache
      }
    }
    return {flops * double(launches) / seconds, windows / peakSeconds};
  }

  // Launches in a second.
  double rate(rt::ThreadPool &pool, bool cold) {
    double seconds = 0;
    int64_t launches = 0;
    for (; seconds < 1e-3; ++launches) {
      if (cold)
        flush();
      double begin = bench::wallSeconds();
      pool.run({kernel, &arguments, workgroups, reinterpret_cast<std::byte *>(scratch.data), size_t(stride)});
      seconds += bench::wallSeconds() - begin;
    }
    return double(launches) / seconds;
  }

  const int64_t workgroups, scratchBytes;
  const double flops; // of a launch

private:
  void flush() const {
    for (const bench::Pages *operand : {&lhs, &rhs, &result})
      operand->flush();
  }

  test::LoadedObject loaded;
  rcp_kernel_v1 kernel;
  int64_t stride;
  bench::Pages lhs, rhs, result, scratch;
  SmallVector<void *> buffers;
  rcp_launch_v1 arguments{};
};

struct Machine {
  step::TargetInfo target;
  double seconds; // for a line
  int threads;
  bool cold;
  double (*peakOf(const select::GemmShape &shape) const)() {
    if (shape.blocks && shape.bf16)
      return bench::measureTilePeak;
    if (shape.bf16 && target.dotsBF16)
      return bench::measureDotPeak;
    return target.vectorBits >= 512 ? +[] { return bench::measurePeak(true); }
                                    : +[] { return bench::measurePeak(false); };
  }
};

double median(std::vector<double> values) {
  llvm::sort(values);
  return values[values.size() / 2];
}

// The best rate over the best peak, and the median of a launch's own share; the same of what all threads gain over one.
struct Measured {
  double best = 0, median = 0, rate = 0, peak = 0, gainBest = 0, gainMedian = 0, together = 0;
};

Measured measure(Runnable &runnable, const select::GemmShape &shape, const Machine &machine) {
  Measured result;
  std::vector<double> shares;
  double bestRate = 0, bestPeak = 0, start = bench::cpuSeconds();
  while (shares.size() < 3 || bench::cpuSeconds() - start < machine.seconds) {
    auto [rate, peak] = runnable.rateAndPeak(machine.peakOf(shape), machine.cold);
    bestRate = std::max(bestRate, rate), bestPeak = std::max(bestPeak, peak);
    shares.push_back(rate / peak);
  }
  result.rate = bestRate, result.peak = bestPeak, result.best = bestRate / bestPeak, result.median = median(shares);
  if (machine.threads > 1) {
    rt::ThreadPool one(1), all(machine.threads);
    std::vector<double> single, together;
    for (start = bench::cpuSeconds(); single.size() < 3 || bench::cpuSeconds() - start < machine.seconds;) {
      single.push_back(runnable.rate(one, machine.cold));
      together.push_back(runnable.rate(all, machine.cold));
    }
    result.gainBest = *llvm::max_element(together) / *llvm::max_element(single);
    result.together = runnable.flops * median(together);
    result.gainMedian = median(together) / median(single);
  }
  return result;
}

std::optional<Measured> run(const Line &line, const Machine &machine) {
  MLIRContext context;
  context.loadDialect<step::StepDialect>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  OpBuilder builder(module->getBodyRegion());
  select::Launch launch = select::gemmLaunch(&context, line.shape, machine.target);
  auto kernel =
      step::KernelOp::create(builder, module->getLoc(), "gemm", launch.family, builder.getDictionaryAttr(launch.spec));
  llvm::Expected<std::string> object = cpu::compileKernels({kernel}, machine.target, 1);
  if (!object) {
    std::fprintf(stderr, "%s\n", llvm::toString(object.takeError()).c_str());
    return std::nullopt;
  }
  Runnable runnable(line.shape, launch, *object, machine.threads);
  Measured measured = measure(runnable, line.shape, machine);
  std::printf("%-34s %5.1f %% of peak (median %5.1f), %5.1f of %5.1f GFLOP/s", line.name.c_str(), 100 * measured.best,
              100 * measured.median, measured.rate * 1e-9, measured.peak * 1e-9);
  if (machine.threads > 1)
    std::printf("   %d threads %4.2f x one (median %4.2f), %5.1f GFLOP/s", machine.threads, measured.gainBest,
                measured.gainMedian, measured.together * 1e-9);
  std::printf("   %4ld workgroups  %5ld KiB scratch\n", long(runnable.workgroups), long(runnable.scratchBytes >> 10));
  std::fflush(stdout);
  return measured;
}

bool run(const Group &group, llvm::StringRef filter, const Machine &machine) {
  Measured logs;
  double count = 0;
  for (const Line &line : group.lines) {
    if (!llvm::StringRef(line.name).contains(filter))
      continue;
    std::optional<Measured> measured = run(line, machine);
    if (!measured)
      return false;
    logs.best += std::log(measured->best), logs.median += std::log(measured->median);
    logs.gainBest += std::log(measured->gainBest), logs.gainMedian += std::log(measured->gainMedian);
    ++count;
  }
  if (count == 0)
    return true;
  std::printf("geometric mean (%s): %.1f %% of peak (median %.1f)", group.name.c_str(),
              100 * std::exp(logs.best / count), 100 * std::exp(logs.median / count));
  if (machine.threads > 1)
    std::printf(", %d threads %.2f x one (median %.2f)", machine.threads, std::exp(logs.gainBest / count),
                std::exp(logs.gainMedian / count));
  std::printf("\n\n");
  return true;
}

} // namespace

int main(int argc, char **argv) {
  Machine machine{{}, 1.0, 1, false};
  if (argc > 2 && (llvm::StringRef(argv[2]).getAsDouble(machine.seconds) || !(machine.seconds > 0))) {
    std::fprintf(stderr, "gemm-bench: the seconds per line must be a number above 0, got: %s\n", argv[2]);
    return 1;
  }
  if (argc > 3 && (llvm::StringRef(argv[3]).getAsInteger(10, machine.threads) || machine.threads < 1)) {
    std::fprintf(stderr, "gemm-bench: the threads must be a number of 1 or more, got: %s\n", argv[3]);
    return 1;
  }
  int64_t maxThreads = int64_t(rt::allowedCpus().size());
  if (argc > 5 && (llvm::StringRef(argv[5]).getAsInteger(10, maxThreads) || maxThreads < 1)) {
    std::fprintf(stderr, "gemm-bench: target.max_threads must be a number of 1 or more, got: %s\n", argv[5]);
    return 1;
  }
  if (argc > 6 && !(machine.cold = llvm::StringRef(argv[6]) == "cold")) {
    std::fprintf(stderr, "gemm-bench: the last argument must be 'cold', got: %s\n", argv[6]);
    return 1;
  }
  llvm::Expected<step::TargetInfo> target = cpu::resolveTarget(argc > 4 ? argv[4] : "native", maxThreads);
  if (!target) {
    std::fprintf(stderr, "%s\n", llvm::toString(target.takeError()).c_str());
    return 1;
  }
  machine.target = *target;
  rt::KernelFloatingPoint mode;
  auto best = [](double (*peak)()) {
    double best = 0;
    for (int i = 0; i < 200; ++i)
      best = std::max(best, peak());
    return best * 1e-9;
  };
  std::printf("%s, peak %.1f GFLOP/s, of vdpbf16ps %.1f", target->cpu.c_str(), best(machine.peakOf({})),
              best(bench::measureDotPeak));
  if (target->tilesBF16)
    std::printf(", of tdpbf16ps %.1f", best(bench::measureTilePeak));
  std::printf("\n\n");
  std::vector<Group> groups;
  addGroups(Operands::F32, groups), addGroups(Operands::Pairs, groups);
  if (target->tilesBF16)
    for (Operands operands : {Operands::Blocks, Operands::Split})
      addGroups(operands, groups);
  for (const Group &group : groups)
    if (!run(group, argc > 1 ? argv[1] : "", machine))
      return 1;
  return 0;
}
