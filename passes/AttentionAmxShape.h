// Sizes and scratch of the attention kernels for AMX: what kernel-select promises and codegen uses.
//
// Positions and channels come in blocks of 32 terms, filled up with zeros. Forward works on one block of query rows at
// a time, against all keys up to the diagonal; backward on a chunk of keys against a chunk of queries.
#ifndef PASSES_ATTENTIONAMXSHAPE_H
#define PASSES_ATTENTIONAMXSHAPE_H

#include <algorithm>
#include <cstdint>

namespace recipe {

struct AttentionAmxShape {
  int64_t samples, positions, heads, kvHeads, size; // B, T, H, K, E
  bool backward;

  static constexpr int64_t kTerms = 32, kSide = 16; // of a block; of a tile register in rows and 32-bit words
  static constexpr int64_t kTileBytes = 1024, kStageBytes = 4 * kTileBytes;

  int64_t group() const { return heads / kvHeads; }
  int64_t blocks() const { return (positions + kTerms - 1) / kTerms; }
  int64_t sizeBlocks() const { return (size + kTerms - 1) / kTerms; }
  int64_t sizeTiles() const { return 2 * sizeBlocks(); }
  int64_t paddedPositions() const { return blocks() * kTerms; }
  int64_t paddedSize() const { return sizeBlocks() * kTerms; }
  int64_t chunk() const { return std::min<int64_t>(4, blocks()); } // blocks of keys or queries at a time, backward
  // Bytes between rows of scores; not a power of two, which would share cache sets.
  int64_t scoreStride() const { return (paddedPositions() + kSide) * 4; }
  // Pending sums of the tree over a group's query heads.
  int64_t groupLevels() const {
    int64_t levels = 0;
    while (group() > 1 && (int64_t(1) << levels) <= group())
      ++levels;
    return levels;
  }

  // Bytes of rows of a head in bf16, and of as many sums.
  int64_t halfBytes(int64_t blocksOfRows) const { return blocksOfRows * kTerms * paddedSize() * 2; }
  int64_t sumBytes(int64_t blocksOfRows) const { return 2 * halfBytes(blocksOfRows); }

  // Byte offsets in scratch, multiples of 64. "Columns" are right operands of products over channels, "pairs" of
  // products over positions, "rows" left operands.
  struct Layout {
    int64_t keyColumns, valuePairs, queryRows, scores, weights, outputs, rowMax, reciprocals; // forward
    int64_t queryColumns, gradientColumns, queryPairs, gradientPairs, dq, deltas, keyRows, valueRows, keyChannels,
        keySums, valueSums, scoreStage, gradientStage, pairStage, scoreRows, scorePairs,
        pending; // backward; of dy: "gradient"
    int64_t total;
  };
  Layout layout() const {
    Layout at{};
    auto place = [&](int64_t &offset, int64_t bytes) {
      offset = at.total;
      at.total += (bytes + 63) / 64 * 64;
    };
    int64_t all = halfBytes(blocks());
    if (!backward) {
      place(at.keyColumns, all), place(at.valuePairs, all);
      place(at.queryRows, halfBytes(1));
      place(at.scores, kTerms * scoreStride());
      place(at.weights, kTerms * paddedPositions() * 2);
      place(at.outputs, sumBytes(1));
      place(at.rowMax, kTerms * 4), place(at.reciprocals, kTerms * 4);
      return at;
    }
    place(at.queryColumns, all), place(at.gradientColumns, all);
    place(at.queryPairs, all), place(at.gradientPairs, all);
    place(at.dq, 2 * all);
    place(at.rowMax, paddedPositions() * 4), place(at.reciprocals, paddedPositions() * 4);
    place(at.deltas, paddedPositions() * 4);
    int64_t keys = halfBytes(chunk()), pairs = chunk() * chunk() * kTerms * kTerms * 2;
    place(at.keyRows, keys), place(at.valueRows, keys), place(at.keyChannels, keys);
    place(at.keySums, 2 * keys), place(at.valueSums, 2 * keys);
    place(at.scoreStage, kStageBytes), place(at.gradientStage, kStageBytes), place(at.pairStage, halfBytes(1));
    place(at.weights, pairs), place(at.scoreRows, pairs);
    place(at.scorePairs, chunk() * 2 * kTileBytes);
    place(at.pending, 2 * groupLevels() * sumBytes(blocks()));
    return at;
  }
};

} // namespace recipe
#endif
