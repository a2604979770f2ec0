// Sizes, tiles and scratch of the attention kernels: what kernel-select promises and codegen uses.
//
// One workgroup computes one (sample, query head) forward, one (sample, kv head) backward. Scores exist for `block`
// query rows at a time, forward against all keys up to the diagonal, backward against a chunk of them: scratch grows
// with T, never with T x T.
#ifndef PASSES_ATTENTIONSHAPE_H
#define PASSES_ATTENTIONSHAPE_H

#include "dialects/step/TargetInfo.h"
#include <algorithm>
#include <cstdint>

namespace recipe {

struct AttentionShape {
  int64_t samples, positions, heads, kvHeads, size; // B, T, H, K, E
  bool dropout, backward;
  bool pairs;                    // bf16 by vdpbf16ps: two terms of a product in a word of 32 bits; else one
  int64_t tileRows, tileVectors; // register tile: rows x (vectors * 16 lanes)
  int64_t keyChunk;              // backward: keys at a time, a multiple of block, panel and draws; or all of them

  // Large tiles pay where rows are long: on the diagonal they compute more in vain. With small ones backward goes by
  // chunks of keys, and half of L2 holds what belongs to one (all of it for heads of more than 128 channels).
  void chooseTile(const step::TargetInfo &target) {
    bool wide = target.vectorBits >= 512 && target.vectorRegisters >= 32;
    tileRows = !wide ? 6 : positions >= 512 ? kLargeTile : 8;
    if (!backward)
      tileRows = std::min(tileRows, positions);
    tileVectors = wide ? 2 : 1;
    keyChunk = roundUp(positions, kBlockTiles * tileRows);
    // With large tiles chunks, and larger blocks, are as fast as all keys at once: only where they save much scratch.
    if (backward && tileRows == kLargeTile && positions * keyBytes() > 2 * target.l2Bytes)
      keyChunk = 4 * kChunkBlockTiles * kLargeTile;
    if (backward && !wide) {
      constexpr int64_t kStep = 96; // block, panel and draws divide it
      int64_t fits = target.l2Bytes / 2 / keyBytes();
      keyChunk = std::min(keyChunk, std::max(fits / kStep * kStep, kStep));
    }
  }

  static constexpr int64_t kLargeTile = 14, kBlockTiles = 4, kChunkBlockTiles = 8;
  int64_t keyBytes() const { return (3 * rowWords() + 2 * paddedSize()) * 4; } // backward: k twice, v, dk, dv

  static int64_t roundUp(int64_t n, int64_t multiple) { return (n + multiple - 1) / multiple * multiple; }

  int64_t terms() const { return pairs ? 2 : 1; }      // of a chain, in a word
  int64_t sizeWords() const { return size / terms(); } // of a row of q, k, v or dy
  int64_t rowWords() const { return paddedSize() / terms(); }
  int64_t group() const { return heads / kvHeads; }
  int64_t panelWidth() const { return 16 * tileVectors; }
  int64_t block() const { // query rows at a time, backward
    return (tileRows == kLargeTile && inChunks() ? kChunkBlockTiles : kBlockTiles) * tileRows;
  }
  int64_t rowTiles() const { return roundUp(positions, tileRows) / tileRows; } // forward
  bool inChunks() const { return backward && keyChunk < positions; }
  int64_t keys() const { return backward ? std::min(keyChunk, positions) : positions; } // packed at a time
  int64_t keyPanels() const { return roundUp(keys(), panelWidth()) / panelWidth(); }
  int64_t sizePanels() const { return roundUp(size, panelWidth()) / panelWidth(); }
  int64_t paddedSize() const { return sizePanels() * panelWidth(); }
  int64_t paddedKeys() const { return roundUp(keys(), tileRows) + tileRows; } // a tile may touch rows beyond T
  // Elements between rows of a score block; not a power of two, which would share cache sets.
  int64_t scoreStride() const { return roundUp(paddedKeys(), panelWidth()) + 16; }
  // Pending sums of the tree over a group's query heads.
  int64_t groupLevels() const {
    int64_t levels = 0;
    while (group() > 1 && (int64_t(1) << levels) <= group())
      ++levels;
    return levels;
  }

  // Scratch, in floats or words; each part starts at a multiple of 16.
  // [panel of keys][word of e][key] and [panel of e][word of keys][e].
  int64_t transposedFloats() const { return keyPanels() * sizeWords() * panelWidth() + 16; }
  int64_t rowPanelStride() const { return paddedKeys() / terms() * panelWidth(); }
  int64_t rowPanelFloats() const { return sizePanels() * rowPanelStride() + 16; }
  int64_t scoreRows() const { return backward ? block() : tileRows; } // rows whose scores exist at a time
  int64_t rowBlockFloats() const { return scoreRows() * rowWords(); }
  int64_t scoreFloats() const { return scoreRows() * scoreStride(); }
  // In chunks a row's statistics serve all of them.
  int64_t statFloats() const { return roundUp(inChunks() ? group() * positions : scoreRows(), 16); }
  int64_t sumFloats() const { return paddedKeys() * paddedSize(); }

  struct Layout {
    int64_t keysTransposed, valuesTransposed, rowPanels, queries, outputGradients, scores, gradients, stats, maxima,
        deltas, keySums, valueSums, pending, total;
    // q and dy as right operands, [word of rows][e]; of one term in a word those above.
    int64_t queryWords, outputGradientWords;
  };
  Layout layout() const {
    Layout at{};
    int64_t next = 0;
    auto place = [&](int64_t &offset, int64_t floats) {
      offset = next;
      next += roundUp(floats, 16);
    };
    place(at.keysTransposed, transposedFloats());
    if (backward)
      place(at.valuesTransposed, transposedFloats());
    place(at.rowPanels, rowPanelFloats()); // of v forward, of k backward
    place(at.queries, rowBlockFloats());
    place(at.scores, scoreFloats());
    place(at.stats, statFloats());
    if (!backward)
      place(at.maxima, tileRows * 16);
    if (backward) {
      place(at.outputGradients, rowBlockFloats());
      place(at.gradients, scoreFloats());
      at.queryWords = at.queries, at.outputGradientWords = at.outputGradients;
      if (pairs) {
        place(at.queryWords, rowBlockFloats());
        place(at.outputGradientWords, rowBlockFloats());
      }
      place(at.deltas, statFloats());
      place(at.keySums, sumFloats());
      place(at.valueSums, sumFloats());
      place(at.pending, 2 * groupLevels() * sumFloats());
    }
    at.total = next;
    return at;
  }
  int64_t scratchBytes() const { return layout().total * 4; }
};

} // namespace recipe
#endif
