// The attention families: packing, register tiles and row work that forward and backward share.
//
// Every chain of docs/numerics.md ("attention") is one register lane: scores chain over e with keys in the lanes,
// outputs and dq chain over keys with e in the lanes, dk and dv chain over queries with e in the lanes and rest in
// scratch between query blocks. Keys right of the diagonal never enter a chain: a tile runs its rows together up to the
// first row's diagonal, then each further key only for the rows that see it.
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
  int64_t together() const { return bf16 ? 2 : 1; } // positions or channels
};

// The rows of one head in a [B, T, heads * E] buffer.
struct AttentionRows {
  Address base;          // row 0
  int64_t stride, bytes; // elements between rows; of an element
  static AttentionRows of(KernelBuilder &builder, int64_t positions, int64_t size, unsigned buffer, Val sample,
                          Val head, int64_t heads, bool bf16);
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
  Val loadRow(Rows from, Val row, int64_t e);       // 16 lanes as f32, zeros beyond E
  void packPanel(Rows from, Val panel, int64_t to); // one of [panel of keys][e][key], keys beyond T zero
  // [panel of e][key][e] of `count` keys (fewer at the end), beyond E zero.
  void packRows(Rows from, Val firstKey, int64_t count, int64_t to);
  void packRowTile(Rows from, Val firstRow, int64_t to);  // [tile rows][padded E], beyond E zero
  void packRowBlock(Rows from, Val firstRow, int64_t to); // [block][padded E], beyond T and E zero
  Val tileBegin(Val tile);                                // first row of a forward tile
  Val lanesUpTo(Val last);                                // <16 x i1>: lanes 0..last on
  int64_t scoreUnroll() const { return spec.size % 8 == 0 ? 8 : spec.together(); }
  // [r][v] = chain over k in [lo, hi) of left[r * leftStride + k] * panel[k][v], for `vectors` of the panel's vectors.
  Vals chainRows(Address left, int64_t leftStride, Address panel, int64_t vectors, Val lo, Val hi, int64_t unroll);
  // values[r][v] = chain over i in [lo, hi) of left[i * leftStride + r] * right[i * paddedSize + v], continuing.
  Vals chainColumns(Address left, Address right, Val lo, Val hi, Vals values);
  // Chains over keys up to each row's diagonal of weights * panel, handed to `store` vector by vector: of a tile whose
  // first row is `row`, and of a block's tiles.
  using StoreTileRow = llvm::function_ref<void(int64_t rowInTile, Val column, Val value, Val mask)>;
  void chainTileKeys(Val row, Address weights, int64_t panels, StoreTileRow store);
  using StoreRow = llvm::function_ref<void(Val row, Val column, Val value, Val mask)>;
  void chainKeys(Val firstRow, int64_t weights, int64_t panels, StoreRow store);
  // scores[i][j] = (chain over e) * factor (null: none) for the block's rows against all keys up to its last diagonal.
  void scoreBlock(int64_t rows, int64_t transposed, Val firstRow, int64_t to, Val factor);
  void scoreVectors(Val last, int64_t vectors, llvm::function_ref<void(int64_t vectors)> tile);
  void forBlockRows(Val firstRow, llvm::function_ref<void(Val rowInBlock, Val row)> body);

  // body(j, word, carried) for the keys of a row up to `end`, 16 at a time, with the words of their draws.
  using DrawnBody = llvm::function_ref<Vals(Val j, Val word, ValRange carried)>;
  Vals forDrawnKeys(Val sample, Val head, Val row, Val end, ValRange init, DrawnBody body);
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
    Rows outputGradients, queries, keys, values, outputs, dq;
    void prefetch(AttentionEmitter &emitter, Val row) const;
  };
  void emitQueryHead(Val sample, Val kvHead, Val queryHead);
  void backwardRows(Val sample, Val head, Val firstRow, const BackwardRows &rows);
  Val productWeight(Val lanes, Val mask);
  void sumQueries(Val firstRow, int64_t left, int64_t right, int64_t sums);
  void mergeGroup(Val headInGroup, int64_t sums, Val factor, int64_t pending);
  void storeSums(Rows to, int64_t sums, Val factor, int64_t pending);
  Address pendingSums(int64_t pending, Val level);

  KernelBuilder &b;
  EmitPolicy policy;
  const AttentionSpec &spec;
  AttentionShape::Layout at;
};

} // namespace recipe::codegen
#endif
