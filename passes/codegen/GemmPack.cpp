// Packing: columns of the right operand as panels [panel][k][tile columns], rows of a transposed left operand as
// [tile][k][tile rows].
#include "passes/codegen/Gemm.h"
#include "passes/codegen/Transpose.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace recipe::codegen {

// A few rows of K at a time: each panel or tile then takes whole cache lines while the rows are read in order.
static constexpr int64_t kRowsAtOnce = 8;

void GemmEmitter::packRhs(Val step) {
  Val pair = table.field(step, &GemmStep::pair);
  Val begin = table.field(step, &GemmStep::begin);
  Val length = table.field(step, &GemmStep::length);
  Val stride = table.rhsStride(pair);
  Address rhs = operand(spec.rhsBuffer(), pair);
  Address packed = b.at(b.scratch(), b.imul(table.field(step, &GemmStep::packed), spec.tileColumns()));
  if (spec.form == GemmForm::NT)
    packRhsColumns(b.at(rhs, begin), length, stride, packed);
  else
    packRhsRows(b.at(rhs, b.iadd(b.imul(begin, stride), block.column)), length, stride, packed);
}

// rhs [k][n]: rows are copied.
void GemmEmitter::packRhsRows(Address rhs, Val length, Val stride, Address packed) {
  auto copy = [&](Val k, Val panel, bool whole) {
    Val column = b.imul(panel, spec.tileColumns());
    Address from = b.at(b.at(rhs, b.imul(k, stride)), column);
    Address to = b.at(b.at(packed, b.imul(panel, spec.panelStride())), b.imul(k, spec.tileColumns()));
    int64_t columns = whole ? spec.tileColumns() : spec.n % spec.tileColumns();
    for (int64_t v = 0; v < columns; v += kLanes) {
      b.prefetch(b.at(b.at(from, b.imul(stride, kRowsAtOnce)), v));
      Val mask = columns - v >= kLanes ? nullptr : b.tailMask(columns - v);
      b.storeLanes(b.at(to, v), b.loadLanes(b.at(from, v), mask));
    }
  };
  Val whole = b.idiv(block.columns, spec.tileColumns());
  b.forLoop(b.i64(0), length, b.i64(kRowsAtOnce), [&](Val first) {
    Val end = b.imin(b.iadd(first, kRowsAtOnce), length);
    b.forLoop(b.i64(0), whole, b.i64(1),
              [&](Val panel) { b.forLoop(first, end, b.i64(1), [&](Val k) { copy(k, panel, true); }); });
    if (spec.n % spec.tileColumns() != 0)
      b.ifThen(b.ilt(b.imul(whole, spec.tileColumns()), block.columns),
               [&] { b.forLoop(first, end, b.i64(1), [&](Val k) { copy(k, whole, false); }); });
  });
}

// rhs [n][k], `rhs` at column k of row 0: 8 x 8 blocks are transposed. Columns of a panel beyond N repeat the last:
// their results are never stored. A last partial block of k writes rows beyond `length`, which the next step overwrites
// or the panel's end takes.
void GemmEmitter::packRhsColumns(Address rhs, Val length, Val stride, Address packed) {
  auto *eight = FixedVectorType::get(b.f32Type(), 8);
  auto panelOf = [&](Val panel, bool whole) {
    Val column = b.iadd(block.column, b.imul(panel, spec.tileColumns()));
    Address to = b.at(packed, b.imul(panel, spec.panelStride()));
    int64_t columns = whole ? spec.tileColumns() : int64_t(alignTo(spec.n % spec.tileColumns(), kLanes));
    for (int64_t v = 0; v < columns; v += 8) {
      SmallVector<Address> rows;
      for (int64_t i = 0; i < 8; ++i) {
        Val row = b.iadd(column, v + i);
        rows.push_back(b.at(rhs, b.imul(whole ? row : b.imin(row, b.i64(spec.n - 1)), stride)));
      }
      auto blockAt = [&](Val k, Val mask) {
        SmallVector<Val> r;
        for (Address row : rows) {
          Address from = b.at(row, k);
          r.push_back(mask ? b.loadMasked(from, eight, mask) : b.load(from, eight));
        }
        transpose8x8(b, r);
        for (int64_t i = 0; i < 8; ++i)
          b.store(b.at(b.at(to, b.imul(k, spec.tileColumns())), i * spec.tileColumns() + v), r[size_t(i)]);
      };
      Val end = b.ir().CreateAnd(length, ~uint64_t(7));
      b.forLoop(b.i64(0), end, b.i64(8), [&](Val k) { blockAt(k, nullptr); });
      b.ifThen(b.ilt(end, length), [&] { blockAt(end, b.tailMask(b.isub(length, end))); });
    }
  };
  Val whole = b.idiv(block.columns, spec.tileColumns());
  b.forLoop(b.i64(0), whole, b.i64(1), [&](Val panel) { panelOf(panel, true); });
  if (spec.n % spec.tileColumns() != 0)
    b.ifThen(b.ilt(b.imul(whole, spec.tileColumns()), block.columns), [&] { panelOf(whole, false); });
}

// lhs [k][m]: the rows of a tile side by side. Each is stored as a whole vector, whose end the next one overwrites.
void GemmEmitter::packLhs(Val step) {
  Val begin = table.field(step, &GemmStep::begin), length = table.field(step, &GemmStep::length);
  Address lhs = b.at(operand(0, table.field(step, &GemmStep::pair)), b.iadd(b.imul(begin, spec.m), block.row));
  Address packed = b.at(b.scratch(spec.packedA), b.imul(table.field(step, &GemmStep::packed), spec.tileRows));
  auto pack = [&](Val first, Val end, Val tile, int64_t rows) {
    auto *type = FixedVectorType::get(b.f32Type(), unsigned(bit_ceil(uint64_t(rows))));
    Val mask = has_single_bit(uint64_t(rows)) ? nullptr : b.tailMask(rows);
    b.forLoop(first, end, b.i64(1), [&](Val k) {
      Address from = b.at(b.at(lhs, b.imul(k, spec.m)), b.imul(tile, spec.tileRows));
      Address to = b.at(b.at(packed, b.imul(tile, spec.packedTileStride())), b.imul(k, spec.tileRows));
      b.prefetch(b.at(from, kRowsAtOnce * spec.m));
      b.store(to, mask ? b.loadMasked(from, type, mask) : b.load(from, type));
    });
  };
  b.forLoop(b.i64(0), length, b.i64(kRowsAtOnce), [&](Val first) {
    Val end = b.imin(b.iadd(first, kRowsAtOnce), length);
    forTiles([&](int64_t rows, Val tile) { pack(first, end, tile, rows); });
  });
}

} // namespace recipe::codegen
