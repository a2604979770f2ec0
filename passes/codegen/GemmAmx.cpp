#include "passes/codegen/GemmAmx.h"
#include "passes/codegen/KernelFamily.h"
#include "passes/codegen/Spec.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace recipe::codegen {

// 32 rows at a time, then those that are left.
void GemmAmxEmitter::forRows(function_ref<void(int64_t, Val)> body) {
  Val whole = b.idiv(block.rows, kExtent);
  if (spec.m >= kExtent)
    b.forLoop(b.i64(0), whole, b.i64(1), [&](Val index) { body(kExtent, index); });
  if (int64_t rest = spec.m % kExtent)
    b.ifThen(b.ilt(b.imul(whole, kExtent), block.rows), [&] { body(rest, whole); });
}

void GemmAmxEmitter::forPanels(function_ref<void(int64_t, Val)> body) {
  Val whole = b.idiv(block.columns, kExtent);
  if (spec.n >= kExtent)
    b.forLoop(b.i64(0), whole, b.i64(1), [&](Val panel) { body(kExtent, panel); });
  if (int64_t rest = spec.n % kExtent)
    b.ifThen(b.ilt(b.imul(whole, kExtent), block.columns), [&] { body(rest, whole); });
}

// All registers as 16 rows of 64 bytes.
void GemmAmxEmitter::configure() {
  Function *function = b.ir().GetInsertBlock()->getParent();
  uint8_t shapes[64] = {1}; // palette
  for (int tile = 0; tile < 8; ++tile)
    shapes[16 + 2 * tile] = 4 * kSide, shapes[48 + tile] = kSide;
  auto *data = ConstantDataArray::get(b.ir().getContext(), ArrayRef<uint8_t>(shapes));
  auto *global = new GlobalVariable(*function->getParent(), data->getType(), /*isConstant=*/true,
                                    GlobalValue::PrivateLinkage, data, function->getName() + ".tiles");
  global->setAlignment(Align(64));
  b.ir().CreateIntrinsic(Intrinsic::x86_ldtilecfg, {}, {global});
}

void GemmAmxEmitter::emit() {
  int64_t blocksDown = (spec.m + spec.blockRows - 1) / spec.blockRows;
  if (spec.accumulator)
    b.mayAlias(spec.accumulatorBuffer(), spec.resultBuffer());
  block.row = b.imul(b.irem(b.workgroup(), blocksDown), spec.blockRows);
  block.column = b.imul(b.idiv(b.workgroup(), blocksDown), spec.blockColumns);
  block.rows = b.imin(b.i64(spec.blockRows), b.isub(b.i64(spec.m), block.row));
  block.columns = b.imin(b.i64(spec.blockColumns), b.isub(b.i64(spec.n), block.column));

  configure();
  b.forLoop(0, int64_t(spec.steps.groups.size()) - 1, 1, [&](Val group) { emitGroup(group); });
  // A thread without tiles in use is cheaper to switch.
  b.ir().CreateIntrinsic(Intrinsic::x86_tilerelease, ArrayRef<Value *>());
}

void GemmAmxEmitter::emitGroup(Val group) {
  Val next = b.iadd(group, 1);
  Val firstStep = table.groupBegin(group), endStep = table.groupBegin(next);
  auto forPacks = [&](function_ref<void(Val)> body) {
    b.forLoop(table.packGroupBegin(group), table.packGroupBegin(next), b.i64(1), body);
  };
  forPacks([&](Val pack) { packRhs(pack); });
  forRows([&](int64_t rows, Val index) {
    Val row = b.iadd(block.row, b.imul(index, kExtent));
    forPacks([&](Val pack) { packLhs(pack, row, rows); });
    auto runStep = [&](Val step) {
      forPanels([&](int64_t columns, Val panel) {
        Val column = b.iadd(block.column, b.imul(panel, kExtent));
        emitTile({rows, columns, index, row, column, panel}, step);
      });
    };
    if (spec.steps.oneStepEach())
      runStep(firstStep);
    else
      b.forLoop(firstStep, endStep, b.i64(1), runStep);
  });
}

static Error emitGemmAmx(KernelBuilder &builder, mlir::DictionaryAttr attributes, mlir::Region &) {
  if (!builder.getTarget().tilesBF16)
    return createStringError("kernels of family gemm_amx need a target with AMX, got " + builder.getTarget().cpu);
  GemmSpec spec(attributes);
  int64_t stage = specInt(attributes, "stage");
  auto fused = attributes.getAs<mlir::DictionaryAttr>("epilogue");
  if (!fused) {
    GemmAmxEmitter(builder, spec, stage, nullptr).emit();
    return Error::success();
  }
  auto firstScalar = unsigned(specInt(fused, "first_scalar"));
  Expected<LaneProgram> program = LaneProgram::read(builder, fused, spec.epilogueBuffer(), firstScalar);
  if (!program)
    return program.takeError();
  GemmAmxEmitter(builder, spec, stage, &*program).emit();
  return Error::success();
}

static constexpr NamedEmitRule kFamilies[] = {{"gemm_amx", emitGemmAmx}};
ArrayRef<NamedEmitRule> gemmAmxFamilies() { return kFamilies; }

} // namespace recipe::codegen
