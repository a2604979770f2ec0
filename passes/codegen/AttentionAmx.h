// The attention_amx family: attention of bf16 operands in blocks of 32 terms (docs/numerics.md), by the tiles of AMX.
//
// Products give 32 x 32 values at a time. Each chain is one place of a value tile, which goes on block by block and
// rests in scratch between chunks. A block that the diagonal cuts is multiplied whole, masked weights being +0.0.
// Left operands lie as tiles [16 rows][32 terms], right ones as [16 pairs of terms][16 columns][2 terms].
#ifndef PASSES_CODEGEN_ATTENTIONAMX_H
#define PASSES_CODEGEN_ATTENTIONAMX_H

#include "passes/AttentionAmxShape.h"
#include "passes/codegen/Amx.h"
#include "passes/codegen/Attention.h"

namespace recipe::codegen {

struct AttentionAmxSpec : AttentionAmxShape {
  double scale, dropoutProbability;
  explicit AttentionAmxSpec(mlir::DictionaryAttr spec);
};

class AttentionAmxEmitter {
public:
  AttentionAmxEmitter(KernelBuilder &builder, const AttentionAmxSpec &spec)
      : b(builder), tiles(builder), policy(builder), spec(spec), at(spec.layout()) {}
  // `epilogue` takes the output; null: it is stored as it is.
  void emitForward(const LaneProgram *epilogue);
  void emitBackward();

private:
  using Rows = AttentionRows;
  Rows rowsOf(unsigned buffer, Val sample, Val head, int64_t heads, bool bf16) {
    return Rows::of(b, spec.positions, spec.size, buffer, sample, head, heads, bf16);
  }
  Address part(int64_t offset) { return b.scratch(offset); }
  // Tile (row, column) of a matrix of tiles with `columns` in a row.
  Address tileIn(Address matrix, Val row, int64_t columns, Val column);
  Address tileAt(int64_t offset, Val row, int64_t columns, Val column) {
    return tileIn(part(offset), row, columns, column);
  }

  // AttentionAmxPack.cpp. Rows beyond T and channels beyond E are zero.
  bool allRowsExist() const { return spec.positions % AttentionAmxShape::kTerms == 0; }
  Val rowWords(Rows from, Val row, int64_t sizeBlock);           // 32 channels as 16 words
  void packRows(Rows from, Val firstRow, Address to);            // 32 rows: [2][size blocks] left tiles
  void packColumns(Rows from, Val firstRow, Address to);         // 32 rows: [2][size blocks] right tiles
  void packPairs(Rows from, Val firstRow, Address to);           // 32 rows: [size tiles] right tiles
  void packChannels(Address pairs, Address to, int64_t columns); // those: [size tiles][columns] left tiles
  void prefetchRows(Rows from, Val firstRow);                    // 32 of them

  // AttentionAmxForward.cpp
  struct ForwardRows {
    Val sample, head, firstRow, block;
    Address maxOut, sumOut; // of row 0
  };
  void scoreBlock(Val block);
  void rowMaxima(const ForwardRows &rows);
  void softmax(const ForwardRows &rows, llvm::function_ref<void(Val row)> prefetch);
  void outputs(Val block);
  Val scoreLanes(Val row, Val key);
  Address weightsAt(Val row, Val key);

  // AttentionAmxBackward.cpp
  struct BackwardRows {
    Rows gradients, queries, keys, values, outputs;
    Val rowBase; // of the statistics
  };
  void emitQueryHead(Val sample, Val kvHead, Val headInGroup);
  void packHead(const BackwardRows &rows);
  void packChunk(const BackwardRows &rows, Val firstKey, Val endKey);
  void rowStatistics(const BackwardRows &rows);
  void chunkPair(Val sample, Val head, Val firstKey, Val endKey, Val firstQuery);
  void scoresOf(Val keyInChunk, Val query);
  void weightsOf(Val sample, Val head, Val key, Val keyInChunk, Val query, Val queryInChunk, bool diagonal);
  void sumQueries(Val keyInChunk, Val firstQuery, Val first, Val end, int64_t left, int64_t right, int64_t sums);
  void sumKeys(Val query, Val keys);
  void storeQueryGradients(Rows to);
  void finishKeys(Val headInGroup, Val firstKey, Val endKey, Rows to, int64_t sums, bool scaled, int64_t pending);
  void storeMerged(Rows to, int64_t pending);
  void storeRow(Rows to, Val row, Val column, Val value);
  train::Words<EmitPolicy> drawKey(Val sample, Val head, Val firstRow, Val key);
  Val kept(Val word); // <16 x i1>

  KernelBuilder &b;
  AmxTiles tiles;
  EmitPolicy policy;
  const AttentionAmxSpec &spec;
  AttentionAmxShape::Layout at;
};

} // namespace recipe::codegen
#endif
