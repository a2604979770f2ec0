// Packing: columns of the right operand as panels [panel][row][tile columns], a transposed left operand as
// [tile][row][tile rows], another one as [row of C][row]. A row is a row of K, or of bf16 one of a pair or a pair
// (passes/GemmSteps.h).
#include "passes/codegen/Gemm.h"
#include "passes/codegen/Transpose.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace recipe::codegen {

// A few units at a time: each panel or tile then takes whole cache lines while the rows are read in order.
static constexpr int64_t kUnitsAtOnce = 8;

void GemmEmitter::forUnits(Val length, UnitsBody body) {
  Val units = b.idiv(length, unitLength());
  b.forLoop(b.i64(0), units, b.i64(kUnitsAtOnce),
            [&](Val first) { body(first, b.imin(b.iadd(first, kUnitsAtOnce), units), false); });
  if (any_of(spec.steps.packs, [&](const GemmStep &pack) { return pack.length % unitLength() != 0; }))
    b.ifThen(b.ilt(b.imul(units, unitLength()), length), [&] { body(units, b.iadd(units, 1), true); });
}

// Words with `low` in their lower halves: one permutation of both.
Val GemmEmitter::pairUp(Val low, Val high) {
  auto width = int(cast<FixedVectorType>(low->getType())->getNumElements());
  SmallVector<int> places;
  for (int lane = 0; lane < width; ++lane)
    places.append({lane, width + lane});
  Val halves = b.ir().CreateShuffleVector(low, high, places);
  return b.ir().CreateBitCast(halves, FixedVectorType::get(b.i32Type(), unsigned(width)));
}

// One unit of `width` elements; `from` at its first term, `stride` elements before the second. `to` takes one row, or
// two `toStride` words apart.
void GemmEmitter::packUnit(Address from, Val stride, unsigned width, Val mask, bool single, Address to,
                           int64_t toStride) {
  bool f32 = spec.operands == GemmOperands::F32;
  auto *type = FixedVectorType::get(f32 ? b.f32Type() : b.ir().getInt16Ty(), width);
  auto load = [&](Address at) {
    return mask ? b.loadMasked(at, type, mask) : b.load(at, type, unsigned(spec.operandBytes()));
  };
  if (f32)
    return b.store(to, load(from));
  auto *words = FixedVectorType::get(b.i32Type(), width);
  if (spec.operands == GemmOperands::Pairs)
    return b.store(to, pairUp(load(from), single ? Constant::getNullValue(type) : load(b.at(from, stride, 2))));
  Val low = b.ir().CreateZExt(load(from), words);
  Val high = single ? Constant::getNullValue(words) : b.ir().CreateZExt(load(b.at(from, stride, 2)), words);
  high = b.ir().CreateShl(high, 16);
  b.store(to, high);
  b.store(b.at(to, toStride), b.ir().CreateShl(low, 16));
}

void GemmEmitter::packRhs(Val pack) {
  Val pair = table.packField(pack, &GemmStep::pair);
  Val begin = table.packField(pack, &GemmStep::begin);
  Val length = table.packField(pack, &GemmStep::length);
  Val stride = table.rhsStride(pair);
  Address rhs = operand(spec.rhsBuffer(), pair);
  Address packed = b.at(b.scratch(), b.imul(table.packField(pack, &GemmStep::packed), spec.tileColumns()));
  if (spec.form == GemmForm::NT)
    packRhsColumns(b.at(rhs, begin, spec.operandBytes()), length, stride, packed);
  else
    packRhsRows(b.at(rhs, b.iadd(b.imul(begin, stride), block.column), spec.operandBytes()), length, stride, packed);
}

// rhs [k][n]: rows are copied.
void GemmEmitter::packRhsRows(Address rhs, Val length, Val stride, Address packed) {
  int64_t rowsOfUnit = packedRows(spec.operands, unitLength());
  auto copy = [&](Val unit, Val panel, bool whole, bool single) {
    Val k = b.imul(unit, unitLength()), column = b.imul(panel, spec.tileColumns());
    Address from = b.at(rhs, b.iadd(b.imul(k, stride), column), spec.operandBytes());
    Address to = b.at(b.at(packed, b.imul(panel, spec.panelStride())), b.imul(unit, rowsOfUnit * spec.tileColumns()));
    int64_t columns = whole ? spec.tileColumns() : spec.n % spec.tileColumns();
    for (int64_t v = 0; v < columns; v += kLanes) {
      Address part = b.at(from, v, spec.operandBytes());
      for (int64_t row = 0; row < unitLength(); ++row)
        b.prefetch(b.at(part, b.imul(stride, kUnitsAtOnce * unitLength() + row), spec.operandBytes()));
      Val mask = columns - v >= kLanes ? nullptr : b.tailMask(columns - v);
      packUnit(part, stride, kLanes, mask, single, b.at(to, v), spec.tileColumns());
    }
  };
  Val whole = b.idiv(block.columns, spec.tileColumns());
  forUnits(length, [&](Val first, Val end, bool single) {
    b.forLoop(b.i64(0), whole, b.i64(1),
              [&](Val panel) { b.forLoop(first, end, b.i64(1), [&](Val unit) { copy(unit, panel, true, single); }); });
    if (spec.n % spec.tileColumns() != 0)
      b.ifThen(b.ilt(b.imul(whole, spec.tileColumns()), block.columns),
               [&] { b.forLoop(first, end, b.i64(1), [&](Val unit) { copy(unit, whole, false, single); }); });
  });
}

// rhs [n][k], `rhs` at column k of row 0: blocks of 16 rows x 4 words are transposed. Columns of a panel beyond N
// repeat the last: their results are never stored. A last partial block of k writes rows beyond `length`, which the
// next step overwrites or the panel's end takes.
void GemmEmitter::packRhsColumns(Address rhs, Val length, Val stride, Address packed) {
  bool f32 = spec.operands == GemmOperands::F32;
  int64_t blockLength = 4 * 4 / spec.operandBytes(); // elements of 4 words
  auto *words = FixedVectorType::get(f32 ? b.f32Type() : b.i32Type(), 4);
  auto *elements = FixedVectorType::get(f32 ? b.f32Type() : b.ir().getInt16Ty(), unsigned(blockLength));
  int64_t rowsOfWord = spec.operands == GemmOperands::Widened ? 2 : 1;
  auto storeColumns = [&](Address to, Val columns) {
    if (spec.operands != GemmOperands::Widened)
      return b.store(to, columns);
    b.store(to, b.ir().CreateAnd(columns, 0xffff0000u));
    b.store(b.at(to, spec.tileColumns()), b.ir().CreateShl(columns, 16));
  };
  auto sixteenColumns = [&](Val column, bool whole, Address to) {
    SmallVector<Address> rows;
    for (int64_t i = 0; i < kLanes; ++i) {
      Val row = b.iadd(column, i);
      row = whole ? row : b.imin(row, b.i64(spec.n - 1));
      rows.push_back(b.at(rhs, b.imul(row, stride), spec.operandBytes()));
    }
    auto blockAt = [&](Val k, Val mask) {
      SmallVector<Val> r;
      for (Address row : rows) {
        Address from = b.at(row, k, spec.operandBytes());
        r.push_back(mask ? b.ir().CreateBitCast(b.loadMasked(from, elements, mask), words)
                         : b.load(from, words, unsigned(spec.operandBytes())));
      }
      Val first = b.imul(b.idiv(k, blockLength / 4), rowsOfWord * spec.tileColumns());
      for (auto [i, columns] : enumerate(transpose16x4(b, r)))
        storeColumns(b.at(b.at(to, first), int64_t(i) * rowsOfWord * spec.tileColumns()), columns);
    };
    Val end = b.ir().CreateAnd(length, ~uint64_t(blockLength - 1));
    b.forLoop(b.i64(0), end, b.i64(blockLength), [&](Val k) { blockAt(k, nullptr); });
    b.ifThen(b.ilt(end, length), [&] { blockAt(end, b.tailMask(b.isub(length, end))); });
  };
  auto panelOf = [&](Val panel, bool whole) {
    Val column = b.iadd(block.column, b.imul(panel, spec.tileColumns()));
    Address to = b.at(packed, b.imul(panel, spec.panelStride()));
    int64_t columns = whole ? spec.tileColumns() : spec.n % spec.tileColumns();
    for (int64_t v = 0; v < columns; v += kLanes)
      sixteenColumns(b.iadd(column, v), whole, b.at(to, v));
  };
  Val whole = b.idiv(block.columns, spec.tileColumns());
  b.forLoop(b.i64(0), whole, b.i64(1), [&](Val panel) { panelOf(panel, true); });
  if (spec.n % spec.tileColumns() != 0)
    b.ifThen(b.ilt(b.imul(whole, spec.tileColumns()), block.columns), [&] { panelOf(whole, false); });
}

void GemmEmitter::packLhs(Val pack) {
  spec.form == GemmForm::TN ? packLhsTiles(pack, b.scratch(spec.packedA)) : packLhsRows(pack, b.i64(0), block.rows);
}

// lhs [k][m]: the rows of a tile side by side.
void GemmEmitter::packLhsTiles(Val pack, Address packed) {
  Val begin = table.packField(pack, &GemmStep::begin), length = table.packField(pack, &GemmStep::length);
  Address lhs = b.at(operand(0, table.packField(pack, &GemmStep::pair)),
                     b.iadd(b.imul(begin, spec.tnStride()), block.row), spec.operandBytes());
  packed = b.at(packed, b.imul(table.packField(pack, &GemmStep::packed), spec.tileRows));
  forUnits(length, [&](Val first, Val end, bool single) {
    forTiles([&](int64_t rows, Val tile) { packTileUnits(lhs, first, end, tile, rows, single, packed, kUnitsAtOnce); });
  });
}

// Units first to end of one tile, from `lhs` at the first unit and the block's first row of C. Each row is stored as a
// whole vector, whose end the next one overwrites. `unitsAhead`: what is asked for meanwhile, 0: nothing.
void GemmEmitter::packTileUnits(Address lhs, Val first, Val end, Val tile, int64_t rows, bool single, Address packed,
                                int64_t unitsAhead) {
  int64_t width = int64_t(bit_ceil(uint64_t(rows))), rowsOfUnit = packedRows(spec.operands, unitLength());
  Val mask = width == rows ? nullptr : b.tailMask(rows), stride = b.i64(spec.tnStride());
  b.forLoop(first, end, b.i64(1), [&](Val unit) {
    Val k = b.imul(unit, unitLength());
    Address from = b.at(lhs, b.iadd(b.imul(k, spec.tnStride()), b.imul(tile, spec.tileRows)), spec.operandBytes());
    Address to = b.at(b.at(packed, b.imul(tile, spec.packedTileStride())), b.imul(unit, rowsOfUnit * spec.tileRows));
    for (int64_t row = 0; unitsAhead > 0 && row < unitLength(); ++row)
      b.prefetch(b.at(from, (unitsAhead * unitLength() + row) * spec.tnStride(), spec.operandBytes()));
    packUnit(from, stride, unsigned(width), mask, single, to, spec.tileRows);
  });
}

// lhs [m][k] of bf16, widened: the terms of each pair swapped. A last vector ends with zeros.
void GemmEmitter::packLhsRows(Val pack, Val firstRow, Val rows) {
  Val pair = table.packField(pack, &GemmStep::pair), begin = table.packField(pack, &GemmStep::begin);
  Val length = table.packField(pack, &GemmStep::length), stride = table.lhsStride(pair);
  Address packed = b.at(b.scratch(spec.packedA), table.packField(pack, &GemmStep::packed));
  SmallVector<int> swapped;
  for (int lane = 0; lane < kLanes; ++lane)
    swapped.push_back(lane ^ 1);
  Type *half = b.ir().getInt16Ty();
  b.forLoop(b.i64(0), rows, b.i64(1), [&](Val row) {
    Val rowOfC = b.iadd(b.iadd(block.row, firstRow), row);
    Address from = b.at(operand(0, pair), b.iadd(b.imul(rowOfC, stride), begin), 2);
    Address to = b.at(packed, b.imul(row, spec.packedRowStride()));
    b.forLanes(b.i64(0), length, [&](Val k, Val mask) {
      Address at = b.at(from, k, 2);
      Val halves = mask ? b.loadLanes(at, half, mask) : b.load(at, b.lanesOf(half), 2);
      Val words = b.ir().CreateZExt(b.ir().CreateShuffleVector(halves, swapped), b.lanesOf(b.i32Type()));
      b.store(b.at(to, k), b.ir().CreateShl(words, 16));
    });
  });
}

} // namespace recipe::codegen
