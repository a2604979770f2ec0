// The attention families: packing, register tiles and row work that forward and backward share.
//
// Every chain of docs/numerics.md ("attention") is one register lane: scores chain over e with keys in the lanes,
// outputs and dq chain over keys with e in the lanes, dk and dv chain over queries with e in the lanes and rest in
// scratch between query blocks; in chunks of keys, dq rests in its result between chunks. Keys right of the diagonal
// never enter a chain: a tile runs its rows together up to the first row's diagonal, then each further key only for the
// rows that see it.
//
// Operands of chains lie in words of 32 bits: one term as f32 or, where vdpbf16ps pays (spec.pairs), two as bf16, of
// neighbouring channels or positions. They are loaded as lanes of f32 in both.
#ifndef PASSES_CODEGEN_ATTENTION_H
#define PASSES_CODEGEN_ATTENTION_H

#include "mlir/IR/BuiltinAttributes.h"
#include "passes/AttentionShape.h"
#include "passes/codegen/EmitPolicy.h"
#include "passes/codegen/KernelBuilder.h"
#include "passes/codegen/KernelFamily.h"
#include "passes/codegen/LaneProgram.h"

namespace recipe::codegen {

struct AttentionSpec : AttentionShape {
  double scale, dropoutProbability;
  bool bf16; // q, k, v and in backward dy and o: computed as f32, products over terms in pairs, the odd one first
  explicit AttentionSpec(mlir::DictionaryAttr spec);
  int64_t together() const { return bf16 ? 2 : 1; }              // positions or channels
  int64_t wordsTogether() const { return together() / terms(); } // of widened values the odd one first
};

// The rows of one head in a [B, T, heads * E] buffer.
struct AttentionRows {
  Address base;          // row 0
  int64_t stride, bytes; // elements between rows; of an element
  static AttentionRows of(KernelBuilder &builder, int64_t positions, int64_t size, unsigned buffer, Val sample,
                          Val head, int64_t heads, bool bf16);
  AttentionRows words(const AttentionShape &shape) const { // as operands of chains
    return shape.pairs ? AttentionRows{base, stride / 2, 4} : *this;
  }
  Address at(KernelBuilder &b, Val row) const { return b.at(base, b.imul(row, stride), bytes); }
  void prefetch(KernelBuilder &b, int64_t size, Val row) const; // may lie beyond the tensor
};

// The draws of attention weights of one head, `lanes` behind that of (row, key). Lane numbers, of keys key.. (a
// multiple of 32) and key + 16..; multiples of train::attentionDrawStride, of `key` (bit 4 clear) and key + 16 in rows
// row...
train::Words<EmitPolicy> drawAttention(KernelBuilder &b, EmitPolicy &policy, int64_t heads, int64_t positions,
                                       Val sample, Val head, Val row, Val key, Val lanes);

class AttentionEmitter {
public:
  AttentionEmitter(KernelBuilder &builder, const AttentionSpec &spec)
      : b(builder), policy(builder), spec(spec), at(spec.layout()) {}
  // `epilogue` takes the output; null: it is stored as it is.
  void emitForward(const LaneProgram *epilogue);
  void emitBackward();

private:
  using Rows = AttentionRows;
  Rows operandRows(unsigned buffer, Val sample, Val head, int64_t heads) {
    return Rows::of(b, spec.positions, spec.size, buffer, sample, head, heads, spec.bf16);
  }
  Rows resultRows(unsigned buffer, Val sample, Val head, int64_t heads) {
    return Rows::of(b, spec.positions, spec.size, buffer, sample, head, heads, false);
  }
  Address part(int64_t floats) { return b.scratch(floats * 4); }

  // AttentionTiles.cpp
  void prefetchRow(Rows from, Val row) { from.prefetch(b, spec.size, row); }
  Val loadRow(Rows from, Val row, int64_t e);      // 16 lanes as f32, zeros beyond E
  Val loadWords(Rows from, Val row, int64_t word); // 16 of its words
  // One of [panel of keys][word of e][key], keys beyond T zero; panels count from the key `base`.
  void packPanel(Rows from, Val base, Val panel, int64_t to);
  // [panel of e][word of keys][e] of `count` keys (fewer at the end) from firstKey behind `base` on, beyond E zero.
  void packRows(Rows from, Val base, Val firstKey, int64_t count, int64_t to);
  void packRowTile(Rows from, Val firstRow, int64_t to);  // [tile rows][words of e], beyond E zero
  void packRowBlock(Rows from, Val firstRow, int64_t to); // [block][words of e], beyond T and E zero
  void packRowPairs(Rows from, Val firstRow, int64_t to); // of pairs: [block / 2][e], beyond E zero
  Val loadPair(Rows from, Val row, int64_t e);            // 16 words of that row and the next
  Val tileBegin(Val tile);                                // first row of a forward tile
  Val lanesUpTo(Val last);                                // <16 x i1>: lanes 0..last on
  // On small tiles the instructions of a loop weigh; the processor sees a panel's rows coming there.
  bool isWide() const { return b.getTarget().vectorBits >= 512; }
  int64_t scoreUnroll() const { return spec.sizeWords() % 8 == 0 ? 8 : spec.wordsTogether(); }
  int64_t keyUnroll() const { return isWide() ? spec.wordsTogether() : 8; }
  Val toWords(Val terms) { return b.idiv(terms, spec.terms()); }
  Val multiplyAdd(Val left, Val right, Val chain); // of words
  // body(i, unroll, carried) for i in [lo, hi), hi >= lo: steps of `unroll`, then of wordsTogether() for what is left.
  using RoundBody = llvm::function_ref<Vals(Val i, int64_t unroll, ValRange carried)>;
  Vals forRounds(Val lo, Val hi, int64_t unroll, Vals init, RoundBody body);
  // [r][v] = chain over words k in [lo, hi) of left[r * leftStride + k] * panel[k][v], for `vectors` of the panel's
  // vectors, continuing `values` (empty: zeros).
  Vals chainRows(Address left, int64_t leftStride, Address panel, int64_t vectors, Val lo, Val hi, int64_t unroll,
                 Vals values = {});
  // values[r][v] = chain over words of rows i in [lo, hi) of left[i][r] * right[i][v], continuing.
  Vals chainColumns(Address left, Address right, Val lo, Val hi, Vals values);
  // What an output or dq chains over keys: weights * one of its panels of channels.
  struct KeyChain {
    AttentionEmitter &emitter;
    Address weights; // of a tile
    Address panel;
    // Continuing `values` (empty: zeros) with keys up to `end`, which all rows see, or up to each row's diagonal; `row`
    // is the tile's first.
    Vals upTo(Val end, Vals values) const;
    Vals upToDiagonal(Val row, Vals values) const;
  };
  KeyChain keyChain(Address weights, int64_t panels, Val panel);
  // body(rowInTile, vector, column, mask of its lanes below E) for a tile's vectors of a panel of channels.
  using TileVector = llvm::function_ref<void(int64_t r, int64_t v, Val column, Val mask)>;
  void forTileVectors(Val panel, TileVector body);
  // scores[i][j] = (chain over e) * factor (null: none) for the block's rows against the chunk's keys up to its last
  // diagonal.
  void scoreBlock(int64_t rows, int64_t transposed, Val firstRow, Val firstKey, int64_t to, Val factor);
  void scoreVectors(Val last, int64_t vectors, llvm::function_ref<void(int64_t vectors)> tile);
  void forBlockRows(Val firstRow, int64_t step, llvm::function_ref<void(Val rowInBlock, Val row)> body);

  // body(j, words, carried) for the keys firstKey + j, j < end, of `rows` from `row` on, 16 at a time, with the words
  // of their draws.
  using DrawnBody = llvm::function_ref<Vals(Val j, ValRange words, ValRange carried)>;
  Vals forDrawnKeys(Val sample, Val head, Val row, int64_t rows, Val firstKey, Val end, ValRange init, DrawnBody body);
  Val kept(Val word); // <16 x i1>

  // AttentionForward.cpp
  struct ForwardRows {
    Val sample, head;
    Address maxOut, sumOut; // of row 0
  };
  void scoreTile(Val firstRow, Address maxOut);
  void softmaxTile(Val firstRow, const ForwardRows &rows, llvm::function_ref<void(Val row)> prefetch);

  // AttentionBackward.cpp
  struct BackwardRows {
    Val sample, head, headInGroup, firstKey; // of the chunk
    Rows outputGradients, queries, keys, values, outputs, dq;
  };
  void emitQueryHead(Val sample, Val kvHead, Val headInGroup, Val firstKey);
  void prefetchBackward(const BackwardRows &rows, Val row);
  Address statistic(int64_t which, const BackwardRows &rows, Val rowInBlock, Val row);
  void rowStatistics(Val firstRow, const BackwardRows &rows);
  void backwardRows(Val firstRow, const BackwardRows &rows);
  Val productWeight(Val lanes, Val mask);
  void storeWeights(Val rowInBlock, Val key, ValRange weights, ValRange gradients, ValRange masks);
  void sumKeys(Val firstRow, const BackwardRows &rows);
  void sumQueries(Val firstRow, Val firstKey, int64_t left, int64_t right, int64_t sums);
  void mergeGroup(Val headInGroup, int64_t sums, Val factor, int64_t pending);
  void storeSums(Rows to, Val firstKey, int64_t sums, Val factor, int64_t pending);
  Val inChunk(Val keys) { return spec.inChunks() ? b.imin(keys, b.i64(spec.keyChunk)) : keys; } // no more of them
  Address pendingSums(int64_t pending, Val level);

  KernelBuilder &b;
  EmitPolicy policy;
  const AttentionSpec &spec;
  AttentionShape::Layout at;
};

} // namespace recipe::codegen
#endif
