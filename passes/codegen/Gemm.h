// The gemm family: sums of matrix products in the canonical order of docs/numerics.md.
//
// A workgroup computes one block of C. For each group of steps (a stretch of K that fits the packing buffers) it packs
// the block's columns of the right operand into panels, unless few tiles use them, and the left operand too where its
// rows are not contiguous in K (form tn) and it is large; then it runs over register tiles. Or, of two packed operands,
// it packs while chains run (GemmPanels.cpp). The vector dimension is N,
// so each element of C has one chain of its own and no blocking shows in the bits: between steps a chain rests in
// scratch, and finished segments until the tree of segments takes them.
#ifndef PASSES_CODEGEN_GEMM_H
#define PASSES_CODEGEN_GEMM_H

#include "mlir/IR/BuiltinAttributes.h"
#include "passes/GemmSteps.h"
#include "passes/codegen/KernelBuilder.h"
#include <functional>

namespace recipe::codegen {

enum class GemmForm : int64_t { NN, NT, TN };

// The specification of a kernel, as its rule wrote it (passes/select/GemmLaunch.cpp), and the steps that follow from
// it.
struct GemmSpec {
  GemmForm form;
  GemmOperands operands;
  int64_t m, n;
  llvm::SmallVector<int64_t> k; // of each pair
  bool accumulator;
  int64_t blockRows, blockColumns; // of C, for each workgroup; multiples of the tile
  int64_t tileRows, tileVectors;   // registers tile: rows x (vectors * 16 lanes)
  int64_t kBlock;                  // most rows packed at once
  bool packsRhs;                   // as panels; else (nn, tn) its rows are read where they are
  bool packsLhs;                   // else it is read where it is
  bool lhsByTile;                  // its rows (nn, nt) are packed a tile at a time
  bool panelTurns;                 // one panel at a time is packed, and passes all tiles
  int64_t subtrees;                // of segments, each with a result of its own, one behind the other
  int64_t lhsRowStride;            // elements between rows of the left operand in memory; 0: as many as a row has
  int64_t resultRowStride;         // the same of C
  int64_t packedA, pending;        // byte offsets in scratch; the panels of B are at 0
  GemmSteps steps;

  explicit GemmSpec(mlir::DictionaryAttr spec);
  int64_t tnStride() const { return lhsRowStride ? lhsRowStride : m; } // of the left operand in form tn
  int64_t resultStride() const { return resultRowStride ? resultRowStride : n; }
  // Of an element.
  int64_t operandBytes() const { return operands == GemmOperands::F32 || operands == GemmOperands::Split ? 4 : 2; }
  int64_t tileColumns() const { return tileVectors * kLanes; }
  int64_t epilogueInputs; // buffers that the epilogue reads; its results take the place of C
  // Buffers: the left operands, the right operands, the accumulator if there is one, what the epilogue reads, the
  // result.
  unsigned rhsBuffer() const { return unsigned(k.size()); }
  unsigned accumulatorBuffer() const { return unsigned(2 * k.size()); }
  unsigned epilogueBuffer() const { return unsigned(2 * k.size()) + accumulator; }
  unsigned resultBuffer() const { return epilogueBuffer() + unsigned(epilogueInputs); }
  // Words of 32 bits between the panels of B and between the tiles of A in scratch; not powers of two, which would
  // share cache sets.
  int64_t panelStride() const { return (kBlock + panelPadding(operands)) * tileColumns(); }
  int64_t packedTileStride() const { return kBlock * tileRows + kLanes; }
  // Form tn packs tiles, else rows of A.
  int64_t packedRowStride() const { return kBlock + kLanes; }
};

// The fields of the steps at run time. What is the same for all steps is a constant, the rest a table.
class GemmStepTable {
public:
  GemmStepTable(KernelBuilder &builder, const GemmSpec &spec) : b(builder), spec(spec) {}
  Val field(Val step, int64_t GemmStep::*member);
  // The first step of a group, or the end of the last.
  Val groupBegin(Val group);
  // The first group of each subtree, or the number of groups.
  Val subtreeBegin(Val subtree);
  // The same of what is packed at once.
  Val packField(Val pack, int64_t GemmStep::*member);
  Val packGroupBegin(Val group);
  Val lhsStride(Val pair); // elements between rows in memory
  Val rhsStride(Val pair);

private:
  Val field(llvm::ArrayRef<GemmStep> steps, Val index, int64_t GemmStep::*member);
  Val lookUp(Val index, llvm::ArrayRef<int64_t> column);
  KernelBuilder &b;
  const GemmSpec &spec;
  llvm::SmallVector<std::pair<llvm::SmallVector<int64_t>, llvm::GlobalVariable *>> tables;
};

// The block of C that a workgroup computes.
struct GemmBlock {
  Val row, column;   // of its first element
  Val rows, columns; // how many
};

class GemmEpilogue;

class GemmEmitter {
public:
  // `epilogue` stores what is finished; null: as it is.
  GemmEmitter(KernelBuilder &builder, const GemmSpec &spec, const GemmEpilogue *epilogue)
      : b(builder), spec(spec), table(builder, spec), epilogue(epilogue) {}
  void emit();

private:
  // Rows of K in a round of the loop over them. A line of what is ahead is asked for by each round that lies in it: by
  // each row, it took 7 % of the time. Cores of 256-bit vectors, which take six instructions a cycle or three beside
  // another thread of the core, pay for each instruction that is not a product.
  int64_t unrolled() const { return hasWideVectors() ? 4 : 8; }
  bool hasWideVectors() const { return b.getTarget().vectorBits >= 512; }
  // Asks for what is read later, while the chains of a step run; one call in each round.
  using Stream = std::function<void(Val k)>;
  // GemmPack.cpp: fill the packing buffers.
  void packRhs(Val pack);
  void packRhsRows(Address rhs, Val length, Val stride, Address packed);
  void packRhsColumns(Address rhs, Val length, Val stride, Address packed);
  void packLhs(Val pack);
  void packLhsTiles(Val pack, Address packed);
  void packTileUnits(Address lhs, Val first, Val end, Val tile, int64_t rows, bool single, Address packed,
                     int64_t unitsAhead);
  void packLhsRows(Val pack, Val firstRow, Val rows); // of the block, to the buffer's first and following
  // Rows of K go into the buffers one by one or, of bf16, in pairs: units. `single`: a last one without its second
  // term.
  using UnitsBody = llvm::function_ref<void(Val first, Val end, bool single)>;
  void forUnits(Val length, UnitsBody body);
  int64_t unitLength() const { return spec.operands == GemmOperands::F32 ? 1 : 2; }
  Val pairUp(Val low, Val high);
  void packUnit(Address from, Val stride, unsigned width, Val mask, bool single, Address to, int64_t toStride);
  // GemmTile.cpp: one register tile through the steps of a group.
  struct Tile {
    int64_t rows, columns; // that exist
    Val index;             // number of the tile in the block, downwards
    Val row, column;       // in C, of its first element
    Val panel;
    bool fillsPanel = false; // takes the right operand from where it is and leaves it in the panel
    Tile filled() const { return {rows, columns, index, row, column, panel}; } // once the panel is
    int64_t vectors() const { return (columns + kLanes - 1) / kLanes; }
  };
  // Where a step reads an operand.
  struct Side {
    Address begin;
    Val kStride;       // words of 32 bits from one row of K to the next
    Val stride;        // elements from row to row (lhs)
    int64_t bytes = 4; // of such an element
  };
  // GemmPanels.cpp
  void emitPanels(Val group);
  bool isOneGroup() const { return spec.steps.groups.size() == 2; }
  Val tilesDown(), panelsAcross(), numberInBlock(const Tile &tile);
  Val nextUnits(Val step);
  Address nextLhs(Val step, Val unit);
  Address lhsHalf(Val step);
  void packShare(const Tile &tile, Val step);
  void addPanelAhead(const Tile &tile, Val step, llvm::SmallVectorImpl<Stream> &streams);
  void addShareAhead(const Tile &tile, Val step, llvm::SmallVectorImpl<Stream> &streams);
  Val columnMask(const Tile &tile, int64_t vector); // null: all columns of the vector exist
  Vals columnMasks(const Tile &tile);
  Val isLast(Val step);
  void emitTile(const Tile &tile, Val firstStep, Val endStep);
  Vals startTile(const Tile &tile, Val step);
  // GemmAhead.cpp
  llvm::SmallVector<Stream> streamsAhead(const Tile &tile, Val step);
  void addLhsAhead(const Tile &tile, Val step, llvm::SmallVectorImpl<Stream> &streams);
  Stream vectorsAhead(const Tile &tile, Val step, Val wanted, std::function<void(Val element)> ask);
  Vals loadRhs(const Tile &tile, const Side &rhs, Address row);
  Vals chainTile(const Tile &tile, Val step, ValRange values);
  Vals chainRows(const Tile &tile, Val step, const Side &left, ValRange values);
  Val multiplyAdd(Val factor, Val rhs, Val chain);
  void endStep(const Tile &tile, const GemmStepEnd &end, ValRange values);
  void finishTile(const Tile &tile, Val step, ValRange values);
  Vals loadAccumulator(const Tile &tile);
  Vals loadLevel(const Tile &tile, int64_t level);
  void storeResult(const Tile &tile, ValRange values);
  Address levelAt(const Tile &tile, int64_t level);
  bool readsOddEnds() const; // of a left operand that is not packed
  Side lhsOf(const Tile &tile, Val step, Val rowStride = nullptr);
  Side rhsOf(const Tile &tile, Val step);
  Address operand(unsigned firstBuffer, Val pair) { return b.bufferAt(firstBuffer, pair); }
  void emitGroup(Val group);
  void forPacks(Val group, llvm::function_ref<void(Val pack)> body);
  void forTiles(llvm::function_ref<void(int64_t rows, Val index)> body);
  void forPanels(llvm::function_ref<void(int64_t columns, Val panel)> body);

  KernelBuilder &b;
  const GemmSpec &spec;
  GemmStepTable table;
  const GemmEpilogue *epilogue;
  GemmBlock block;
  Address result(Val element); // of the block's subtree
  Val subtree = nullptr;       // null: there is one
  Val lhsShare = nullptr;      // units of the next step's left operand that each tile packs
};

} // namespace recipe::codegen
#endif
