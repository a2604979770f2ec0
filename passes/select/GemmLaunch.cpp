#include "passes/select/GemmLaunch.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;

namespace recipe::select {
namespace {

constexpr int64_t kLanes = 16;
constexpr int64_t kMaxBlock = 384; // rows and columns of a block of C
constexpr int64_t kMaxPendingBytes = 1 << 20;

struct Tile {
  int64_t rows, vectors; // vectors of 16 lanes
  int64_t columns() const { return vectors * kLanes; }
};

struct Block {
  int64_t rows, columns;
};

// All accumulators in registers, next to a row of the right operand and one broadcast value. More than 8 rows gain
// nothing.
Tile chooseTile(const step::TargetInfo &target) {
  int64_t registersPerVector = std::max<int64_t>(1, kLanes * 32 / target.vectorBits);
  int64_t vectors = target.vectorBits >= kLanes * 32 && target.vectorRegisters >= 32 ? 2 : 1;
  int64_t registersPerRow = registersPerVector * vectors;
  return {std::clamp<int64_t>((target.vectorRegisters - registersPerRow - 1) / registersPerRow, 1, 8), vectors};
}

int64_t totalK(const GemmShape &shape) { return std::accumulate(shape.k.begin(), shape.k.end(), int64_t(0)); }

// Form tn reads the left operand down its columns. It is packed unless L2 holds it, with as much beside it: then half
// of each cache line read in vain costs less than packing.
bool packsLhs(const GemmShape &shape, const step::TargetInfo &target) {
  return shape.form == train::ContractForm::TN && totalK(shape) * shape.m * 4 > target.l2Bytes / 2;
}

int64_t pendingLevels(const GemmShape &shape) {
  return llvm::Log2_64_Ceil(shape.segments.size() / (2 * shape.k.size()));
}

// The time of a launch, summed over machines of 1, 2, 4, ... threads: workgroups are equal and dealt out one by one.
// Packing and streaming an element are counted in multiply-adds, a workgroup's start too; the factors were measured on
// AVX2.
double launchTime(const GemmShape &shape, const Block &block, const step::TargetInfo &target) {
  constexpr double kPackColumn = 12, kPackRow = 12, kStreamRow = 4, kStart = 30000;
  double k = double(totalK(shape)), rows = double(block.rows), columns = double(block.columns);
  double perRow = packsLhs(shape, target) ? kPackRow : kStreamRow;
  double group = k * (rows * columns + columns * kPackColumn + rows * perRow) + kStart;
  int64_t groups = llvm::divideCeil(shape.m, block.rows) * llvm::divideCeil(shape.n, block.columns);
  double sum = 0;
  for (int64_t threads = 1; threads <= target.maxThreads; threads *= 2)
    sum += double(llvm::divideCeil(groups, threads)) * group;
  return sum;
}

// Blocks that divide C as evenly as they can; of these the one that takes the least time, the first of equals.
Block chooseBlock(const GemmShape &shape, const Tile &tile, const step::TargetInfo &target) {
  auto sizes = [](int64_t extent, int64_t unit, int64_t least) {
    SmallVector<int64_t> found;
    for (int64_t count = llvm::divideCeil(extent, kMaxBlock);; ++count) {
      int64_t size = llvm::alignTo(llvm::divideCeil(extent, count), unit);
      if (found.empty() || (size != found.back() && size >= least))
        found.push_back(size);
      if (size <= least)
        return found;
    }
  };
  Block best{0, 0};
  double bestTime = 0;
  for (int64_t rows : sizes(shape.m, tile.rows, 8 * tile.rows))
    for (int64_t columns : sizes(shape.n, tile.columns(), 64)) {
      if (pendingLevels(shape) * rows * columns * 4 > kMaxPendingBytes)
        continue;
      double time = launchTime(shape, {rows, columns}, target);
      if (best.rows == 0 || time < bestTime)
        best = {rows, columns}, bestTime = time;
    }
  return best;
}

// Rows of K packed at once: the panels of a block take at most three quarters of L2, with the tiles of a transposed
// left operand, which are read once for each row of tiles, five quarters.
int64_t chooseKBlock(const GemmShape &shape, const Block &block, const step::TargetInfo &target) {
  int64_t fits = target.l2Bytes * 3 / 4 / (4 * block.columns);
  if (shape.form == train::ContractForm::TN)
    fits = std::min(fits, target.l2Bytes * 5 / 4 / (4 * (block.columns + block.rows)));
  return std::min(totalK(shape), std::clamp<int64_t>(fits, 128, 768) / 8 * 8);
}

// Whether a chain takes several steps (passes/codegen/GemmSpec.cpp): between them it rests in C.
bool chainsRest(const GemmShape &shape, int64_t kBlock) {
  size_t pairs = shape.k.size();
  for (size_t segment = 0; segment < shape.segments.size(); segment += 2 * pairs) {
    int64_t steps = 0;
    for (size_t pair = 0; pair < pairs; ++pair)
      steps += llvm::divideCeil(shape.segments[segment + 2 * pair + 1] - shape.segments[segment + 2 * pair], kBlock);
    if (steps > 1)
      return true;
  }
  return false;
}

} // namespace

Launch gemmLaunch(MLIRContext *context, const GemmShape &shape, const step::TargetInfo &target) {
  Tile tile = chooseTile(target);
  Block block = chooseBlock(shape, tile, target);
  int64_t kBlock = chooseKBlock(shape, block, target);
  // Scratch, in floats: panels of the right operand, tiles of a transposed left one, pending segments.
  int64_t panels = block.columns / tile.columns() * (kBlock + 9) * tile.columns();
  int64_t rows = packsLhs(shape, target) ? block.rows / tile.rows * (kBlock * tile.rows + kLanes) : 0;
  int64_t packedRows = panels * 4, pending = llvm::alignTo((panels + rows) * 4, 64);

  Builder b(context);
  Launch launch;
  launch.family = "gemm";
  auto set = [&](StringRef name, Attribute value) { launch.spec.push_back(b.getNamedAttr(name, value)); };
  set("form", b.getI64IntegerAttr(int64_t(shape.form)));
  set("m", b.getI64IntegerAttr(shape.m));
  set("n", b.getI64IntegerAttr(shape.n));
  set("k", b.getDenseI64ArrayAttr(shape.k));
  set("segments", b.getDenseI64ArrayAttr(shape.segments));
  set("accumulator", b.getI64IntegerAttr(shape.accumulator));
  set("tile", b.getDenseI64ArrayAttr({tile.rows, tile.vectors}));
  set("block", b.getDenseI64ArrayAttr({block.rows, block.columns}));
  set("k_block", b.getI64IntegerAttr(kBlock));
  set("packs_lhs", b.getI64IntegerAttr(packsLhs(shape, target)));
  set("scratch", b.getDenseI64ArrayAttr({packedRows, pending}));
  launch.workgroups = llvm::divideCeil(shape.m, block.rows) * llvm::divideCeil(shape.n, block.columns);
  int64_t k = totalK(shape);
  // When all of K is packed at once, a tile finishes before the next begins.
  bool perTile = k <= kBlock;
  launch.scratchBytes =
      pending + pendingLevels(shape) * 4 * (perTile ? tile.rows * tile.columns() : block.rows * block.columns);
  launch.bytes = 4 * shape.m * shape.n * (1 + int64_t(shape.accumulator));
  launch.flops = 2 * shape.m * shape.n * k;
  launch.bytes += 4 * k * (shape.m + shape.n);
  launch.resultRests = chainsRest(shape, kBlock);
  return launch;
}

void addGemmStage(Launch &launch, MLIRContext *context) {
  Builder b(context);
  auto tile = cast<DenseI64ArrayAttr>(NamedAttrList(launch.spec).get("tile")).asArrayRef();
  launch.scratchBytes = llvm::alignTo(launch.scratchBytes, 64);
  launch.spec.push_back(b.getNamedAttr("stage", b.getI64IntegerAttr(launch.scratchBytes)));
  launch.scratchBytes += tile[0] * tile[1] * kLanes * 4;
}

} // namespace recipe::select
