// What the chains of a tile ask for ahead of time. Memory is 200 ns away and a core waits for 16 lines at most, those
// of the panel among them: so what lies far away is asked for line by line, spread over a step, not all at once.
#include "passes/codegen/GemmEpilogue.h"

using namespace llvm;

namespace recipe::codegen {

// Where the next row of tiles will read the left operand, or pack it, row by row, spread over the panels of this one.
void GemmEmitter::addLhsAhead(const Tile &tile, Val step, SmallVectorImpl<Stream> &streams) {
  Val pair = table.field(step, &GemmStep::pair), begin = table.field(step, &GemmStep::begin);
  Val stride = table.lhsStride(pair);
  int64_t panels = spec.blockColumns / spec.tileColumns();
  int64_t count = std::min<int64_t>((spec.tileRows + panels - 1) / panels, 2 * unrolled());
  for (int64_t i = 0; i < count; ++i) {
    Val ahead = b.iadd(b.imul(tile.panel, count), spec.tileRows + i);
    Address from;
    if (spec.packsLhs && !spec.lhsByTile) {
      Val row = b.iadd(b.imul(tile.index, spec.tileRows), ahead);
      from = b.at(b.at(b.scratch(spec.packedA), b.imul(row, spec.packedRowStride())),
                  table.field(step, &GemmStep::packed));
    } else {
      Val row = b.imin(b.iadd(tile.row, ahead), b.i64(spec.m - 1));
      from = b.at(operand(0, pair), b.iadd(b.imul(row, stride), begin), spec.operandBytes());
    }
    int64_t bytes = spec.lhsByTile ? spec.operandBytes() : 4; // of a row of K
    streams.push_back([this, from, bytes](Val k) { b.prefetch(b.at(from, k, bytes)); });
  }
}

// The vectors of a tile's part of C, one after the other through the first three quarters of the step or, of a tile
// whose steps follow each other, of all of them: a round asks for one only. Not wanted: the first, again and again.
GemmEmitter::Stream GemmEmitter::vectorsAhead(const Tile &tile, Val step, Val wanted,
                                              std::function<void(Val element)> ask) {
  constexpr int64_t kShift = 16;
  int64_t vectors = tile.vectors(), last = tile.rows * vectors - 1;
  bool allSteps = isOneGroup() && spec.subtrees == 1 && b.getTarget().nearL3Bytes > 0;
  int64_t rowsOfAll = 0;
  for (const GemmStep &each : spec.steps.steps)
    rowsOfAll += each.rows;
  Val rows = b.imax(allSteps ? b.i64(rowsOfAll) : table.field(step, &GemmStep::rows), b.i64(unrolled()));
  Val ofRow = b.ir().CreateUDiv(b.i64((last << kShift) / 3 * 4), rows); // vectors for a row of K, in 1/2^16
  ofRow = b.select(allSteps ? b.ir().getTrue() : wanted, ofRow, b.i64(0));
  Val before = b.imul(allSteps ? table.field(step, &GemmStep::packed) : b.i64(0), ofRow);
  Val first = b.iadd(b.imul(tile.row, spec.resultStride()), tile.column);
  return [=](Val k) {
    Val number = b.imin(b.ir().CreateLShr(b.iadd(b.imul(k, ofRow), before), kShift), b.i64(last));
    Val row = b.idiv(number, vectors), vector = b.isub(number, b.imul(row, vectors));
    ask(b.iadd(first, b.iadd(b.imul(row, spec.resultStride()), b.imul(vector, kLanes))));
  };
}

SmallVector<GemmEmitter::Stream> GemmEmitter::streamsAhead(const Tile &tile, Val step) {
  SmallVector<Stream> streams;
  if (spec.form != GemmForm::TN && (!spec.packsLhs || !hasWideVectors())) // L2 holds packed rows beside wide vectors
    addLhsAhead(tile, step, streams);
  if (spec.panelTurns) {
    addPanelAhead(tile, step, streams);
    addShareAhead(tile, step, streams);
  }
  if (spec.accumulator && tile.columns == spec.tileColumns()) { // of the next tile
    Val starts = b.ieq(table.field(step, &GemmStep::start), b.i64(GemmStep::Accumulator));
    int64_t next = spec.panelTurns ? spec.tileRows * spec.n : spec.tileColumns();
    streams.push_back(vectorsAhead(tile, step, starts, [this, next](Val element) {
      b.prefetch(b.at(b.buffer(spec.accumulatorBuffer()), b.iadd(element, next)));
    }));
  }
  if (epilogue && epilogue->readsElements())
    streams.push_back(vectorsAhead(tile, step, isLast(step), [this](Val element) { epilogue->prefetch(element); }));
  // Stores wait for their lines in order, and the next chains wait behind them for room. A small C is near; there the
  // instructions would cost registers that the chains of short steps need.
  constexpr int64_t kNearBytes = 256 << 10;
  if (spec.m * spec.n * 4 <= kNearBytes)
    return streams;
  if (epilogue)
    streams.push_back(
        vectorsAhead(tile, step, isLast(step), [this](Val element) { epilogue->prefetchResults(element); }));
  else if (!spec.accumulator)
    streams.push_back(
        vectorsAhead(tile, step, isLast(step), [this](Val element) { b.prefetchToWrite(result(element)); }));
  return streams;
}

} // namespace recipe::codegen
