#include "passes/select/GemmLaunch.h"
#include "mlir/IR/Builders.h"
#include "passes/GemmStepCounts.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <numeric>

using namespace mlir;

namespace recipe::select {
namespace {

constexpr int64_t kLanes = 16;
constexpr int64_t kMostRows = 1024, kMostColumns = 384; // of a block of C
// Where panels take turns and no chain rests: beside the left operand L2 holds few values.
constexpr int64_t kMostColumnsOfStep = 768, kMostColumnsNearL3 = 1536;
constexpr int64_t kMostPendingBytes = 4 << 20;

struct Tile {
  int64_t rows, vectors; // vectors of 16 lanes
  int64_t columns() const { return vectors * kLanes; }
  int64_t floats() const { return rows * columns(); }
};

struct Blocking {
  int64_t rows = 0, columns = 0; // of a block of C, multiples of the tile
  int64_t kBlock = 0;            // rows of K packed at once
  bool turns = false;            // panel by panel, packed while chains run: see passes/codegen/GemmPanels.cpp
};

bool isWide(const step::TargetInfo &target) { return target.vectorBits >= kLanes * 32; }

GemmOperands operandsOf(const GemmShape &shape, const step::TargetInfo &target) {
  return !shape.bf16 ? GemmOperands::F32 : target.dotsBF16 ? GemmOperands::Pairs : GemmOperands::Widened;
}

int64_t totalK(const GemmShape &shape) { return std::accumulate(shape.k.begin(), shape.k.end(), int64_t(0)); }

// Of the packing buffers, and of the loop over K.
int64_t totalRows(const GemmShape &shape, const step::TargetInfo &target) {
  int64_t rows = 0;
  for (size_t i = 0; i < shape.segments.size(); i += 2)
    rows += packedRows(operandsOf(shape, target), shape.segments[i + 1] - shape.segments[i]);
  return rows;
}

// Form tn reads the left operand down its columns. It is packed unless L2 holds it, with as much beside it: then half
// of each cache line read in vain costs less than packing. bf16 is packed as the chains take it.
bool packsLhs(const GemmShape &shape, const step::TargetInfo &target) {
  bool tn = shape.form == train::ContractForm::TN;
  switch (operandsOf(shape, target)) {
  case GemmOperands::F32:
    return tn && totalK(shape) * shape.m * 4 > target.l2Bytes / 2;
  case GemmOperands::Widened:
    return true;
  case GemmOperands::Pairs:
    return tn;
  case GemmOperands::Tiles:
  case GemmOperands::Split:
    return true;
  }
}

// Rows that are packed, not tiles, can be packed a tile at a time, just before its chains, and stay in L1. Not measured
// with wide vectors.
bool packsByTile(const GemmShape &shape, const step::TargetInfo &target) {
  return !isWide(target) && packsLhs(shape, target) && shape.form != train::ContractForm::TN;
}

// The right operand's rows are read where they are when few tiles use them again. With 256-bit vectors not where they
// share sets of L1 that would hold them packed: then every tile waits for L2.
bool packsRhs(const GemmShape &shape, const step::TargetInfo &target) {
  constexpr int64_t kBytesOfWay = 4096, kWays = 8;
  int64_t rows = totalK(shape), held = kBytesOfWay / std::gcd(kBytesOfWay, shape.n * 4) * kWays;
  bool collide = !isWide(target) && rows > held / 2 && rows * kLanes * 4 <= target.l1Bytes / 2;
  return shape.bf16 || shape.form == train::ContractForm::NT || shape.m > 128 || collide;
}

// As many accumulators as the registers hold, next to a row of the right operand and one broadcast value: the larger
// the tile, the fewer loads for a multiply-add. Rows of the left operand that lie multiples of 4 KiB apart share a set
// of L1, which holds eight of them beside the right operand's.
Tile chooseTile(const GemmShape &shape, const step::TargetInfo &target) {
  int64_t registersPerVector = std::max<int64_t>(1, kLanes * 32 / target.vectorBits);
  int64_t vectors = isWide(target) && target.vectorRegisters >= 32 ? 2 : 1;
  int64_t mostRows = 14, bytes = shape.bf16 ? 2 : 4;
  bool rowsCollide = llvm::any_of(shape.k, [&](int64_t k) { return k * bytes % 4096 == 0; });
  if (rowsCollide && shape.form != train::ContractForm::TN && !packsLhs(shape, target)) {
    mostRows = 8;
    if (vectors == 2 && (shape.n % (3 * kLanes) == 0 || shape.n >= 30 * kLanes))
      vectors = 3;
  }
  int64_t registersPerRow = registersPerVector * vectors;
  return {std::clamp<int64_t>((target.vectorRegisters - registersPerRow - 1) / registersPerRow, 1, mostRows), vectors};
}

// The panels of a block take at most three quarters of L2; of a long K less, where packed rows of the left operand lie
// beside them. Beside the rows of forms nn and nt, where they are not packed, a small L2 (512 KiB) holds half of that.
// An L3 that is near may hold all of K, and no chain rests then.
int64_t chooseKBlock(const GemmShape &shape, int64_t columns, const step::TargetInfo &target) {
  constexpr int64_t kMost = 768, kMostBesideLhs = 512, kMostNearL3 = 3072;
  constexpr int64_t kSmallL2 = 512 << 10;
  int64_t rows = std::max<int64_t>(totalRows(shape, target), 1);
  bool rowsPass = shape.form != train::ContractForm::TN && !packsLhs(shape, target);
  int64_t l2Bytes = target.l2Bytes <= kSmallL2 && rowsPass ? target.l2Bytes / 2 : target.l2Bytes;
  bool nearL3HoldsAll = rows <= std::min(target.nearL3Bytes / (4 * columns) / 8 * 8, kMostNearL3);
  if (nearL3HoldsAll && shape.form != train::ContractForm::TN)
    return rows;
  int64_t fits = l2Bytes * 3 / 4 / (4 * columns);
  int64_t most = rows > kMost && packsLhs(shape, target) ? kMostBesideLhs : kMost;
  return std::min(rows, std::clamp<int64_t>(fits, 128, most) / 8 * 8);
}

GemmStepCounts stepsOf(const GemmShape &shape, const Blocking &blocking, const step::TargetInfo &target) {
  return {shape.segments, int64_t(shape.k.size()), blocking.kBlock, operandsOf(shape, target), 0, shape.subtrees};
}

int64_t pendingBytes(const GemmShape &shape, const Tile &tile, const Blocking &blocking,
                     const step::TargetInfo &target) {
  GemmStepCounts steps = stepsOf(shape, blocking, target);
  return steps.pendingBytes(blocking.rows / tile.rows * (blocking.columns / tile.columns()), tile.floats());
}

// The left operand's two buffers take half of L2 then, its single one if K has one step. Or all of it lies in an L3
// that is near, and the panel, of all of K, in L2.
int64_t chooseKBlockInTurns(const GemmShape &shape, int64_t rows, const step::TargetInfo &target) {
  constexpr int64_t kMost = 512, kMostNearL3 = 4096;
  int64_t all = std::max<int64_t>(totalRows(shape, target), 1);
  if (all <= std::min(target.nearL3Bytes / (4 * rows), kMostNearL3))
    return all;
  int64_t fits = target.l2Bytes / 2 / (4 * rows);
  return all <= std::min(fits, kMost) ? all : std::clamp<int64_t>(fits / 2, 128, kMost) / 8 * 8;
}

// Widened operands take turns nowhere.
bool hasWholeUnits(const GemmShape &shape, const step::TargetInfo &target) {
  GemmOperands operands = operandsOf(shape, target);
  for (size_t i = 0; i < shape.segments.size(); i += 2)
    if ((shape.segments[i + 1] - shape.segments[i]) % termsOfUnit(operands) != 0)
      return false;
  return operands != GemmOperands::Widened;
}

// Whether panels can take turns: each block has a whole tile, and L2 holds the next panel, as it lies in memory, until
// its turn comes: its rows share sets where they lie multiples of some KiB apart. Of 256-bit vectors the tile does not
// stay in registers then.
bool takesTurns(const GemmShape &shape, const Tile &tile, const Blocking &blocking, const step::TargetInfo &target) {
  constexpr int64_t kBytesOfWay = 128 << 10;
  GemmStepCounts steps = stepsOf(shape, blocking, target);
  int64_t rest = shape.m % blocking.rows, bytes = shape.bf16 ? 2 : 4;
  int64_t distinct = kBytesOfWay / std::gcd(kBytesOfWay, shape.n * bytes);
  int64_t rows = blocking.kBlock * termsOfUnit(operandsOf(shape, target));
  return isWide(target) && shape.form == train::ContractForm::TN && hasWholeUnits(shape, target) &&
         shape.subtrees == 1 && packsLhs(shape, target) && packsRhs(shape, target) && shape.m >= tile.rows &&
         shape.n >= tile.columns() && (rest == 0 || rest >= tile.rows) &&
         (target.nearL3Bytes > 0 || rows * kBytesOfWay <= distinct * target.l2Bytes / 2) &&
         (steps.oneStepEach() || (target.nearL3Bytes > 0 && steps.groups == 1));
}

int64_t workgroupsOf(const GemmShape &shape, const Blocking &blocking) {
  return llvm::divideCeil(shape.m, blocking.rows) * llvm::divideCeil(shape.n, blocking.columns) * shape.subtrees;
}

// What moving an element costs, in multiply-adds: measured on Zen 1 (one 256-bit fma in a cycle) and on Sapphire Rapids
// (two of 512 bits), where the data comes from L3.
struct ElementCosts {
  double pack, stream, result;
  double lhsInTurns, rhsInTurns; // packed while chains run; with wide vectors only
};

// The time of a launch, summed over machines of 1, 2, 4, ... threads: workgroups are equal and dealt out one by one. A
// workgroup's start is counted too.
double launchTime(const GemmShape &shape, const Blocking &blocking, const step::TargetInfo &target) {
  constexpr double kStart = 30000;
  double half = shape.bf16 ? 0.5 : 1;
  const ElementCosts costs = target.nearL3Bytes > 0 ? ElementCosts{20 * half, 8 * half, 40, 10 * half, 4 * half}
                             : isWide(target)       ? ElementCosts{30, 16, 40, 16, 8}
                                                    : ElementCosts{12, 4, 10, 8, 4};
  double k = double(totalK(shape)) / double(shape.subtrees),
         chain = double(totalRows(shape, target)) / double(shape.subtrees), rows = double(blocking.rows),
         columns = double(blocking.columns);
  double perRow = packsLhs(shape, target) ? costs.pack : costs.stream;
  double perColumn = packsRhs(shape, target) ? costs.pack : costs.stream;
  if (blocking.turns) {
    double first = std::min(1.0, double(blocking.kBlock) / chain); // of the left operand, is packed by itself
    perRow = first * costs.pack + (1 - first) * costs.lhsInTurns, perColumn = costs.rhsInTurns;
  }
  double passes = std::ceil(chain / double(blocking.kBlock));
  double group = chain * rows * columns + k * (columns * perColumn + rows * perRow) +
                 rows * columns * costs.result * passes + kStart;
  int64_t groups = workgroupsOf(shape, blocking);
  double sum = 0;
  for (int64_t threads = 1; threads <= target.maxThreads; threads *= 2)
    sum += double(llvm::divideCeil(groups, threads)) * group;
  return sum;
}

// Blocks that divide C as evenly as they can; of these the one that takes the least time, the first of equals.
Blocking chooseBlocking(const GemmShape &shape, const Tile &tile, const step::TargetInfo &target) {
  // From each size to the next smaller one, however many counts of blocks have the same.
  auto sizes = [](int64_t extent, int64_t unit, int64_t least, int64_t most) {
    SmallVector<int64_t> found;
    for (int64_t count = llvm::divideCeil(extent, most);;) {
      int64_t size = llvm::alignTo(llvm::divideCeil(extent, count), unit);
      if (found.empty() || size >= least)
        found.push_back(size);
      if (size <= least)
        return found;
      count = llvm::divideCeil(extent, size - unit);
    }
  };
  Blocking best;
  double bestTime = 0;
  auto consider = [&](const Blocking &blocking) {
    double time = launchTime(shape, blocking, target);
    if ((best.rows == 0 || time < bestTime) && pendingBytes(shape, tile, blocking, target) <= kMostPendingBytes)
      best = blocking, bestTime = time;
  };
  for (int64_t rows : sizes(shape.m, tile.rows, 4 * tile.rows, kMostRows)) {
    for (int64_t columns : sizes(shape.n, tile.columns(), 64, kMostColumns))
      consider({rows, columns, chooseKBlock(shape, columns, target)});
    int64_t kBlock = chooseKBlockInTurns(shape, rows, target);
    int64_t mostColumns = kBlock < totalRows(shape, target) ? kMostColumns
                          : target.nearL3Bytes > 0          ? kMostColumnsNearL3
                                                            : kMostColumnsOfStep;
    for (int64_t columns : sizes(shape.n, tile.columns(), 64, mostColumns)) {
      Blocking blocking{rows, columns, kBlock, true};
      if (takesTurns(shape, tile, blocking, target))
        consider(blocking);
    }
  }
  return best;
}

} // namespace

Launch gemmLaunch(MLIRContext *context, const GemmShape &shape, const step::TargetInfo &target) {
  if (shape.blocks)
    return gemmAmxLaunch(context, shape, target);
  Tile tile = chooseTile(shape, target);
  Blocking blocking = chooseBlocking(shape, tile, target);
  int64_t kBlock = blocking.kBlock;
  // Scratch, in words of 32 bits: panels of the right operand, tiles or rows of the left one, pending segments.
  GemmOperands operands = operandsOf(shape, target);
  int64_t panelRows = kBlock + panelPadding(operands), columns = blocking.turns ? tile.columns() : blocking.columns;
  int64_t panels = packsRhs(shape, target) ? columns * panelRows : 0;
  int64_t rows = 0;
  bool byTile = packsByTile(shape, target);
  if (packsLhs(shape, target))
    rows = shape.form == train::ContractForm::TN ? blocking.rows / tile.rows * (kBlock * tile.rows + kLanes)
                                                 : (byTile ? tile.rows : blocking.rows) * (kBlock + kLanes);
  if (blocking.turns && kBlock < totalRows(shape, target))
    rows *= 2;
  int64_t packedRows = panels * 4, pending = llvm::alignTo((panels + rows) * 4, 64);

  Builder b(context);
  Launch launch;
  launch.family = "gemm";
  auto set = [&](StringRef name, Attribute value) { launch.spec.push_back(b.getNamedAttr(name, value)); };
  set("form", b.getI64IntegerAttr(int64_t(shape.form)));
  set("operands", b.getI64IntegerAttr(int64_t(operands)));
  set("m", b.getI64IntegerAttr(shape.m));
  set("n", b.getI64IntegerAttr(shape.n));
  set("k", b.getDenseI64ArrayAttr(shape.k));
  set("segments", b.getDenseI64ArrayAttr(shape.segments));
  set("accumulator", b.getI64IntegerAttr(shape.accumulator));
  set("tile", b.getDenseI64ArrayAttr({tile.rows, tile.vectors}));
  set("block", b.getDenseI64ArrayAttr({blocking.rows, blocking.columns}));
  set("k_block", b.getI64IntegerAttr(kBlock));
  set("packs_rhs", b.getI64IntegerAttr(packsRhs(shape, target)));
  set("packs_lhs", b.getI64IntegerAttr(packsLhs(shape, target)));
  set("lhs_by_tile", b.getI64IntegerAttr(byTile));
  set("panel_turns", b.getI64IntegerAttr(blocking.turns));
  set("subtrees", b.getI64IntegerAttr(shape.subtrees));
  if (shape.lhsStride)
    set("lhs_stride", b.getI64IntegerAttr(shape.lhsStride));
  if (shape.resultStride)
    set("result_stride", b.getI64IntegerAttr(shape.resultStride));
  set("scratch", b.getDenseI64ArrayAttr({packedRows, pending}));
  launch.workgroups = workgroupsOf(shape, blocking);
  int64_t k = totalK(shape);
  launch.scratchBytes = pending + pendingBytes(shape, tile, blocking, target);
  launch.bytes = 4 * shape.m * shape.n * (shape.subtrees + int64_t(shape.accumulator));
  launch.flops = 2 * shape.m * shape.n * k;
  launch.bytes += (shape.bf16 ? 2 : 4) * k * (shape.m + shape.n);
  return launch;
}

void addGemmStage(Launch &launch, MLIRContext *context) {
  if (NamedAttrList(launch.spec).get("stage")) // it has one in any case
    return;
  Builder b(context);
  auto tile = cast<DenseI64ArrayAttr>(NamedAttrList(launch.spec).get("tile")).asArrayRef();
  launch.scratchBytes = llvm::alignTo(launch.scratchBytes, 64);
  launch.spec.push_back(b.getNamedAttr("stage", b.getI64IntegerAttr(launch.scratchBytes)));
  launch.scratchBytes += tile[0] * tile[1] * kLanes * 4;
}

} // namespace recipe::select
