// Packing for tiles. A register of the left operand holds 16 rows of 32 terms, one of the right operand 16 pairs of
// terms of 16 columns: words of two terms, so that one of the two operands is transposed in words wherever terms are
// contiguous in memory in both or in neither.
#include "passes/codegen/GemmAmx.h"
#include "passes/codegen/Transpose.h"

using namespace llvm;

namespace recipe::codegen {

void GemmAmxEmitter::forBlocks(Val length, function_ref<void(Val, bool)> body) {
  Val whole = b.idiv(length, kTerms);
  b.forLoop(b.i64(0), whole, b.i64(1), [&](Val block) { body(block, false); });
  if (any_of(spec.steps.packs, [](const GemmStep &pack) { return pack.length % kTerms != 0; }))
    b.ifThen(b.ilt(b.imul(whole, kTerms), length), [&] { body(whole, true); });
}

static Val lanesOn(KernelBuilder &b, Val condition) { return b.ir().CreateVectorSplat(kLanes, condition); }

// The terms k and k + 1 of 16 rows or columns that lie side by side, `stride` elements apart. `terms`: how many exist;
// null: both.
Val GemmAmxEmitter::wordsOfPair(Address from, Val stride, Val mask, Val terms) {
  auto half = [&](Address at, int64_t term) {
    Val exists = terms ? lanesOn(b, b.ilt(b.i64(term), terms)) : nullptr;
    exists = !exists ? mask : mask ? b.ir().CreateAnd(exists, mask) : exists;
    return b.ir().CreateZExt(b.loadLanes(at, b.ir().getInt16Ty(), exists), b.lanesOf(b.i32Type()));
  };
  Val low = half(from, 0), high = half(b.at(from, stride, 2), 1);
  return b.ir().CreateOr(low, b.ir().CreateShl(high, 16));
}

// A block of terms of one row or column. `terms`: how many exist; null: all.
Val GemmAmxEmitter::wordsOfRow(Address from, Val terms) {
  auto *words = FixedVectorType::get(b.i32Type(), kSide);
  if (!terms)
    return b.load(from, words, 2);
  auto half = [&](int64_t first) {
    Val mask = b.tailMask(b.imax(b.isub(terms, b.i64(first)), b.i64(0)));
    return b.loadLanes(b.at(from, first, 2), b.ir().getInt16Ty(), mask);
  };
  SmallVector<int> all;
  for (int i = 0; i < kTerms; ++i)
    all.push_back(i);
  return b.ir().CreateBitCast(b.ir().CreateShuffleVector(half(0), half(kLanes), all), words);
}

void GemmAmxEmitter::packRhs(Val pack) {
  Val pair = table.packField(pack, &GemmStep::pair), begin = table.packField(pack, &GemmStep::begin);
  Val length = table.packField(pack, &GemmStep::length), stride = table.rhsStride(pair);
  Address rhs = operand(spec.rhsBuffer(), pair);
  Address packed = b.at(b.scratch(), b.imul(table.packField(pack, &GemmStep::packed), kBlockBytes), 1);
  if (spec.form == GemmForm::NT)
    packRhsColumns(b.at(rhs, begin, 2), length, stride, packed);
  else
    packRhsRows(b.at(rhs, b.iadd(b.imul(begin, stride), block.column), 2), length, stride, packed);
}

// rhs [k][n]: pairs of rows are interleaved.
void GemmAmxEmitter::packRhsRows(Address rhs, Val length, Val stride, Address packed) {
  forBlocks(length, [&](Val k, bool isShort) {
    Val firstTerm = b.imul(k, kTerms);
    auto copy = [&](int64_t columns, Val panel) {
      Address from = b.at(rhs, b.iadd(b.imul(firstTerm, stride), b.imul(panel, kExtent)), 2);
      Address to = b.at(b.at(packed, b.imul(panel, panelBytes()), 1), b.imul(k, kBlockBytes), 1);
      b.forLoop(0, kSide, 1, [&](Val pair) {
        Val term = b.imul(pair, 2);
        Address row = b.at(from, b.imul(term, stride), 2);
        for (int64_t next = kTerms; next < kTerms + 2; ++next) // of the next block
          b.prefetch(b.at(row, b.imul(stride, next), 2));
        Val terms = isShort ? b.isub(length, b.iadd(firstTerm, term)) : nullptr;
        for (int64_t half = 0; half * kSide < columns; ++half) {
          Val mask = columns - half * kSide >= kSide ? nullptr : b.tailMask(columns - half * kSide);
          Val words = wordsOfPair(b.at(row, half * kSide, 2), stride, mask, terms);
          b.store(b.at(b.at(to, half * kTileBytes, 1), b.imul(pair, 4 * kSide), 1), words, 64);
        }
      });
    };
    forPanels(copy);
  });
}

// rhs [n][k]: columns of words become rows. Columns beyond N repeat the last one: their results are never stored.
void GemmAmxEmitter::packRhsColumns(Address rhs, Val length, Val stride, Address packed) {
  forPanels([&](int64_t columns, Val panel) {
    for (int64_t half = 0; half * kSide < columns; ++half) {
      Val column = b.iadd(block.column, b.iadd(b.imul(panel, kExtent), half * kSide));
      Address to = b.at(b.at(packed, b.imul(panel, panelBytes()), 1), half * kTileBytes, 1);
      SmallVector<Address> from;
      for (int64_t i = 0; i < kSide; ++i) {
        Val existing = columns == kExtent ? b.iadd(column, i) : b.imin(b.iadd(column, i), b.i64(spec.n - 1));
        from.push_back(b.at(rhs, b.imul(existing, stride), 2));
      }
      forBlocks(length, [&](Val k, bool isShort) {
        Val term = b.imul(k, kTerms), terms = isShort ? b.isub(length, term) : nullptr;
        Vals rows;
        for (Address each : from)
          rows.push_back(wordsOfRow(b.at(each, term, 2), terms));
        transpose16x16(b, rows);
        for (auto [i, words] : enumerate(rows))
          b.store(b.at(b.at(to, b.imul(k, kBlockBytes), 1), int64_t(i) * 4 * kSide, 1), words, 64);
      });
    }
  });
}

void GemmAmxEmitter::packLhs(Val pack, Val row, int64_t rows) {
  Val pair = table.packField(pack, &GemmStep::pair), begin = table.packField(pack, &GemmStep::begin);
  Val length = table.packField(pack, &GemmStep::length);
  Address lhs = operand(0, pair);
  Address packed = b.at(b.scratch(spec.packedA), b.imul(table.packField(pack, &GemmStep::packed), kBlockBytes), 1);
  if (spec.form == GemmForm::TN)
    packLhsColumns(b.at(lhs, b.iadd(b.imul(begin, spec.m), row), 2), length, rows, packed);
  else
    packLhsRows(b.at(lhs, begin, 2), length, table.lhsStride(pair), row, packed);
}

// lhs [m][k]: rows are copied; those beyond M repeat the last one.
void GemmAmxEmitter::packLhsRows(Address lhs, Val length, Val stride, Val row, Address packed) {
  b.forLoop(0, kExtent, 1, [&](Val r) {
    Address from = b.at(lhs, b.imul(b.imin(b.iadd(row, r), b.i64(spec.m - 1)), stride), 2);
    Address to = b.at(packed, b.imul(r, 4 * kSide), 1); // registers hold 16 rows each, one after the other
    forBlocks(length, [&](Val k, bool isShort) {
      Val term = b.imul(k, kTerms), terms = isShort ? b.isub(length, term) : nullptr;
      b.store(b.at(to, b.imul(k, kBlockBytes), 1), wordsOfRow(b.at(from, term, 2), terms), 64);
    });
  });
}

// lhs [k][m], `lhs` at its first row and column.
void GemmAmxEmitter::packLhsColumns(Address lhs, Val length, int64_t rows, Address packed) {
  forBlocks(length, [&](Val k, bool isShort) {
    Val firstTerm = b.imul(k, kTerms);
    for (int64_t half = 0; half * kSide < rows; ++half) {
      Address from = b.at(lhs, b.iadd(b.imul(firstTerm, spec.m), half * kSide), 2);
      Val mask = rows - half * kSide >= kSide ? nullptr : b.tailMask(rows - half * kSide);
      Vals words;
      for (int64_t pair = 0; pair < kSide; ++pair) {
        Val terms = isShort ? b.isub(length, b.iadd(firstTerm, 2 * pair)) : nullptr;
        words.push_back(wordsOfPair(b.at(from, 2 * pair * spec.m, 2), b.i64(spec.m), mask, terms));
      }
      transpose16x16(b, words);
      Address to = b.at(b.at(packed, b.imul(k, kBlockBytes), 1), half * kTileBytes, 1);
      for (auto [i, each] : enumerate(words))
        b.store(b.at(to, int64_t(i) * 4 * kSide, 1), each, 64);
    }
  });
}

} // namespace recipe::codegen
