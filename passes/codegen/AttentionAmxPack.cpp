// Packing of heads into the tiles of AMX, 32 rows at a time.
#include "passes/codegen/AttentionAmx.h"
#include "passes/codegen/Transpose.h"

using namespace llvm;

namespace recipe::codegen {

static constexpr int64_t kSide = AttentionAmxShape::kSide, kTerms = AttentionAmxShape::kTerms,
                         kTileBytes = AttentionAmxShape::kTileBytes;

Address AttentionAmxEmitter::tileIn(Address matrix, Val row, int64_t columns, Val column) {
  return b.at(matrix, b.imul(b.iadd(b.imul(row, columns), column), kTileBytes), 1);
}

void AttentionAmxEmitter::prefetchRows(Rows from, Val firstRow) {
  b.forLoop(0, kTerms, 1, [&](Val r) { from.prefetch(b, spec.size, b.iadd(firstRow, r)); });
}

Val AttentionAmxEmitter::rowWords(Rows from, Val row, int64_t sizeBlock) {
  auto *halves = FixedVectorType::get(b.ir().getInt16Ty(), unsigned(kTerms));
  int64_t first = sizeBlock * kTerms, count = std::min(kTerms, spec.size - first);
  SmallVector<Constant *> on;
  for (int64_t e = 0; e < kTerms; ++e)
    on.push_back(b.ir().getInt1(e < count));
  auto load = [&] {
    Address place = b.at(from.at(b, row), first, 2);
    Val value = count == kTerms ? b.load(place, halves, 2)
                                : b.ir().CreateMaskedLoad(halves, place.pointer, Align(2), ConstantVector::get(on),
                                                          Constant::getNullValue(halves));
    return b.ir().CreateBitCast(value, b.lanesOf(b.i32Type()));
  };
  if (allRowsExist())
    return load();
  return b.ifElse(
      b.ilt(row, b.i64(spec.positions)), [&] { return Vals{load()}; },
      [&] { return Vals{Constant::getNullValue(b.lanesOf(b.i32Type()))}; })[0];
}

void AttentionAmxEmitter::packRows(Rows from, Val firstRow, Address to) {
  b.forLoop(0, kTerms, 1, [&](Val r) {
    Val tile = b.idiv(r, kSide), inTile = b.imul(b.irem(r, kSide), 64);
    for (int64_t block = 0; block < spec.sizeBlocks(); ++block)
      b.store(b.at(tileIn(to, tile, spec.sizeBlocks(), b.i64(block)), inTile, 1),
              rowWords(from, b.iadd(firstRow, r), block));
  });
}

void AttentionAmxEmitter::packColumns(Rows from, Val firstRow, Address to) {
  for (int64_t block = 0; block < spec.sizeBlocks(); ++block)
    b.forLoop(0, 2, 1, [&](Val tile) {
      SmallVector<Val> rows;
      for (int64_t r = 0; r < kSide; ++r)
        rows.push_back(rowWords(from, b.iadd(b.iadd(firstRow, b.imul(tile, kSide)), r), block));
      transpose16x16(b, rows);
      Address out = tileIn(to, tile, spec.sizeBlocks(), b.i64(block));
      for (int64_t r = 0; r < kSide; ++r)
        b.store(b.at(out, r * kSide), rows[size_t(r)]);
    });
}

void AttentionAmxEmitter::packPairs(Rows from, Val firstRow, Address to) {
  auto *words = FixedVectorType::get(b.i32Type(), unsigned(kSide));
  SmallVector<int> halves[2];
  for (int lane = 0; lane < kSide; ++lane)
    halves[0].push_back(lane), halves[1].push_back(int(kSide) + lane);
  b.forLoop(0, kSide, 1, [&](Val pair) {
    Val row = b.iadd(firstRow, b.imul(pair, 2));
    for (int64_t block = 0; block < spec.sizeBlocks(); ++block) {
      auto *wide = FixedVectorType::get(b.ir().getInt16Ty(), unsigned(kTerms));
      Val first = b.ir().CreateBitCast(rowWords(from, row, block), wide);
      Val second = b.ir().CreateBitCast(rowWords(from, b.iadd(row, 1), block), wide);
      for (int64_t half = 0; half < 2; ++half) {
        auto half32 = [&](Val value) {
          return b.ir().CreateZExt(b.ir().CreateShuffleVector(value, halves[half]), words);
        };
        Val both = b.ir().CreateOr(half32(first), b.ir().CreateShl(half32(second), 16));
        b.store(b.at(b.at(to, (2 * block + half) * kTileBytes, 1), b.imul(pair, 64), 1), both);
      }
    }
  });
}

void AttentionAmxEmitter::packChannels(Address pairs, Address to, int64_t columns) {
  b.forLoop(0, spec.sizeTiles(), 1, [&](Val tile) {
    Address from = b.at(pairs, b.imul(tile, kTileBytes), 1), out = b.at(to, b.imul(tile, columns * kTileBytes), 1);
    SmallVector<Val> rows;
    for (int64_t r = 0; r < kSide; ++r)
      rows.push_back(b.load(b.at(from, r * kSide), b.lanesOf(b.i32Type())));
    transpose16x16(b, rows);
    for (int64_t r = 0; r < kSide; ++r)
      b.store(b.at(out, r * kSide), rows[size_t(r)]);
  });
}

} // namespace recipe::codegen
