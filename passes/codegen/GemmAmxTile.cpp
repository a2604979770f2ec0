// Values in tile registers: 0 to 3 hold 32 x 32 of them, 4 and 5 the left operand's rows, 6 and 7 the right one's
// columns.
#include "dialects/train/Formulas.h"
#include "passes/codegen/GemmAmx.h"
#include "llvm/IR/IntrinsicsX86.h"
#include <functional>

using namespace llvm;

namespace recipe::codegen {

static Val number(KernelBuilder &b, int tile) { return b.ir().getInt8(uint8_t(tile)); }

// L1 is full of what the tiles are loaded from.
static void prefetchToL2(KernelBuilder &b, Address from) {
  b.ir().CreateIntrinsic(Intrinsic::prefetch, {from.pointer->getType()}, {from.pointer, b.i32(0), b.i32(2), b.i32(1)});
}

void GemmAmxEmitter::load(int tile, Address from, Val stride) {
  b.ir().CreateIntrinsic(Intrinsic::x86_tileloadd64, {}, {number(b, tile), from.pointer, stride});
}

void GemmAmxEmitter::loadValues(Address from) {
  for (int tile = 0; tile < 4; ++tile)
    load(tile, b.at(from, tile * kTileBytes, 1), b.i64(4 * kSide));
}

void GemmAmxEmitter::storeValues(Address to) {
  for (int tile = 0; tile < 4; ++tile)
    b.ir().CreateIntrinsic(Intrinsic::x86_tilestored64, {},
                           {number(b, tile), b.at(to, tile * kTileBytes, 1).pointer, b.i64(4 * kSide)});
}

Address GemmAmxEmitter::placeOf(Address values, Val row, int64_t half) {
  Val inTile = b.imul(b.ir().CreateAnd(row, uint64_t(kSide - 1)), 4 * kSide);
  Val tile = b.imul(b.idiv(row, kSide), 2 * kTileBytes);
  return b.at(b.at(values, b.iadd(inTile, tile), 1), half * kTileBytes, 1);
}

// Levels that live within a group first, each for the columns of the block, then for each tile of the block those that
// cross groups.
Address GemmAmxEmitter::levelAt(const Tile &tile, int64_t level) {
  const GemmSteps &steps = spec.steps;
  int64_t floats = kExtent * kExtent, crossing = steps.crossingLevels();
  bool crosses = steps.crossing[size_t(level)];
  int64_t place = llvm::count(ArrayRef(steps.crossing).take_front(size_t(level)), crosses);
  Address pending = b.scratch(spec.pending);
  int64_t panels = spec.blockColumns / kExtent;
  if (!crosses)
    return b.at(b.at(pending, place * panels * floats), b.imul(tile.panel, floats));
  Val tileNumber = b.iadd(b.imul(tile.index, panels), tile.panel);
  Address first = b.at(pending, ((steps.levels() - crossing) * panels + place) * floats);
  return b.at(first, b.imul(tileNumber, crossing * floats));
}

Address GemmAmxEmitter::result(const Tile &tile) {
  return b.at(b.buffer(spec.resultBuffer()), b.iadd(b.imul(tile.row, spec.n), tile.column));
}

Vals GemmAmxEmitter::masksOf(const Tile &tile) {
  Vals masks;
  for (int64_t left = tile.columns; left > 0; left -= kSide)
    masks.push_back(left >= kSide ? nullptr : b.tailMask(left));
  return masks;
}

void GemmAmxEmitter::startFromAccumulator(const Tile &tile) {
  Address from = b.at(b.buffer(spec.accumulatorBuffer()), b.iadd(b.imul(tile.row, spec.n), tile.column));
  if (tile.isWhole()) {
    for (int i = 0; i < 4; ++i)
      load(i, b.at(from, i / 2 * kSide * spec.n + i % 2 * kSide), b.i64(4 * spec.n));
    return;
  }
  Vals masks = masksOf(tile);
  Address staged = b.scratch(stage);
  b.forLoop(0, tile.rows, 1, [&](Val row) {
    for (auto [half, mask] : enumerate(masks)) {
      Address at = b.at(from, b.iadd(b.imul(row, spec.n), int64_t(half) * kSide));
      b.storeLanes(placeOf(staged, row, int64_t(half)), b.loadLanes(at, mask));
    }
  });
  loadValues(staged);
}

void GemmAmxEmitter::start(const Tile &tile, Val step) {
  auto zero = [&] {
    for (int i = 0; i < 4; ++i)
      b.ir().CreateIntrinsic(Intrinsic::x86_tilezero, {}, {number(b, i)});
  };
  Val kind = table.field(step, &GemmStep::start);
  auto when = [&](GemmStep::Start start, function_ref<void()> body) {
    if (any_of(spec.steps.steps, [&](const GemmStep &each) { return each.start == start; }))
      b.ifElse(b.ieq(kind, b.i64(start)), [&] { return body(), Vals(); }, [] { return Vals(); });
  };
  when(GemmStep::Zero, zero);
  when(GemmStep::Continue, [&] { loadValues(levelAt(tile, spec.steps.restLevel())); });
  when(GemmStep::Accumulator, [&] { startFromAccumulator(tile); });
}

// Where the next 32 rows will be packed from, spread over the panels of these: an address for each line that a block
// of terms fetches, and the bytes to that of the next block. A row of terms, or of 32 columns, is a line of bf16 or two
// of f32.
SmallVector<std::pair<Address, Val>> GemmAmxEmitter::lhsAhead(const Tile &tile, Val step) {
  SmallVector<std::pair<Address, Val>> lines;
  Val pair = table.field(step, &GemmStep::pair), begin = table.field(step, &GemmStep::begin);
  Val stride = table.lhsStride(pair), nextRow = b.iadd(tile.row, kExtent);
  int64_t panels = std::max<int64_t>(1, spec.blockColumns / kExtent),
          count = std::min((kExtent + panels - 1) / panels, int64_t(8)), bytes = spec.operandBytes();
  for (int64_t i = 0; i < count; ++i) {
    Val line = b.iadd(b.imul(tile.panel, count), i);
    bool tn = spec.form == GemmForm::TN;
    Val element = tn ? b.iadd(b.imul(b.iadd(begin, line), stride), nextRow)
                     : b.iadd(b.imul(b.imin(b.iadd(nextRow, line), b.i64(spec.m - 1)), stride), begin);
    Address first = b.at(operand(0, pair), element, bytes);
    for (int64_t byte = 0; byte < bytes * kTerms; byte += 64)
      lines.push_back({b.at(first, byte, 1), tn ? b.imul(stride, bytes * kTerms) : b.i64(bytes * kTerms)});
  }
  return lines;
}

// Some rows of C, to the right of the tile: what the next one begins or ends with.
void GemmAmxEmitter::prefetchNext(const Tile &tile, Val k) {
  constexpr int64_t kRowsOfBlock = kExtent / kGemmAmxStepRows;
  for (int64_t i = 0; i < kRowsOfBlock; ++i) {
    Val row = b.iadd(tile.row, b.iadd(b.imul(k, kRowsOfBlock), i));
    Val element = b.iadd(b.imul(row, spec.n), b.iadd(tile.column, kExtent));
    for (int64_t half = 0; half < 2; ++half, element = b.iadd(element, kSide)) {
      if (epilogue)
        epilogue->prefetch(element), epilogue->prefetchResults(element);
      else
        prefetchToL2(b, b.at(b.buffer(spec.accumulator ? spec.accumulatorBuffer() : spec.resultBuffer()), element));
    }
  }
}

static constexpr std::array<std::array<int, 2>, 1> kWhole = {{{0, 0}}};

// Parts: each step of the way changes one side, so that 14 loads serve 24 products.
void GemmAmxEmitter::addBlock(Address rows, Address columns) {
  Val stride = b.i64(4 * kSide);
  auto multiplyAdd = [&](int value, int leftTile, int rightTile) {
    b.ir().CreateIntrinsic(Intrinsic::x86_tdpbf16ps, {}, {number(b, value), number(b, leftTile), number(b, rightTile)});
  };
  std::array<int, 2> loaded{-1, -1};
  for (auto [leftPart, rightPart] : isSplit() ? ArrayRef(train::kSplitProducts) : ArrayRef(kWhole)) {
    Address left = b.at(rows, leftPart * kPartBytes, 1), right = b.at(columns, rightPart * kPartBytes, 1);
    bool loadsLeft = leftPart != loaded[0], loadsRight = rightPart != loaded[1];
    if (loadsLeft)
      load(4, left, stride);
    if (loadsRight)
      load(6, right, stride);
    multiplyAdd(0, 4, 6);
    if (loadsRight)
      load(7, b.at(right, kTileBytes, 1), stride);
    multiplyAdd(1, 4, 7);
    if (loadsLeft)
      load(5, b.at(left, kTileBytes, 1), stride);
    multiplyAdd(2, 5, 6);
    multiplyAdd(3, 5, 7);
    loaded = {leftPart, rightPart};
  }
  // Sapphire Rapids: a tile store before which 130 products or more ran without one takes 800 cycles. This one is for
  // nothing.
  if (isSplit())
    b.ir().CreateIntrinsic(Intrinsic::x86_tilestored64, {}, {number(b, 4), b.scratch(stage).pointer, stride});
}

void GemmAmxEmitter::addBlocks(const Tile &tile, Val step) {
  Val first = b.imul(table.field(step, &GemmStep::packed), blockBytes());
  Address left = b.at(b.scratch(spec.packedA), first, 1);
  Address right = b.at(b.at(b.scratch(), b.imul(tile.panel, panelBytes()), 1), first, 1);
  auto ahead = lhsAhead(tile, step);
  auto loop = [&](bool fetchesNext) {
    b.forLoop(b.i64(0), table.field(step, &GemmStep::rows), b.i64(1), [&](Val k) {
      Val place = b.imul(k, blockBytes());
      addBlock(b.at(left, place, 1), b.at(right, place, 1));
      for (auto &[line, bytes] : ahead)
        prefetchToL2(b, b.at(line, b.imul(k, bytes), 1));
      if (fetchesNext)
        prefetchNext(tile, k);
    });
    return Vals();
  };
  Val usesC = spec.accumulator ? b.ieq(table.field(step, &GemmStep::start), b.i64(GemmStep::Accumulator))
                               : b.ieq(step, b.i64(int64_t(spec.steps.steps.size()) - 1));
  b.ifElse(usesC, [&] { return loop(true); }, [&] { return loop(false); });
}

void GemmAmxEmitter::storeRow(const Tile &tile, Val row, ValRange values) {
  Val begin = b.iadd(b.imul(b.iadd(tile.row, row), spec.n), tile.column);
  for (auto [half, value, mask] : enumerate(values, masksOf(tile))) {
    Val element = b.iadd(begin, int64_t(half) * kSide);
    if (epilogue)
      epilogue->run({value}, {element, b.iadd(tile.column, int64_t(half) * kSide), mask});
    else
      b.storeLanes(b.at(b.buffer(spec.resultBuffer()), element), value, mask);
  }
}

void GemmAmxEmitter::end(const Tile &tile, const GemmStepEnd &end) {
  bool finished = end.target == GemmStepEnd::kToResult, merges = (end.merges | end.zeros) != 0;
  if (!merges && !finished)
    return storeValues(levelAt(tile, end.target));
  if (!merges && !epilogue && tile.isWhole()) {
    for (int i = 0; i < 4; ++i)
      b.ir().CreateIntrinsic(
          Intrinsic::x86_tilestored64, {},
          {number(b, i), b.at(result(tile), i / 2 * kSide * spec.n + i % 2 * kSide).pointer, b.i64(4 * spec.n)});
    return;
  }
  Address staged = b.scratch(stage);
  storeValues(staged);
  b.forLoop(0, finished ? tile.rows : kExtent, 1, [&](Val row) {
    Vals values;
    for (int64_t half = 0; half * kSide < tile.columns; ++half) {
      Val value = b.loadLanes(placeOf(staged, row, half));
      for (int64_t level = 0; (end.merges | end.zeros) >> level; ++level) {
        if (end.merges >> level & 1)
          value = b.add(b.loadLanes(placeOf(levelAt(tile, level), row, half)), value);
        if (end.zeros >> level & 1)
          value = b.add(value, b.lanes(0.0));
      }
      values.push_back(value);
    }
    if (finished)
      return storeRow(tile, row, values);
    for (auto [half, value] : enumerate(values))
      b.storeLanes(placeOf(levelAt(tile, end.target), row, int64_t(half)), value);
  });
}

void GemmAmxEmitter::finish(const Tile &tile, Val step) {
  ArrayRef<GemmStepEnd> ends = spec.steps.ends;
  Val kind = table.field(step, &GemmStep::end);
  std::function<void(size_t)> from = [&](size_t i) {
    if (i + 1 == ends.size())
      return end(tile, ends[i]);
    b.ifElse(
        b.ieq(kind, b.i64(int64_t(i))), [&] { return end(tile, ends[i]), Vals(); },
        [&] { return from(i + 1), Vals(); });
  };
  from(0);
}

void GemmAmxEmitter::emitTile(const Tile &tile, Val step) {
  start(tile, step);
  addBlocks(tile, step);
  finish(tile, step);
}

} // namespace recipe::codegen
