// Packing for tiles. A register of the left operand holds 16 rows of 32 terms, one of the right operand 16 pairs of
// terms of 16 columns: words of two terms, so that one of the two operands is transposed in words wherever terms are
// contiguous in memory in both or in neither. f32 is split into parts on the way.
#include "passes/codegen/BF16.h"
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

// Words of the parts of two terms.
Vals GemmAmxEmitter::wordsOfParts(Val low, Val high) {
  Vals words;
  for (auto [lower, upper] : zip_equal(partsOfF32(b, low), partsOfF32(b, high)))
    words.push_back(b.ir().CreateOr(b.ir().CreateLShr(lower, 16), upper));
  return words;
}

// The term `term` of 16 rows or columns that lie side by side; from term to term `stride` elements. `terms`: how many
// exist; null: all.
Val GemmAmxEmitter::termOfRows(Address from, Val stride, int64_t term, Val mask, Val terms) {
  Val exists = terms ? lanesOn(b, b.ilt(b.i64(term), terms)) : nullptr;
  exists = !exists ? mask : mask ? b.ir().CreateAnd(exists, mask) : exists;
  Address at = term ? b.at(from, b.imul(stride, term), spec.operandBytes()) : from;
  return b.loadLanes(at, elementType(), exists);
}

// A word of each part, of the first term at `from` and the one that shares its word.
Vals GemmAmxEmitter::wordsOfRows(Address from, Val stride, Val mask, Val terms) {
  Val low = termOfRows(from, stride, 0, mask, terms), high = termOfRows(from, stride, highTerm(0), mask, terms);
  if (isSplit())
    return wordsOfParts(low, high);
  auto *words = b.lanesOf(b.i32Type());
  return {b.ir().CreateOr(b.ir().CreateZExt(low, words), b.ir().CreateShl(b.ir().CreateZExt(high, words), 16))};
}

// 16 terms of one row or column. `terms`: how many of its block exist; null: all.
Val GemmAmxEmitter::termsOfRow(Address from, int64_t first, Val terms) {
  Val mask = terms ? b.tailMask(b.imax(b.isub(terms, b.i64(first)), b.i64(0))) : nullptr;
  return b.loadLanes(b.at(from, first, spec.operandBytes()), elementType(), mask);
}

// Words of each part of a block of terms of one row or column.
Vals GemmAmxEmitter::wordsOfRow(Address from, Val terms) {
  auto *words = FixedVectorType::get(b.i32Type(), kSide);
  if (!terms && !isSplit())
    return {b.load(from, words, 2)};
  Val low = termsOfRow(from, 0, terms), high = termsOfRow(from, kSide, terms);
  if (isSplit())
    return wordsOfParts(low, high);
  SmallVector<int> all;
  for (int i = 0; i < kTerms; ++i)
    all.push_back(i);
  return {b.ir().CreateBitCast(b.ir().CreateShuffleVector(low, high, all), words)};
}

void GemmAmxEmitter::storeParts(Address to, ValRange words) {
  for (auto [part, each] : enumerate(words))
    b.store(b.at(to, int64_t(part) * kPartBytes, 1), each, 64);
}

// Rows become columns, then lie one after the other: rows of words, or of f32 those of terms 0 to 15 and 16 to 31.
void GemmAmxEmitter::storeTransposed(Address to, MutableArrayRef<Val> low, MutableArrayRef<Val> high) {
  transpose16x16(b, low);
  if (isSplit())
    transpose16x16(b, high);
  for (int64_t i = 0; i < kSide; ++i)
    storeParts(b.at(to, i * 4 * kSide, 1),
               isSplit() ? wordsOfParts(low[size_t(i)], high[size_t(i)]) : Vals{low[size_t(i)]});
}

void GemmAmxEmitter::packRhs(Val pack) {
  Val pair = table.packField(pack, &GemmStep::pair), begin = table.packField(pack, &GemmStep::begin);
  Val length = table.packField(pack, &GemmStep::length), stride = table.rhsStride(pair);
  Address rhs = operand(spec.rhsBuffer(), pair);
  Address packed = b.at(b.scratch(), b.imul(table.packField(pack, &GemmStep::packed), blockBytes()), 1);
  if (spec.form == GemmForm::NT)
    packRhsColumns(b.at(rhs, begin, spec.operandBytes()), length, stride, packed);
  else
    packRhsRows(b.at(rhs, b.iadd(b.imul(begin, stride), block.column), spec.operandBytes()), length, stride, packed);
}

// rhs [k][n]: rows are interleaved, two by two.
void GemmAmxEmitter::packRhsRows(Address rhs, Val length, Val stride, Address packed) {
  int64_t bytes = spec.operandBytes();
  forBlocks(length, [&](Val k, bool isShort) {
    Val firstTerm = b.imul(k, kTerms);
    auto copy = [&](int64_t columns, Val panel) {
      Address from = b.at(rhs, b.iadd(b.imul(firstTerm, stride), b.imul(panel, kExtent)), bytes);
      Address to = b.at(b.at(packed, b.imul(panel, panelBytes()), 1), b.imul(k, blockBytes()), 1);
      b.forLoop(0, kSide, 1, [&](Val word) {
        Val term = b.imul(word, lowTerm(1));
        Address row = b.at(from, b.imul(term, stride), bytes);
        for (int64_t next : {lowTerm(0), highTerm(0)}) // of the next block
          for (int64_t byte = 0; byte < kExtent * bytes; byte += 64)
            b.prefetch(b.at(b.at(row, b.imul(stride, kTerms + next), bytes), byte, 1));
        Val terms = isShort ? b.isub(length, b.iadd(firstTerm, term)) : nullptr;
        for (int64_t half = 0; half * kSide < columns; ++half) {
          Val mask = columns - half * kSide >= kSide ? nullptr : b.tailMask(columns - half * kSide);
          Vals words = wordsOfRows(b.at(row, half * kSide, bytes), stride, mask, terms);
          storeParts(b.at(b.at(to, half * kTileBytes, 1), b.imul(word, 4 * kSide), 1), words);
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
        from.push_back(b.at(rhs, b.imul(existing, stride), spec.operandBytes()));
      }
      forBlocks(length, [&](Val k, bool isShort) {
        Val term = b.imul(k, kTerms), terms = isShort ? b.isub(length, term) : nullptr;
        Address place = b.at(to, b.imul(k, blockBytes()), 1);
        Vals low, high;
        for (Address each : from) {
          Address row = b.at(each, term, spec.operandBytes());
          if (isSplit())
            low.push_back(termsOfRow(row, 0, terms)), high.push_back(termsOfRow(row, kSide, terms));
          else
            low.push_back(wordsOfRow(row, terms)[0]);
        }
        storeTransposed(place, low, high);
      });
    }
  });
}

void GemmAmxEmitter::packLhs(Val pack, Val row, int64_t rows) {
  Val pair = table.packField(pack, &GemmStep::pair), begin = table.packField(pack, &GemmStep::begin);
  Val length = table.packField(pack, &GemmStep::length);
  Address lhs = operand(0, pair);
  Address packed = b.at(b.scratch(spec.packedA), b.imul(table.packField(pack, &GemmStep::packed), blockBytes()), 1);
  if (spec.form == GemmForm::TN)
    packLhsColumns(b.at(lhs, b.iadd(b.imul(begin, spec.m), row), spec.operandBytes()), length, rows, packed);
  else
    packLhsRows(b.at(lhs, begin, spec.operandBytes()), length, table.lhsStride(pair), row, packed);
}

// lhs [m][k]: rows are copied; those beyond M repeat the last one.
void GemmAmxEmitter::packLhsRows(Address lhs, Val length, Val stride, Val row, Address packed) {
  b.forLoop(0, kExtent, 1, [&](Val r) {
    Address from = b.at(lhs, b.imul(b.imin(b.iadd(row, r), b.i64(spec.m - 1)), stride), spec.operandBytes());
    Address to = b.at(packed, b.imul(r, 4 * kSide), 1); // registers hold 16 rows each, one after the other
    forBlocks(length, [&](Val k, bool isShort) {
      Val term = b.imul(k, kTerms), terms = isShort ? b.isub(length, term) : nullptr;
      storeParts(b.at(to, b.imul(k, blockBytes()), 1), wordsOfRow(b.at(from, term, spec.operandBytes()), terms));
    });
  });
}

// lhs [k][m], `lhs` at its first row and column.
void GemmAmxEmitter::packLhsColumns(Address lhs, Val length, int64_t rows, Address packed) {
  forBlocks(length, [&](Val k, bool isShort) {
    Val firstTerm = b.imul(k, kTerms);
    for (int64_t half = 0; half * kSide < rows; ++half) {
      Address from = b.at(lhs, b.iadd(b.imul(firstTerm, spec.m), half * kSide), spec.operandBytes());
      Address to = b.at(b.at(packed, b.imul(k, blockBytes()), 1), half * kTileBytes, 1);
      Val mask = rows - half * kSide >= kSide ? nullptr : b.tailMask(rows - half * kSide);
      Val terms = isShort ? b.isub(length, firstTerm) : nullptr;
      Vals low, high;
      for (int64_t word = 0; word < kSide; ++word) {
        if (isSplit()) {
          low.push_back(termOfRows(from, b.i64(spec.m), word, mask, terms));
          high.push_back(termOfRows(from, b.i64(spec.m), word + kSide, mask, terms));
          continue;
        }
        Val left = terms ? b.isub(length, b.iadd(firstTerm, 2 * word)) : nullptr;
        low.push_back(wordsOfRows(b.at(from, 2 * word * spec.m, 2), b.i64(spec.m), mask, left)[0]);
      }
      storeTransposed(to, low, high);
    }
  });
}

} // namespace recipe::codegen
