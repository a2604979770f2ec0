#include "passes/codegen/GemmEpilogue.h"
#include "passes/codegen/KernelFamily.h"
#include "passes/codegen/Spec.h"

using namespace llvm;

namespace recipe::codegen {

// Whole tiles, then the one that is left of the block's rows.
void GemmEmitter::forTiles(function_ref<void(int64_t, Val)> body) {
  Val whole = b.idiv(block.rows, spec.tileRows);
  if (spec.m >= spec.tileRows)
    b.forLoop(b.i64(0), whole, b.i64(1), [&](Val tile) { body(spec.tileRows, tile); });
  if (int64_t rest = spec.m % spec.tileRows)
    b.ifThen(b.ilt(b.imul(whole, spec.tileRows), block.rows), [&] { body(rest, whole); });
}

// Whole panels, then the one that is left of the block's columns, in as many vectors as it needs.
void GemmEmitter::forPanels(function_ref<void(int64_t, Val)> body) {
  Val whole = b.idiv(block.columns, spec.tileColumns());
  if (spec.n >= spec.tileColumns())
    b.forLoop(b.i64(0), whole, b.i64(1), [&](Val panel) { body(spec.tileColumns(), panel); });
  if (int64_t rest = spec.n % spec.tileColumns())
    b.ifThen(b.ilt(b.imul(whole, spec.tileColumns()), block.columns), [&] { body(rest, whole); });
}

void GemmEmitter::emit() {
  int64_t blocksDown = (spec.m + spec.blockRows - 1) / spec.blockRows;
  if (spec.accumulator)
    b.mayAlias(spec.accumulatorBuffer(), spec.resultBuffer());
  int64_t blocks = blocksDown * ((spec.n + spec.blockColumns - 1) / spec.blockColumns);
  Val number = spec.subtrees == 1 ? b.workgroup() : b.irem(b.workgroup(), blocks);
  block.row = b.imul(b.irem(number, blocksDown), spec.blockRows);
  block.column = b.imul(b.idiv(number, blocksDown), spec.blockColumns);
  block.rows = b.imin(b.i64(spec.blockRows), b.isub(b.i64(spec.m), block.row));
  block.columns = b.imin(b.i64(spec.blockColumns), b.isub(b.i64(spec.n), block.column));

  int64_t groups = int64_t(spec.steps.groups.size()) - 1;
  auto each = [&](Val group) { emitGroup(group); };
  if (spec.subtrees > 1) {
    subtree = b.idiv(b.workgroup(), blocks);
    b.forLoop(table.subtreeBegin(subtree), table.subtreeBegin(b.iadd(subtree, 1)), b.i64(1), each);
  } else if (groups == 1)
    emitGroup(b.i64(0));
  else
    b.forLoop(b.i64(0), b.i64(groups), b.i64(1), each);
}

void GemmEmitter::forPacks(Val group, function_ref<void(Val pack)> body) {
  b.forLoop(table.packGroupBegin(group), table.packGroupBegin(b.iadd(group, 1)), b.i64(1), body);
}

void GemmEmitter::emitGroup(Val group) {
  if (spec.panelTurns)
    return emitPanels(group);
  Val firstStep = table.groupBegin(group), endStep = table.groupBegin(b.iadd(group, 1));
  forPacks(group, [&](Val pack) {
    if (spec.packsRhs)
      packRhs(pack);
    if (spec.packsLhs && !spec.lhsByTile)
      packLhs(pack);
  });
  forTiles([&](int64_t rows, Val index) {
    Val rowInBlock = b.imul(index, spec.tileRows), row = b.iadd(block.row, rowInBlock);
    if (spec.lhsByTile)
      forPacks(group, [&](Val pack) { packLhsRows(pack, rowInBlock, b.i64(rows)); });
    forPanels([&](int64_t columns, Val panel) {
      Val column = b.iadd(block.column, b.imul(panel, spec.tileColumns()));
      emitTile({rows, columns, index, row, column, panel}, firstStep, endStep);
    });
  });
}

static Error emitGemm(KernelBuilder &builder, mlir::DictionaryAttr attributes, mlir::Region &) {
  GemmSpec spec(attributes);
  auto fused = attributes.getAs<mlir::DictionaryAttr>("epilogue");
  if (!fused) {
    GemmEmitter(builder, spec, nullptr).emit();
    return Error::success();
  }
  auto firstScalar = unsigned(specInt(fused, "first_scalar"));
  Expected<LaneProgram> program = LaneProgram::read(builder, fused, spec.epilogueBuffer(), firstScalar);
  if (!program)
    return program.takeError();
  GemmEpilogue epilogue(builder, spec, *program, specInt(attributes, "stage"));
  GemmEmitter(builder, spec, &epilogue).emit();
  return Error::success();
}

static constexpr NamedEmitRule kFamilies[] = {{"gemm", emitGemm}};
ArrayRef<NamedEmitRule> gemmFamilies() { return kFamilies; }

} // namespace recipe::codegen
