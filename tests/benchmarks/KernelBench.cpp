// Speed of every distinct kernel of a recipe, by itself, on one thread.
//
//   recipec compile R --stop-after fold-collectives --dump-dir D
//   kernel-bench D/07-fold-collectives.mlir [filter [seconds per kernel [target.max_threads [target.arch]]]]
//                                                                                  filter: part of a kernel's line
//
// CPU time counts, so that other processes disturb little: the lower quartile of all runs, since a virtual machine's
// clock errs in both directions. The data of a launch is in cache as far as it fits.
#include "compiler/target/cpu/Compile.h"
#include "compiler/target/cpu/Target.h"
#include "dialects/train/Policies.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"
#include "tests/benchmarks/Peak.h"
#include "tests/numerics/LoadedObject.h"
#include "llvm/ADT/MapVector.h"
#include <cmath>
#include <cstdio>
#include <cstdlib>

using namespace mlir;
using namespace recipe;

namespace {

// The first launch of a kernel, and how often the module launches it.
struct Distinct {
  train::KernelOp op;
  size_t launch; // of that op
  int64_t count = 0;
};

step::LaunchAttr launchOf(train::KernelOp op, size_t i) { return cast<step::LaunchAttr>((*op.getLaunches())[i]); }

// The memory of one train.kernel: positive floats of moderate size, ids below 64.
class Memory {
public:
  explicit Memory(train::KernelOp op) {
    int64_t scratchBytes = 0;
    for (size_t i = 0; i < op.getLaunches()->size(); ++i)
      scratchBytes = std::max(scratchBytes, launchOf(op, i).getScratchBytes());
    scratch = place(scratchBytes);
    for (Type type : op.getOperandTypes())
      operands.push_back(placeOf(type));
    for (Type type : op.getResultTypes())
      results.push_back(placeOf(type));
    llvm::ArrayRef<int64_t> sizes = *op.getTemps();
    for (int64_t bytes : sizes)
      temps.push_back(place(bytes));
    size_t bytes = size_t(next + kHuge - 1) / kHuge * kHuge;
    base = static_cast<char *>(std::aligned_alloc(kHuge, bytes));
    madvise(base, bytes, MADV_HUGEPAGE);
    std::memset(base, 0, bytes);
    for (auto [type, offset] : llvm::zip(op.getOperandTypes(), operands))
      fill(cast<RankedTensorType>(type), base + offset);
  }
  ~Memory() { std::free(base); }
  Memory(const Memory &) = delete;

  void *address(step::ArgumentAttr argument) const {
    const SmallVector<int64_t> &places = argument.getKind() == step::ArgumentKind::Operand  ? operands
                                         : argument.getKind() == step::ArgumentKind::Result ? results
                                                                                            : temps;
    return base + places[size_t(argument.getIndex())] + argument.getOffset();
  }
  void *scratchAddress() const { return base + scratch; }

private:
  static constexpr int64_t kHuge = 2 << 20;

  int64_t place(int64_t bytes) {
    int64_t at = next;
    next += llvm::alignTo(bytes, 64) + 17 * 64; // equal distances from one page would make stores and loads collide
    return at;
  }
  int64_t placeOf(Type type) { return place(cast<RankedTensorType>(type).getNumElements() * 4); }
  void fill(RankedTensorType type, char *at) {
    for (int64_t i = 0, n = type.getNumElements(); i < n; ++i) {
      seed = seed * 1664525u + 1013904223u;
      float value = 0.5f + float(seed >> 8) * 0x1p-24f;
      int32_t id = int32_t(seed >> 26);
      std::memcpy(at + i * 4, type.getElementType().isF32() ? static_cast<void *>(&value) : &id, 4);
    }
  }

  int64_t next = 0, scratch = 0;
  SmallVector<int64_t> operands, results, temps;
  char *base = nullptr;
  uint32_t seed = 1;
};

const rcp_host_v1 host = {std::exp, std::log, std::pow, std::cos};

// Seconds of one launch: the lower quartile of those measured.
double measure(const Distinct &kernel, const test::LoadedObject &object, double seconds) {
  train::KernelOp op = kernel.op;
  Memory memory(op);
  rcp_step_params_v1 params{};
  params.node_count = 1, params.valid_tokens = 1, params.loss_sum = 1;
  params.grad_scale = params.learning_rate = 1e-3, params.bias_correction1 = params.bias_correction2 = 0.5;
  auto run = [&](size_t i) {
    step::LaunchAttr launch = launchOf(op, i);
    SmallVector<void *> buffers;
    for (step::ArgumentAttr argument : launch.getArguments())
      buffers.push_back(memory.address(argument));
    rcp_launch_v1 arguments{buffers.data(), launch.getScalars().asArrayRef().data(), &params, &host};
    rcp_kernel_v1 function = object.kernel(launch.getKernel().getValue().str());
    double begin = bench::cpuSeconds();
    for (int64_t w = 0; w < launch.getWorkgroups(); ++w)
      function(&arguments, w, memory.scratchAddress());
    return bench::cpuSeconds() - begin;
  };
  // Later launches of an op read what earlier ones leave in temporaries.
  for (size_t i = 0; i < op.getLaunches()->size(); ++i)
    run(i);
  std::vector<double> times;
  for (double start = bench::cpuSeconds(); times.size() < 3 || bench::cpuSeconds() - start < seconds;)
    times.push_back(run(kernel.launch));
  llvm::sort(times);
  return times[times.size() / 4];
}

using Kernels = llvm::MapVector<StringRef, Distinct>;

Kernels distinctKernels(ModuleOp module) {
  Kernels kernels;
  module.walk([&](train::KernelOp op) {
    for (size_t i = 0; i < op.getLaunches()->size(); ++i) {
      Distinct first{op, i};
      ++kernels.insert({launchOf(op, i).getKernel().getValue(), first}).first->second.count;
    }
  });
  return kernels;
}

std::string describe(ModuleOp module, StringRef symbol) {
  auto kernel = module.lookupSymbol<step::KernelOp>(symbol);
  std::string text;
  llvm::raw_string_ostream(text) << symbol << " " << kernel.getSpec();
  return text;
}

int run(const char *file, StringRef filter, double seconds, int64_t maxThreads, const char *arch) {
  llvm::Expected<step::TargetInfo> target = cpu::resolveTarget(arch, maxThreads);
  if (!target) {
    std::fprintf(stderr, "%s\n", llvm::toString(target.takeError()).c_str());
    return 1;
  }
  MLIRContext context;
  context.loadDialect<train::TrainDialect, step::StepDialect, dist::DistDialect>();
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(file, &context);
  PassManager passes(&context);
  passes.addPass(createSelectKernelsPass(*target));
  if (!module || failed(passes.run(*module)))
    return 1;
  SmallVector<step::KernelOp> all(module->getOps<step::KernelOp>());
  llvm::Expected<std::string> object = cpu::compileKernels(all, *target, 2);
  if (!object) {
    std::fprintf(stderr, "%s\n", llvm::toString(object.takeError()).c_str());
    return 1;
  }
  test::LoadedObject loaded(*object);
  train::FlushDenormals flush;
  std::vector<double> peaks(200);
  for (double &peak : peaks)
    peak = bench::measurePeak(target->vectorBits >= 512);
  llvm::sort(peaks);
  double peak = peaks[peaks.size() * 3 / 4];
  std::printf("%s, peak %.1f GFLOP/s\n%9s %8s %8s %8s %7s  kernel\n", target->cpu.c_str(), peak * 1e-9, "us",
              "launches", "GFLOP/s", "of peak", "GB/s");
  for (auto &[symbol, kernel] : distinctKernels(*module)) {
    std::string line = describe(*module, symbol);
    if (line.find(filter) == std::string::npos)
      continue;
    step::LaunchAttr launch = launchOf(kernel.op, kernel.launch);
    double time = measure(kernel, loaded, seconds);
    std::printf("%9.2f %8ld %8.1f %7.1f%% %7.1f  %s\n", time * 1e6, long(kernel.count),
                double(launch.getFlops()) / time * 1e-9, 100 * double(launch.getFlops()) / time / peak,
                double(launch.getBytes()) / time * 1e-9, line.c_str());
    std::fflush(stdout);
  }
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: kernel-bench module.mlir [filter [seconds per kernel [max_threads [arch]]]]\n");
    return 1;
  }
  auto argument = [&](int i, const char *otherwise) { return argc > i ? argv[i] : otherwise; };
  return run(argv[1], argument(2, ""), std::atof(argument(3, "0.2")), std::atoll(argument(4, "16")),
             argument(5, "native"));
}
