// The register tile: values of rows x vectors of 16 lanes, all in registers while K runs.
#include "passes/codegen/GemmEpilogue.h"

using namespace llvm;

namespace recipe::codegen {

// Between two groups tiles wait for their turn: the pending subtrees of each have a place of their own.
Address GemmEmitter::pendingAt(const Tile &tile, Val level) {
  int64_t floats = spec.tileRows * spec.tileColumns();
  Val place = level;
  if (!spec.pendingPerTile) {
    Val number = b.iadd(b.imul(tile.index, spec.blockColumns / spec.tileColumns()), tile.panel);
    place = b.iadd(b.imul(number, spec.levels()), level);
  }
  return b.at(b.scratch(spec.pending), b.imul(place, floats));
}

Val GemmEmitter::columnMask(const Tile &tile, int64_t vector) {
  int64_t left = tile.columns - vector * kLanes;
  return left >= kLanes ? nullptr : b.tailMask(left);
}

Vals GemmEmitter::columnMasks(const Tile &tile) {
  Vals masks;
  for (int64_t v = 0; v < tile.vectors(); ++v)
    masks.push_back(columnMask(tile, v));
  return masks;
}

Val GemmEmitter::isLast(Val step) { return b.ieq(step, b.i64(int64_t(spec.steps.size()) - 1)); }

Vals GemmEmitter::loadResult(const Tile &tile, Address at) {
  Vals values;
  for (int64_t r = 0; r < tile.rows; ++r)
    for (int64_t v = 0; v < tile.vectors(); ++v)
      values.push_back(b.loadLanes(b.at(at, r * spec.n + v * kLanes), columnMask(tile, v)));
  return values;
}

void GemmEmitter::storeResult(const Tile &tile, ValRange values) {
  Address result = b.at(b.buffer(spec.resultBuffer()), b.iadd(b.imul(tile.row, spec.n), tile.column));
  for (int64_t r = 0; r < tile.rows; ++r)
    for (int64_t v = 0; v < tile.vectors(); ++v)
      b.storeLanes(b.at(result, r * spec.n + v * kLanes), values[size_t(r * tile.vectors() + v)], columnMask(tile, v));
}

void GemmEmitter::storeFinished(const Tile &tile, ValRange values) {
  if (!epilogue)
    return storeResult(tile, values);
  epilogue->store({tile.rows, tile.row, tile.column, columnMasks(tile)}, values);
}

Vals GemmEmitter::startTile(const Tile &tile, Val step) {
  Val start = table.field(step, &GemmStep::start);
  Val at = b.iadd(b.imul(tile.row, spec.n), tile.column);
  Address result = b.at(b.buffer(spec.resultBuffer()), at);
  // The next tile's part of C comes while the chains of this one run.
  for (int64_t r = 0; r < tile.rows && tile.columns == spec.tileColumns(); ++r)
    for (int64_t v = 0; v < tile.vectors(); ++v)
      b.prefetch(b.at(result, r * spec.n + spec.tileColumns() + v * kLanes));
  return b.ifElse(
      b.ieq(start, b.i64(GemmStep::Zero)), [&] { return Vals(size_t(tile.rows * tile.vectors()), b.lanes(0.0)); },
      [&] {
        if (!spec.accumulator)
          return loadResult(tile, result);
        Address accumulator = b.at(b.buffer(spec.accumulatorBuffer()), at);
        Val from = b.select(b.ieq(start, b.i64(GemmStep::Accumulator)), accumulator.pointer, result.pointer);
        return loadResult(tile, {from, result.memory});
      });
}

// The fma chains of one step.
Vals GemmEmitter::chainTile(const Tile &tile, Val step, ValRange values) {
  Val length = table.field(step, &GemmStep::length);
  Val packed = table.field(step, &GemmStep::packed);
  Address panel = b.at(b.at(b.scratch(), b.imul(tile.panel, spec.panelStride())), b.imul(packed, spec.tileColumns()));
  Address lhs;
  Val rowStride = b.i64(1), kStride = b.i64(1);
  if (spec.packsLhs) {
    lhs =
        b.at(b.at(b.scratch(spec.packedA), b.imul(tile.index, spec.packedTileStride())), b.imul(packed, spec.tileRows));
    kStride = b.i64(spec.tileRows);
  } else {
    Val pair = table.field(step, &GemmStep::pair), begin = table.field(step, &GemmStep::begin);
    (spec.form == GemmForm::TN ? kStride : rowStride) = table.lhsStride(pair);
    lhs = b.at(operand(0, pair), b.iadd(b.imul(tile.row, rowStride), b.imul(begin, kStride)));
  }
  return b.forLoop(b.i64(0), length, b.i64(1), values, [&](Val k, ValRange chains) {
    Vals rhs, next;
    Address row = b.at(panel, b.imul(k, spec.tileColumns()));
    for (int64_t v = 0; v < tile.vectors(); ++v)
      rhs.push_back(b.loadLanes(b.at(row, v * kLanes)));
    Address column = b.at(lhs, b.imul(k, kStride));
    for (int64_t r = 0; r < tile.rows; ++r) {
      Val factor = b.broadcast(b.at(column, b.imul(rowStride, r)));
      for (int64_t v = 0; v < tile.vectors(); ++v)
        next.push_back(b.fma(factor, rhs[size_t(v)], chains[size_t(r * tile.vectors() + v)]));
    }
    return next;
  });
}

void GemmEmitter::finishTile(const Tile &tile, Val step, ValRange values) {
  Vals merged(values.begin(), values.end());
  Val merges = table.field(step, &GemmStep::merges);
  auto pendingRow = [&](Address pending, size_t i) { return b.at(pending, int64_t(i) * kLanes); };
  for (int64_t level = 0; level < spec.levels(); ++level) {
    Val wanted = b.ir().CreateICmpNE(b.ir().CreateAnd(merges, uint64_t(1) << level), b.i64(0));
    merged = b.ifElse(
        wanted,
        [&] {
          Vals sums;
          Address pending = pendingAt(tile, b.i64(level));
          for (auto [i, value] : enumerate(merged))
            sums.push_back(b.add(b.loadLanes(pendingRow(pending, i)), value));
          return sums;
        },
        [&] { return merged; });
  }
  Val target = table.field(step, &GemmStep::target);
  b.ifElse(
      b.ieq(target, b.i64(GemmStep::kToResult)),
      [&] {
        if (!spec.rests()) {
          storeFinished(tile, merged);
          return Vals();
        }
        b.ifElse(
            isLast(step),
            [&] {
              storeFinished(tile, merged);
              return Vals();
            },
            [&] {
              storeResult(tile, merged);
              return Vals();
            });
        return Vals();
      },
      [&] {
        Address pending = pendingAt(tile, target);
        for (auto [i, value] : enumerate(merged))
          b.storeLanes(pendingRow(pending, i), value);
        return Vals();
      });
}

void GemmEmitter::emitTile(const Tile &tile, Val firstStep, Val endStep) {
  auto one = [&](Val step) {
    if (epilogue)
      b.ifThen(isLast(step), [&] { epilogue->prefetch({tile.rows, tile.row, tile.column, columnMasks(tile)}); });
    finishTile(tile, step, chainTile(tile, step, startTile(tile, step)));
  };
  if (spec.groups.size() == spec.steps.size() + 1)
    one(firstStep);
  else
    b.forLoop(firstStep, endStep, b.i64(1), one);
}

} // namespace recipe::codegen
