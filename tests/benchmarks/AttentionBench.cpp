// Speed of causal attention and its gradient on one thread, as a share of the peak measured in the same run.
//
//   attention-bench [filter [seconds per line [target.arch]]]      filter: part of a line's name
//
// What counts are the multiply-adds of the products over unmasked pairs of positions, two FLOPs each: forward q k and
// p v, backward q k again, dy v, and the three for dq, dk and dv; 4 and 10 FLOPs for each pair and element of a head.
// Exponentials, dropout and masked products are time, not work. Windows that measure the peak lie between workgroups,
// as in gemm-bench: "best" is the best launch over the best mean peak of a launch, the median that of each launch over
// its own.
#include "compiler/target/cpu/Compile.h"
#include "compiler/target/cpu/Target.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "passes/select/KernelRule.h"
#include "runtime/device/cpu/FloatingPoint.h"
#include "tests/benchmarks/Pages.h"
#include "tests/benchmarks/Peak.h"
#include "tests/numerics/LoadedObject.h"
#include "llvm/ADT/StringExtras.h"
#include <array>
#include <cmath>
#include <cstdio>
#include <list>

using namespace mlir;
using namespace recipe;

namespace {

struct Shape {
  int64_t samples, positions, heads, kvHeads, size;
  bool bf16;
  double dropout;

  std::string name(bool backward) const {
    std::string text;
    llvm::raw_string_ostream out(text);
    out << (bf16 ? "bf16 " : "f32 ") << (backward ? "backward " : "forward ") << positions << " positions " << heads
        << " heads of " << size;
    if (kvHeads != heads)
      out << " over " << kvHeads;
    if (dropout != 0)
      out << " dropout";
    return text;
  }
  double pairs() const { return double(samples * heads) * double(positions) * double(positions + 1) / 2; }
  double flops(bool backward) const { return pairs() * double(size) * (backward ? 10 : 4); }
};

std::string tensor(ArrayRef<int64_t> shape, StringRef element) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + element.str() + ">";
}

// A train.kernel of one op.
std::string moduleText(const Shape &s, bool backward, bool blocks) {
  StringRef element = s.bf16 ? "bf16" : "f32";
  auto rows = [&](int64_t heads, StringRef type) { return tensor({s.samples, s.positions, heads * s.size}, type); };
  std::string q = rows(s.heads, element), kv = rows(s.kvHeads, element);
  std::string row = tensor({s.samples, s.heads, s.positions}, "f32");
  std::vector<std::string> operands{q, kv, kv}, results{rows(s.heads, "f32"), row, row};
  if (backward) {
    operands = {q, q, kv, kv, q, row, row};
    results = {rows(s.heads, "f32"), rows(s.kvHeads, "f32"), rows(s.kvHeads, "f32")};
  }
  std::string inputs, names, inner, arguments;
  for (auto [i, type] : llvm::enumerate(operands)) {
    std::string number = std::to_string(i), comma = i ? ", " : "";
    inputs += "%a" + number + " = train.input \"a" + number + "\" : " + type + "\n";
    names += comma + "%a" + number;
    inner += comma + "%x" + number;
    arguments += comma + "%x" + number + ": " + type;
  }
  std::string type = "(" + llvm::join(operands, ", ") + ") -> (" + llvm::join(results, ", ") + ")";
  std::string attributes = "heads = " + std::to_string(s.heads) + " : i64, kv_heads = " + std::to_string(s.kvHeads) +
                           " : i64, scale = " + std::to_string(1 / std::sqrt(double(s.size))) +
                           " : f64, dropout = " + std::to_string(s.dropout) +
                           " : f64, dropout_id = " + (s.dropout != 0 ? "7" : "0") + " : i64" +
                           (blocks ? ", bf16_order = #train<bf16_order blocks>" : "");
  return "train.graph @bench {\n" + inputs + "%r0, %r1, %r2 = train.kernel \"bench\"(" + names + ") : " + type +
         " {\n^bb0(" + arguments + "):\n%y0, %y1, %y2 = train.attention" + (backward ? "_grad " : " ") + inner + " {" +
         attributes + "} : " + type + "\ntrain.yield %y0, %y1, %y2 : " + llvm::join(results, ", ") + "\n}\n}\n";
}

int64_t floatsOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getNumElements() * (tensor.getElementType().isF32() ? 4 : 2) / 4 + 1;
}

// The op's launch, and memory to run it in.
class Runnable {
public:
  Runnable(train::KernelOp op, const select::Launch &launch, const std::string &object)
      : workgroups(launch.workgroups), scratchBytes(launch.scratchBytes), loaded(object),
        kernel(loaded.kernel("attention")), scalars(launch.scalars), scratch(scratchBytes / 4 + 1) {
    for (auto [i, type] : llvm::enumerate(op.getOperandTypes())) {
      bench::Pages &pages = memory.emplace_back(floatsOf(type));
      pages.fill(uint32_t(i) + 1, cast<RankedTensorType>(type).getElementType().isBF16());
      // Gradients take the maximum and the sum of a row's exponentials: likely ones.
      if (i >= 5)
        std::fill_n(pages.data, floatsOf(type), i == 5 ? 1.0f : 100.0f);
    }
    for (Type type : op.getResultTypes())
      memory.emplace_back(floatsOf(type));
    for (const select::Argument &argument : launch.arguments) {
      bool isResult = argument.kind == step::ArgumentKind::Result;
      buffers.push_back(std::next(memory.begin(), argument.index + (isResult ? op.getNumOperands() : 0))->data);
    }
    params.node_count = 1;
    arguments = {buffers.data(), scalars.data(), &params, nullptr};
  }

  // Seconds of a launch, and the mean peak of windows between its workgroups.
  std::pair<double, double> secondsAndPeak(double (*measurePeak)()) {
    double seconds = 0, peakSeconds = 0;
    for (int64_t w = 0; w < workgroups; ++w) {
      peakSeconds += 1 / measurePeak();
      seconds += bench::undisturbedSeconds([&] { kernel(&arguments, w, scratch.data); });
    }
    return {seconds, double(workgroups) / peakSeconds};
  }

  const int64_t workgroups, scratchBytes;

private:
  test::LoadedObject loaded;
  rcp_kernel_v1 kernel;
  SmallVector<int64_t> scalars;
  std::list<bench::Pages> memory; // operands, then results
  bench::Pages scratch;
  SmallVector<void *> buffers;
  rcp_step_params_v1 params{};
  rcp_launch_v1 arguments{};
};

struct Bench {
  step::TargetInfo target;
  double seconds; // for a line
  double (*peak)();
};

bool run(const Shape &shape, bool backward, const Bench &bench) {
  MLIRContext context;
  context.loadDialect<train::TrainDialect, step::StepDialect>();
  auto module = parseSourceString<ModuleOp>(moduleText(shape, backward, shape.bf16 && bench.target.tilesBF16),
                                            ParserConfig(&context));
  if (!module)
    return false;
  train::KernelOp op;
  module->walk([&](train::KernelOp found) { op = found; });
  select::KernelPlan plan;
  if (failed(select::planRegion(op, bench.target, plan)))
    return false;
  const select::Launch &launch = plan.launches.front();
  OpBuilder builder(module->getBodyRegion());
  auto kernel = step::KernelOp::create(builder, module->getLoc(), "attention", launch.family,
                                       builder.getDictionaryAttr(launch.spec));
  llvm::Expected<std::string> object = cpu::compileKernels({kernel}, bench.target, 1);
  if (!object) {
    std::fprintf(stderr, "%s\n", llvm::toString(object.takeError()).c_str());
    return false;
  }
  Runnable runnable(op, launch, *object);
  std::vector<double> shares;
  double bestRate = 0, bestPeak = 0, flops = shape.flops(backward);
  for (double start = bench::cpuSeconds(); shares.size() < 3 || bench::cpuSeconds() - start < bench.seconds;) {
    auto [seconds, peak] = runnable.secondsAndPeak(bench.peak);
    bestRate = std::max(bestRate, flops / seconds), bestPeak = std::max(bestPeak, peak);
    shares.push_back(flops / seconds / peak);
  }
  llvm::sort(shares);
  std::printf("%-52s %5.1f %% of peak (median %5.1f) %7.1f GFLOP/s %6ld KiB scratch\n", shape.name(backward).c_str(),
              100 * bestRate / bestPeak, 100 * shares[shares.size() / 2], bestRate * 1e-9,
              long(runnable.scratchBytes >> 10));
  std::fflush(stdout);
  return true;
}

} // namespace

int main(int argc, char **argv) {
  Bench bench{{}, 0.5, nullptr};
  if (argc > 2 && (StringRef(argv[2]).getAsDouble(bench.seconds) || !(bench.seconds > 0))) {
    std::fprintf(stderr, "attention-bench: the seconds per line must be a number above 0, got: %s\n", argv[2]);
    return 1;
  }
  llvm::Expected<step::TargetInfo> target = cpu::resolveTarget(argc > 3 ? argv[3] : "native", 1);
  if (!target) {
    std::fprintf(stderr, "%s\n", llvm::toString(target.takeError()).c_str());
    return 1;
  }
  bench.target = *target;
  bench.peak =
      target->vectorBits >= 512 ? +[] { return bench::measurePeak(true); } : +[] { return bench::measurePeak(false); };
  rt::KernelFloatingPoint mode;
  double best = 0;
  for (int i = 0; i < 200; ++i)
    best = std::max(best, bench.peak());
  std::printf("%s, peak %.1f GFLOP/s, of vdpbf16ps %.1f\n", target->cpu.c_str(), best * 1e-9,
              bench::measureDotPeak() * 1e-9);
  for (bool bf16 : {false, true})
    for (double dropout : {0.0, 0.1})
      for (auto [positions, heads, kvHeads, size] :
           {std::array<int64_t, 4>{1024, 12, 12, 64}, {2048, 8, 2, 128}, {256, 2, 2, 32}})
        for (bool backward : {false, true}) {
          Shape shape{1, positions, heads, kvHeads, size, bf16, dropout};
          if (StringRef(shape.name(backward)).contains(argc > 1 ? argv[1] : "") && !run(shape, backward, bench))
            return 1;
        }
  return 0;
}
