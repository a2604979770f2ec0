// The gemm_amx family: sums of products of bf16, or of f32 as three bf16 parts, in blocks of 32 terms
// (docs/numerics.md), by the tiles of AMX.
//
// A workgroup computes one block of C. For each group of steps it packs the block's columns of the right operand; then,
// for 32 rows of C at a time, those rows of the left operand, and for each step runs over the columns, 32 at a time:
// 32 x 32 values in four tile registers, to which four instructions add a block of terms. Between steps, and for the
// tree of segments, they go to scratch as for the gemm family, tile by tile.
//   left, packed:   [block of terms][part][16 rows][row][16 words]
//   right, packed:  [32 columns][block of terms][part][16 columns][word][column]
//   values:         [16 rows][16 columns][row][column]
// A word holds two terms, of bf16 the neighbours 2 i and 2 i + 1 of a block, of parts i and i + 16.
#ifndef PASSES_CODEGEN_GEMMAMX_H
#define PASSES_CODEGEN_GEMMAMX_H

#include "passes/codegen/Gemm.h"
#include "passes/codegen/LaneProgram.h"

namespace recipe::codegen {

class GemmAmxEmitter {
public:
  // `stage`: bytes before the scratch for the values of four tiles. `epilogue` stores what is finished; null: as it is.
  GemmAmxEmitter(KernelBuilder &builder, const GemmSpec &spec, int64_t stage, const LaneProgram *epilogue)
      : b(builder), spec(spec), table(builder, spec), stage(stage), epilogue(epilogue) {}
  void emit();

private:
  static constexpr int64_t kSide = 16;            // of a tile register, in rows and in words
  static constexpr int64_t kTileBytes = 1024;     // of a register
  static constexpr int64_t kTerms = 32;           // of a block
  static constexpr int64_t kPartBytes = 2 * 1024; // of a part of a block of terms of 32 rows or columns
  static constexpr int64_t kExtent = 2 * kSide;   // rows and columns of the values in registers

  // Values in registers.
  struct Tile {
    int64_t rows, columns; // that exist
    Val index;             // of the rows in the block, in steps of 32
    Val row, column;       // in C, of its first element
    Val panel;             // of the columns in the block, in steps of 32
    bool isWhole() const { return rows == kExtent && columns == kExtent; }
  };

  void emitGroup(Val group);
  void forRows(llvm::function_ref<void(int64_t rows, Val index)> body);
  void forPanels(llvm::function_ref<void(int64_t columns, Val panel)> body);
  void configure();

  // GemmAmxPack.cpp
  // Blocks of a pack, whole ones and perhaps a short one.
  void forBlocks(Val length, llvm::function_ref<void(Val block, bool isShort)> body);
  void packRhs(Val pack);
  void packRhsRows(Address rhs, Val length, Val stride, Address packed);
  void packRhsColumns(Address rhs, Val length, Val stride, Address packed);
  void packLhs(Val pack, Val row, int64_t rows);
  void packLhsRows(Address lhs, Val length, Val stride, Val row, Address packed);
  void packLhsColumns(Address lhs, Val length, int64_t rows, Address packed);
  Val termOfRows(Address from, Val stride, int64_t term, Val mask, Val terms);
  Vals wordsOfRows(Address from, Val stride, Val mask, Val terms);
  Val termsOfRow(Address from, int64_t first, Val terms);
  Vals wordsOfRow(Address from, Val terms);
  Vals wordsOfParts(Val low, Val high);
  void storeParts(Address to, ValRange words);
  void storeTransposed(Address to, llvm::MutableArrayRef<Val> low, llvm::MutableArrayRef<Val> high);
  bool isSplit() const { return spec.operands == GemmOperands::Split; }
  llvm::Type *elementType() { return isSplit() ? b.f32Type() : b.ir().getInt16Ty(); }
  // The two terms in a word of a block.
  int64_t lowTerm(int64_t word) const { return isSplit() ? word : 2 * word; }
  int64_t highTerm(int64_t word) const { return isSplit() ? word + kSide : 2 * word + 1; }
  int64_t blockBytes() const { return gemmAmxBlockBytes(spec.operands); }
  int64_t panelBytes() const { return gemmAmxPanelBytes(spec.operands, spec.kBlock); }

  // GemmAmxTile.cpp
  void emitTile(const Tile &tile, Val step);
  void start(const Tile &tile, Val step);
  void startFromAccumulator(const Tile &tile);
  void addBlocks(const Tile &tile, Val step);
  void addBlock(Address rows, Address columns);
  void prefetchNext(const Tile &tile, Val k);
  llvm::SmallVector<std::pair<Address, Val>> lhsAhead(const Tile &tile, Val step);
  void finish(const Tile &tile, Val step);
  void end(const Tile &tile, const GemmStepEnd &end);
  void storeRow(const Tile &tile, Val row, ValRange values);
  Vals masksOf(const Tile &tile);
  Address levelAt(const Tile &tile, int64_t level);
  // Row `row` of the values in memory, its 16 columns `half`.
  Address placeOf(Address values, Val row, int64_t half);
  void load(int number, Address from, Val stride);
  void loadValues(Address from);
  void storeValues(Address to);
  Address result(const Tile &tile);

  Address operand(unsigned firstBuffer, Val pair) { return b.bufferAt(firstBuffer, pair); }

  KernelBuilder &b;
  const GemmSpec &spec;
  GemmStepTable table;
  int64_t stage;
  const LaneProgram *epilogue;
  GemmBlock block;
};

} // namespace recipe::codegen
#endif
