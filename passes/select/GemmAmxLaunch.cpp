// The launch of one gemm_amx kernel (passes/codegen/GemmAmx.h).
#include "mlir/IR/Builders.h"
#include "passes/GemmStepCounts.h"
#include "passes/select/GemmLaunch.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace mlir;

namespace recipe::select {
namespace {

constexpr int64_t kExtent = 32; // of the values in registers
constexpr int64_t kValueBytes = 4 * kExtent * kExtent;
constexpr int64_t kMostRows = 4096, kMostColumns = 1024; // of a block of C
constexpr int64_t kMostPendingBytes = 4 << 20;

struct Blocking {
  int64_t rows = 0, columns = 0; // of a block of C
  int64_t kBlock = 0;            // blocks of 32 terms that are packed at once
};

GemmOperands operandsOf(const GemmShape &shape) { return shape.bf16 ? GemmOperands::Tiles : GemmOperands::Split; }

int64_t totalBlocks(const GemmShape &shape) {
  int64_t blocks = 0;
  for (size_t i = 0; i < shape.segments.size(); i += 2)
    blocks += packedRows(operandsOf(shape), shape.segments[i + 1] - shape.segments[i]);
  return std::max<int64_t>(blocks, 1);
}

GemmStepCounts stepsOf(const GemmShape &shape, const Blocking &blocking) {
  return {shape.segments, int64_t(shape.k.size()), blocking.kBlock, operandsOf(shape), shape.sample};
}

int64_t valuesOf(const Blocking &blocking) { return blocking.rows / kExtent * (blocking.columns / kExtent); }

int64_t pendingBytes(const GemmStepCounts &steps, const Blocking &blocking) {
  return steps.pendingBytes(valuesOf(blocking), kExtent * kExtent, blocking.columns / kExtent);
}

// Scratch for what is packed: of the right operand, and 32 rows of the left one.
int64_t panelsBytes(const GemmShape &shape, const Blocking &blocking) {
  return blocking.columns / kExtent * gemmAmxPanelBytes(operandsOf(shape), blocking.kBlock);
}
int64_t rowsBytes(const GemmShape &shape, const Blocking &blocking) {
  return blocking.kBlock * gemmAmxBlockBytes(operandsOf(shape));
}

// Cycles, measured on Sapphire Rapids with operands in L3.
struct Costs {
  double multiply;                    // of a block of terms of 32 x 32 values
  double copy, interleave, transpose; // of packing one of 32 rows or columns
  double far;                         // of 32 x 32 values that go farther than L2 and come back
};

// Those named here are of 32 x 32 values that go to L2 and come back, that are merged, that become the result.
double groupTime(const GemmShape &shape, const Blocking &blocking, const step::TargetInfo &target) {
  constexpr double kStart = 5000, kMerge = 250, kResult = 400, kRest = 200;
  const Costs costs = shape.bf16 ? Costs{85, 450, 550, 600, 1200} : Costs{420, 2800, 2700, 2800, 2000};
  GemmStepCounts steps = stepsOf(shape, blocking);
  double blocks = double(totalBlocks(shape)), values = double(valuesOf(blocking));
  int64_t rowSets = blocking.rows / kExtent, panels = blocking.columns / kExtent;
  int64_t resident = panelsBytes(shape, blocking) + rowsBytes(shape, blocking);
  bool staysNear = resident + pendingBytes(steps, blocking) < target.l2Bytes * 3 / 4;
  double perRow = shape.form == train::ContractForm::TN ? costs.transpose : costs.copy;
  double perColumn = shape.form == train::ContractForm::NT ? costs.transpose : costs.interleave;
  int64_t segments = int64_t(shape.segments.size() / (2 * shape.k.size()));
  double ends = double(segments), groups = double(steps.groups);
  double moves = (double(steps.steps) - ends) * kRest + (ends - 1) * kMerge;
  if (!staysNear && steps.crossingLevels() > 0)
    moves += (groups - 1) * costs.far;
  return blocks * (values * costs.multiply + double(rowSets) * perRow + double(panels) * perColumn) +
         values * (kResult + moves) + kStart;
}

// Summed over machines of 1, 2, 4, ... threads: workgroups are equal and dealt out one by one.
double launchTime(const GemmShape &shape, const Blocking &blocking, const step::TargetInfo &target) {
  int64_t groups = llvm::divideCeil(shape.m, blocking.rows) * llvm::divideCeil(shape.n, blocking.columns);
  double group = groupTime(shape, blocking, target), sum = 0;
  for (int64_t threads = 1; threads <= target.maxThreads; threads *= 2)
    sum += double(llvm::divideCeil(groups, threads)) * group;
  return sum;
}

SmallVector<int64_t> evenSizes(int64_t extent, int64_t most) {
  SmallVector<int64_t> found;
  for (int64_t count = llvm::divideCeil(extent, most);;) {
    found.push_back(int64_t(llvm::alignTo(llvm::divideCeil(extent, count), kExtent)));
    if (found.back() <= 2 * kExtent)
      return found;
    count = llvm::divideCeil(extent, found.back() - kExtent); // the next smaller one
  }
}

// Beside the panels L2 holds rows, values and what is fetched; parts are read at twice the rate of whole values.
bool panelsFit(const GemmShape &shape, const Blocking &blocking, const step::TargetInfo &target) {
  int64_t bytes = panelsBytes(shape, blocking);
  return shape.bf16 ? blocking.kBlock <= 12 || bytes <= target.l2Bytes * 3 / 4 : bytes <= target.l2Bytes / 2;
}

// Of those whose panels fit L2, the one that takes the least time, the first of equals.
Blocking chooseBlocking(const GemmShape &shape, const step::TargetInfo &target) {
  Blocking best;
  double bestTime = 0;
  static constexpr int64_t kWhole[] = {12, 24, 32, 36, 48, 64}, kSplit[] = {8, 12, 16, 24, 32};
  auto blocks = shape.bf16 ? ArrayRef(kWhole) : ArrayRef(kSplit);
  for (int64_t most : blocks)
    for (int64_t rows : evenSizes(shape.m, kMostRows))
      for (int64_t columns : evenSizes(shape.n, kMostColumns)) {
        Blocking blocking{rows, columns, std::min(most, totalBlocks(shape))};
        if (!panelsFit(shape, blocking, target))
          continue;
        double time = launchTime(shape, blocking, target);
        if ((best.rows == 0 || time < bestTime) &&
            pendingBytes(stepsOf(shape, blocking), blocking) <= kMostPendingBytes)
          best = blocking, bestTime = time;
      }
  return best;
}

} // namespace

Launch gemmAmxLaunch(MLIRContext *context, const GemmShape &shape, const step::TargetInfo &target) {
  Blocking blocking = chooseBlocking(shape, target);
  // Scratch: panels of the right operand, 32 rows of the left one, values on their way, values that wait.
  int64_t panels = panelsBytes(shape, blocking), stage = panels + rowsBytes(shape, blocking),
          pending = stage + kValueBytes;

  Builder b(context);
  Launch launch;
  launch.family = "gemm_amx";
  auto set = [&](StringRef name, Attribute value) { launch.spec.push_back(b.getNamedAttr(name, value)); };
  set("form", b.getI64IntegerAttr(int64_t(shape.form)));
  set("operands", b.getI64IntegerAttr(int64_t(operandsOf(shape))));
  set("m", b.getI64IntegerAttr(shape.m));
  set("n", b.getI64IntegerAttr(shape.n));
  set("k", b.getDenseI64ArrayAttr(shape.k));
  set("segments", b.getDenseI64ArrayAttr(shape.segments));
  set("sample", b.getI64IntegerAttr(shape.sample));
  set("accumulator", b.getI64IntegerAttr(shape.accumulator));
  set("tile", b.getDenseI64ArrayAttr({kExtent, kExtent / 16}));
  set("block", b.getDenseI64ArrayAttr({blocking.rows, blocking.columns}));
  set("k_block", b.getI64IntegerAttr(blocking.kBlock));
  set("packs_rhs", b.getI64IntegerAttr(1));
  set("packs_lhs", b.getI64IntegerAttr(1));
  set("lhs_by_tile", b.getI64IntegerAttr(0));
  set("panel_turns", b.getI64IntegerAttr(0));
  set("subtrees", b.getI64IntegerAttr(1));
  set("scratch", b.getDenseI64ArrayAttr({panels, pending}));
  set("stage", b.getI64IntegerAttr(stage));
  launch.workgroups = llvm::divideCeil(shape.m, blocking.rows) * llvm::divideCeil(shape.n, blocking.columns);
  launch.scratchBytes = pending + pendingBytes(stepsOf(shape, blocking), blocking);
  int64_t k = std::accumulate(shape.k.begin(), shape.k.end(), int64_t(0));
  launch.flops = 2 * shape.m * shape.n * k;
  launch.bytes =
      4 * shape.m * shape.n * (1 + int64_t(shape.accumulator)) + (shape.bf16 ? 2 : 4) * k * (shape.m + shape.n);
  return launch;
}

} // namespace recipe::select
