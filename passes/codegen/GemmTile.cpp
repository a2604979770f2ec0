// The register tile: values of rows x vectors of 16 lanes, all in registers while K runs.
#include "passes/codegen/BF16.h"
#include "passes/codegen/GemmEpilogue.h"

using namespace llvm;

namespace recipe::codegen {

// How far ahead of the chains the rows of a panel are fetched from L2. With 256-bit vectors a row takes twice the time,
// and the processor's own prefetching keeps up.
static constexpr int64_t kRowsAhead = 8;

// Levels of one tile first, in their order, then for each tile of the block those that cross groups.
Address GemmEmitter::levelAt(const Tile &tile, int64_t level) {
  const GemmSteps &steps = spec.steps;
  int64_t floats = spec.tileRows * spec.tileColumns(), crossing = steps.crossingLevels();
  bool crosses = steps.crossing[size_t(level)];
  int64_t place = llvm::count(ArrayRef(steps.crossing).take_front(size_t(level)), crosses);
  Address pending = b.scratch(spec.pending);
  if (!crosses)
    return b.at(pending, place * floats);
  Val number = spec.panelTurns ? b.iadd(b.imul(tile.panel, spec.blockRows / spec.tileRows), tile.index)
                               : b.iadd(b.imul(tile.index, spec.blockColumns / spec.tileColumns()), tile.panel);
  return b.at(b.at(pending, (steps.levels() - crossing + place) * floats), b.imul(number, crossing * floats));
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

Val GemmEmitter::isLast(Val step) { return b.ieq(table.field(step, &GemmStep::finishes), b.i64(1)); }

Vals GemmEmitter::loadAccumulator(const Tile &tile) {
  Address from = b.at(b.buffer(spec.accumulatorBuffer()), b.iadd(b.imul(tile.row, spec.n), tile.column));
  Vals values;
  for (int64_t r = 0; r < tile.rows; ++r)
    for (int64_t v = 0; v < tile.vectors(); ++v)
      values.push_back(b.loadLanes(b.at(from, r * spec.n + v * kLanes), columnMask(tile, v)));
  return values;
}

Vals GemmEmitter::loadLevel(const Tile &tile, int64_t level) {
  Address from = levelAt(tile, level);
  Vals values;
  for (int64_t i = 0; i < tile.rows * tile.vectors(); ++i)
    values.push_back(b.loadLanes(b.at(from, i * kLanes)));
  return values;
}

Address GemmEmitter::result(Val element) {
  Address all = b.buffer(spec.resultBuffer());
  return b.at(subtree ? b.at(all, b.imul(subtree, spec.m * spec.n)) : all, element);
}

void GemmEmitter::storeResult(const Tile &tile, ValRange values) {
  if (epilogue)
    return epilogue->store({tile.rows, tile.row, tile.column, columnMasks(tile)}, values);
  Address to = result(b.iadd(b.imul(tile.row, spec.resultStride()), tile.column));
  for (int64_t r = 0; r < tile.rows; ++r)
    for (int64_t v = 0; v < tile.vectors(); ++v)
      b.storeLanes(b.at(to, r * spec.resultStride() + v * kLanes), values[size_t(r * tile.vectors() + v)],
                   columnMask(tile, v));
}

Vals GemmEmitter::startTile(const Tile &tile, Val step) {
  Val start = table.field(step, &GemmStep::start);
  return b.ifElse(
      b.ieq(start, b.i64(GemmStep::Zero)), [&] { return Vals(size_t(tile.rows * tile.vectors()), b.lanes(0.0)); },
      [&] {
        return b.ifElse(
            spec.accumulator ? b.ieq(start, b.i64(GemmStep::Continue)) : b.ir().getTrue(),
            [&] { return loadLevel(tile, spec.steps.restLevel()); }, [&] { return loadAccumulator(tile); });
      });
}

GemmEmitter::Side GemmEmitter::rhsOf(const Tile &tile, Val step) {
  if (spec.packsRhs && !tile.fillsPanel) {
    Val packed = b.imul(table.field(step, &GemmStep::packed), spec.tileColumns());
    Address panel = spec.panelTurns ? b.scratch() : b.at(b.scratch(), b.imul(tile.panel, spec.panelStride()));
    return {b.at(panel, packed), b.i64(spec.tileColumns()), nullptr};
  }
  Val pair = table.field(step, &GemmStep::pair), stride = table.rhsStride(pair);
  Val first = b.iadd(b.imul(table.field(step, &GemmStep::begin), stride), tile.column);
  return {b.at(operand(spec.rhsBuffer(), pair), first, spec.operandBytes()), stride, nullptr};
}

GemmEmitter::Side GemmEmitter::lhsOf(const Tile &tile, Val step, Val rowStride) {
  Val packed = table.field(step, &GemmStep::packed);
  Address scratch = spec.panelTurns ? lhsHalf(step) : b.scratch(spec.packedA);
  if (spec.packsLhs && spec.form == GemmForm::TN)
    return {b.at(b.at(scratch, b.imul(tile.index, spec.packedTileStride())), b.imul(packed, spec.tileRows)),
            b.i64(spec.tileRows), b.i64(1)};
  if (spec.packsLhs) {
    Val row = spec.lhsByTile ? b.i64(0) : b.imul(tile.index, spec.tileRows * spec.packedRowStride());
    return {b.at(b.at(scratch, row), packed), b.i64(1), b.i64(spec.packedRowStride())};
  }
  Val pair = table.field(step, &GemmStep::pair), begin = table.field(step, &GemmStep::begin);
  Val stride = rowStride ? rowStride : table.lhsStride(pair);
  if (spec.form == GemmForm::TN)
    return {b.at(operand(0, pair), b.iadd(tile.row, b.imul(begin, stride))), stride, b.i64(1)};
  Val first = b.iadd(b.imul(tile.row, stride), begin);
  return {b.at(operand(0, pair), first, spec.operandBytes()), b.i64(1), stride, spec.operandBytes()};
}

bool GemmEmitter::readsOddEnds() const {
  return spec.operands == GemmOperands::Pairs && !spec.packsLhs &&
         any_of(spec.steps.steps, [](const GemmStep &step) { return step.length % 2 != 0; });
}

Val GemmEmitter::multiplyAdd(Val factor, Val rhs, Val chain) {
  return spec.operands == GemmOperands::Pairs ? multiplyAddPairs(b, factor, rhs, chain) : b.fma(factor, rhs, chain);
}

// A row of the right operand, which is asked for ahead. In pairs, where it is not packed, it is two rows in memory, of
// half the bytes.
Vals GemmEmitter::loadRhs(const Tile &tile, const Side &rhs, Address row) {
  Address ahead = b.at(row, b.imul(rhs.kStride, kRowsAhead));
  bool packed = spec.packsRhs && !tile.fillsPanel;
  Vals vectors;
  if (packed || spec.operands == GemmOperands::F32) {
    Type *word = spec.operands == GemmOperands::Pairs ? b.i32Type() : b.f32Type();
    for (int64_t v = 0; v < tile.vectors(); ++v)
      vectors.push_back(b.loadLanes(b.at(row, v * kLanes), word, packed ? nullptr : columnMask(tile, v)));
    for (int64_t v = 0; hasWideVectors() && v < tile.vectors(); ++v)
      b.prefetch(b.at(ahead, v * kLanes));
    return vectors;
  }
  for (int64_t v = 0; v < tile.vectors(); ++v) {
    auto load = [&](int64_t term) {
      return b.loadLanes(b.at(row, term * spec.n + v * kLanes, 2), b.ir().getInt16Ty(), columnMask(tile, v));
    };
    Val low = b.ir().CreateZExt(load(0), b.lanesOf(b.i32Type())), high = load(1);
    high = b.ir().CreateShl(b.ir().CreateZExt(high, b.lanesOf(b.i32Type())), 16);
    vectors.push_back(b.ir().CreateOr(low, high));
  }
  for (int64_t term = 0; term < 2; ++term)
    b.prefetch(b.at(ahead, term * spec.n, 2));
  return vectors;
}

// The chains of one step. Rows of the left operand, read where they are, at a distance that is only known at run time
// take so many registers for addresses that LLVM spills the tile: there is a loop for each distance.
Vals GemmEmitter::chainTile(const Tile &tile, Val step, ValRange values) {
  if (spec.packsLhs || spec.form == GemmForm::TN || spec.lhsRowStride || !hasWideVectors())
    return chainRows(tile, step, lhsOf(tile, step), values);
  SmallVector<int64_t> strides;
  for (int64_t k : spec.k)
    if (!is_contained(strides, k))
      strides.push_back(k);
  Val stride = table.lhsStride(table.field(step, &GemmStep::pair));
  std::function<Vals(size_t)> from = [&](size_t i) {
    auto known = [&] { return chainRows(tile, step, lhsOf(tile, step, b.i64(strides[i])), values); };
    return i + 1 == strides.size() ? known()
                                   : b.ifElse(b.ieq(stride, b.i64(strides[i])), known, [&] { return from(i + 1); });
  };
  return from(0);
}

Vals GemmEmitter::chainRows(const Tile &tile, Val step, const Side &left, ValRange values) {
  Type *word = spec.operands == GemmOperands::Pairs ? b.i32Type() : b.f32Type();
  Side right = rhsOf(tile, step);
  SmallVector<Stream> ahead = streamsAhead(tile, step);
  Address filled = tile.fillsPanel ? rhsOf(tile.filled(), step).begin : Address();
  // `part`: number of the row in its round, which asks for that part of the lines ahead.
  auto advance = [&](Val k, ValRange chains, bool single, size_t part) {
    Vals rhs = loadRhs(tile, right, b.at(right.begin, b.imul(k, right.kStride))), next;
    for (int64_t v = 0; tile.fillsPanel && v < tile.vectors(); ++v)
      b.storeLanes(b.at(filled, b.iadd(b.imul(k, spec.tileColumns()), v * kLanes)), rhs[size_t(v)]);
    for (size_t i = part; i < ahead.size(); i += size_t(unrolled()))
      ahead[i](k);
    Address column = b.at(left.begin, b.imul(k, left.kStride));
    for (int64_t r = 0; r < tile.rows; ++r) {
      Address at = b.at(column, b.imul(left.stride, r), left.bytes);
      Val factor =
          single ? b.ir().CreateZExt(b.load(at, b.ir().getInt16Ty(), 2), word) : b.load(at, word, unsigned(left.bytes));
      factor = b.splat(factor);
      for (int64_t v = 0; v < tile.vectors(); ++v)
        next.push_back(multiplyAdd(factor, rhs[size_t(v)], chains[size_t(r * tile.vectors() + v)]));
    }
    return next;
  };
  Val rows = table.field(step, &GemmStep::rows);
  Val whole = readsOddEnds() ? b.idiv(table.field(step, &GemmStep::length), 2) : rows;
  Val rounds = b.ir().CreateAnd(whole, ~uint64_t(unrolled() - 1));
  Vals chains = b.forLoop(b.i64(0), rounds, b.i64(unrolled()), values, [&](Val k, ValRange carried) {
    Vals chains(carried.begin(), carried.end());
    for (int64_t part = 0; part < unrolled(); ++part)
      chains = advance(b.iadd(k, part), chains, false, size_t(part));
    return chains;
  });
  if (readsOddEnds() || any_of(spec.steps.steps, [this](const GemmStep &step) { return step.rows % unrolled() != 0; }))
    chains = b.forLoop(rounds, whole, b.i64(1), chains,
                       [&](Val k, ValRange carried) { return advance(k, carried, false, ahead.size()); });
  if (!readsOddEnds())
    return chains;
  return b.ifElse(
      b.ilt(whole, rows), [&] { return advance(whole, chains, true, ahead.size()); }, [&] { return chains; });
}

void GemmEmitter::endStep(const Tile &tile, const GemmStepEnd &end, ValRange values) {
  Vals merged(values.begin(), values.end());
  for (int64_t level = 0; (end.merges | end.zeros) >> level; ++level)
    for (auto [i, value] : enumerate(merged)) {
      if (end.merges >> level & 1)
        value = b.add(b.loadLanes(b.at(levelAt(tile, level), int64_t(i) * kLanes)), value);
      if (end.zeros >> level & 1)
        value = b.add(value, b.lanes(0.0));
    }
  if (end.target == GemmStepEnd::kToResult)
    return storeResult(tile, merged);
  Address to = levelAt(tile, end.target);
  for (auto [i, value] : enumerate(merged))
    b.storeLanes(b.at(to, int64_t(i) * kLanes), value);
}

// The loop over K is long: a branch after it is mispredicted, whatever pattern it has. So there is one for each kind of
// end, the frequent ones first.
void GemmEmitter::finishTile(const Tile &tile, Val step, ValRange values) {
  ArrayRef<GemmStepEnd> ends = spec.steps.ends;
  Val number = table.field(step, &GemmStep::end);
  std::function<void(size_t)> from = [&](size_t i) {
    if (i + 1 == ends.size())
      return endStep(tile, ends[i], values);
    b.ifElse(
        b.ieq(number, b.i64(int64_t(i))),
        [&] {
          endStep(tile, ends[i], values);
          return Vals();
        },
        [&] {
          from(i + 1);
          return Vals();
        });
  };
  from(0);
}

void GemmEmitter::emitTile(const Tile &tile, Val firstStep, Val endStep) {
  auto one = [&](Val step) { finishTile(tile, step, chainTile(tile, step, startTile(tile, step))); };
  if (spec.steps.oneStepEach())
    one(firstStep);
  else
    b.forLoop(firstStep, endStep, b.i64(1), one);
}

} // namespace recipe::codegen
