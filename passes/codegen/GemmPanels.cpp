// Form tn with both operands packed, panel by panel: each panel passes all tiles of the block before the next one takes
// its turn.
//
// Packing waits for memory most of its time. So nothing is packed by itself but the left operand of the first step. The
// first tile of a panel takes the right operand from where it is and leaves it in the panel for the others; its lines
// were asked for while the panel before had its turn. And each tile packs a share of the next step's left operand,
// whose lines the tile before asked for: that operand has two buffers. A step is a group here, or all of K is one.
#include "passes/codegen/GemmEpilogue.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace recipe::codegen {

Val GemmEmitter::tilesDown() { return b.idiv(b.iadd(block.rows, spec.tileRows - 1), spec.tileRows); }
Val GemmEmitter::panelsAcross() { return b.idiv(b.iadd(block.columns, spec.tileColumns() - 1), spec.tileColumns()); }
Val GemmEmitter::numberInBlock(const Tile &tile) { return b.iadd(b.imul(tile.panel, tilesDown()), tile.index); }

// Units of K of the step after this one; none after the last. Every step has whole units.
Val GemmEmitter::nextUnits(Val step) {
  int64_t last = int64_t(spec.steps.steps.size()) - 1;
  Val length = table.field(b.imin(b.iadd(step, 1), b.i64(last)), &GemmStep::length);
  return b.select(b.ilt(step, b.i64(last)), b.idiv(length, unitLength()), b.i64(0));
}

// Where that step reads the left operand, from `unit` of its units and the block's first row of C on.
Address GemmEmitter::nextLhs(Val step, Val unit) {
  Val next = b.imin(b.iadd(step, 1), b.i64(int64_t(spec.steps.steps.size()) - 1));
  Val pair = table.field(next, &GemmStep::pair);
  Val k = b.iadd(table.field(next, &GemmStep::begin), b.imul(unit, unitLength()));
  return b.at(operand(0, pair), b.iadd(b.imul(k, table.lhsStride(pair)), block.row), spec.operandBytes());
}

Address GemmEmitter::lhsHalf(Val step) {
  if (isOneGroup())
    return b.scratch(spec.packedA);
  int64_t tiles = spec.blockRows / spec.tileRows;
  return b.at(b.scratch(spec.packedA), b.imul(b.irem(step, 2), tiles * spec.packedTileStride()));
}

void GemmEmitter::emitPanels(Val group) {
  Val firstStep = table.groupBegin(group), endStep = table.groupBegin(b.iadd(group, 1));
  b.ifThen(b.ieq(group, b.i64(0)), [&] { forPacks(group, [&](Val pack) { packLhsTiles(pack, lhsHalf(firstStep)); }); });
  Val tiles = b.imul(tilesDown(), panelsAcross());
  lhsShare = b.idiv(b.iadd(nextUnits(firstStep), b.isub(tiles, b.i64(1))), tiles);
  forPanels([&](int64_t columns, Val panel) {
    Val column = b.iadd(block.column, b.imul(panel, spec.tileColumns()));
    auto one = [&](int64_t rows, Val index, bool fillsPanel) {
      Val row = b.iadd(block.row, b.imul(index, spec.tileRows));
      Tile tile{rows, columns, index, row, column, panel, fillsPanel};
      emitTile(tile, firstStep, endStep);
      packShare(tile, firstStep);
    };
    // kernel-select leaves a whole tile in each block.
    Val whole = b.idiv(block.rows, spec.tileRows);
    one(spec.tileRows, b.i64(0), true);
    b.forLoop(b.i64(1), whole, b.i64(1), [&](Val index) { one(spec.tileRows, index, false); });
    if (int64_t rest = spec.m % spec.tileRows)
      b.ifThen(b.ilt(b.imul(whole, spec.tileRows), block.rows), [&] { one(rest, whole, false); });
  });
}

void GemmEmitter::packShare(const Tile &tile, Val step) {
  if (isOneGroup())
    return;
  Val units = nextUnits(step), first = b.imin(b.imul(numberInBlock(tile), lhsShare), units);
  Val end = b.imin(b.iadd(first, lhsShare), units);
  Address lhs = nextLhs(step, b.i64(0)), half = lhsHalf(b.iadd(step, 1));
  forTiles([&](int64_t rows, Val index) { packTileUnits(lhs, first, end, index, rows, false, half, 0); });
}

// The next panel, row by row, spread over the tiles of this one; that of the next step after the last.
void GemmEmitter::addPanelAhead(const Tile &tile, Val step, SmallVectorImpl<Stream> &streams) {
  constexpr int kShift = 16;
  int64_t tiles = spec.blockRows / spec.tileRows, ofRow = ((int64_t(1) << kShift) + tiles - 1) / tiles;
  Val pair = table.field(step, &GemmStep::pair), begin = table.field(step, &GemmStep::begin);
  Val length = table.field(step, &GemmStep::length), rows = table.field(step, &GemmStep::rows);
  Val panel = b.iadd(tile.panel, 1);
  Val more = b.ilt(panel, panelsAcross());
  Val row = b.iadd(begin, b.select(more, b.i64(0), length));
  Val column = b.iadd(block.column, b.select(more, b.imul(panel, spec.tileColumns()), b.i64(0)));
  Address from = b.at(operand(spec.rhsBuffer(), pair), b.iadd(b.imul(row, spec.n), column), spec.operandBytes());
  Val before = b.imul(tile.index, rows);
  int64_t lines = tile.vectors() * kLanes * spec.operandBytes() / 64; // of a row in memory
  for (int64_t term = 0; term < unitLength(); ++term)
    for (int64_t line = 0; line < std::max<int64_t>(lines, 1); ++line)
      streams.push_back([=](Val k) {
        Val number = b.ir().CreateLShr(b.imul(b.iadd(before, k), ofRow), kShift);
        Val element = b.iadd(b.imul(number, unitLength() * spec.n), term * spec.n + line * 64 / spec.operandBytes());
        b.prefetch(b.at(from, element, spec.operandBytes()));
      });
}

// What packShare of the next tile reads, line by line. The index arithmetic has to be simple: with a few instructions
// more in a round of the loop over K, LLVM's scheduler spills the tile.
void GemmEmitter::addShareAhead(const Tile &tile, Val step, SmallVectorImpl<Stream> &streams) {
  if (isOneGroup())
    return;
  int64_t elements = 64 / spec.operandBytes(); // of a line
  int64_t linesOfRow = int64_t(bit_ceil(uint64_t(spec.blockRows / elements + 1)));
  int64_t tiles = spec.blockRows / spec.tileRows * (spec.blockColumns / spec.tileColumns());
  int64_t lines = (spec.kBlock + tiles - 1) / tiles * unitLength() * linesOfRow,
          rounds = std::max<int64_t>(spec.kBlock / unrolled(), 1);
  int64_t atOnce = (lines + rounds - 1) / rounds,
          roundsOfLine = Log2_64(uint64_t(std::max<int64_t>(rounds / lines, 1)));
  Address from = nextLhs(step, b.imul(b.iadd(numberInBlock(tile), 1), lhsShare));
  for (int64_t i = 0; i < atOnce; ++i)
    streams.push_back([=](Val k) {
      Val line = b.iadd(b.imul(b.ir().CreateLShr(k, uint64_t(Log2_64(unrolled()) + roundsOfLine)), atOnce), i);
      Val row = b.idiv(line, linesOfRow), ofRow = b.irem(line, linesOfRow);
      b.prefetch(b.at(from, b.iadd(b.imul(row, spec.tnStride()), b.imul(ofRow, elements)), spec.operandBytes()));
    });
}

} // namespace recipe::codegen
