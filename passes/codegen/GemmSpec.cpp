// The specification of a gemm kernel, and its steps as tables.
#include "passes/codegen/Gemm.h"
#include "passes/codegen/Spec.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace recipe::codegen {

GemmSpec::GemmSpec(mlir::DictionaryAttr spec)
    : form(GemmForm(specInt(spec, "form"))), operands(GemmOperands(specInt(spec, "operands"))), m(specInt(spec, "m")),
      n(specInt(spec, "n")), k(specInts(spec, "k")), accumulator(specInt(spec, "accumulator") != 0),
      blockRows(specInts(spec, "block")[0]), blockColumns(specInts(spec, "block")[1]),
      tileRows(specInts(spec, "tile")[0]), tileVectors(specInts(spec, "tile")[1]), kBlock(specInt(spec, "k_block")),
      packsRhs(specInt(spec, "packs_rhs") != 0), packsLhs(specInt(spec, "packs_lhs") != 0),
      lhsByTile(specInt(spec, "lhs_by_tile") != 0), panelTurns(specInt(spec, "panel_turns") != 0),
      subtrees(specInt(spec, "subtrees")), lhsRowStride(spec.contains("lhs_stride") ? specInt(spec, "lhs_stride") : 0),
      resultRowStride(spec.contains("result_stride") ? specInt(spec, "result_stride") : 0),
      packedA(specInts(spec, "scratch")[0]), pending(specInts(spec, "scratch")[1]),
      steps(specInts(spec, "segments"), int64_t(k.size()), kBlock, accumulator, operands,
            areTiles(operands) ? specInt(spec, "sample") : 0, subtrees),
      epilogueInputs(0) {
  if (auto epilogue = spec.getAs<mlir::DictionaryAttr>("epilogue"))
    epilogueInputs = int64_t(specInts(epilogue, "inputs").size());
}

Val GemmStepTable::field(ArrayRef<GemmStep> steps, Val index, int64_t GemmStep::*member) {
  SmallVector<int64_t> column;
  for (const GemmStep &each : steps)
    column.push_back(each.*member);
  return lookUp(index, column);
}

Val GemmStepTable::field(Val step, int64_t GemmStep::*member) { return field(spec.steps.steps, step, member); }
Val GemmStepTable::packField(Val pack, int64_t GemmStep::*member) { return field(spec.steps.packs, pack, member); }
Val GemmStepTable::packGroupBegin(Val group) {
  return spec.steps.packs.size() + 1 == spec.steps.packGroups.size() ? group : lookUp(group, spec.steps.packGroups);
}

Val GemmStepTable::groupBegin(Val group) { return spec.steps.oneStepEach() ? group : lookUp(group, spec.steps.groups); }

Val GemmStepTable::subtreeBegin(Val subtree) { return lookUp(subtree, spec.steps.subtreeGroups); }

Val GemmStepTable::lhsStride(Val pair) {
  if (spec.lhsRowStride)
    return b.i64(spec.lhsRowStride);
  return spec.form == GemmForm::TN ? b.i64(spec.m) : lookUp(pair, spec.k);
}
Val GemmStepTable::rhsStride(Val pair) { return spec.form == GemmForm::NT ? lookUp(pair, spec.k) : b.i64(spec.n); }

Val GemmStepTable::lookUp(Val index, ArrayRef<int64_t> column) {
  if (auto *known = dyn_cast<ConstantInt>(index))
    return b.i64(column[size_t(known->getSExtValue())]);
  if (all_equal(column))
    return b.i64(column.front());
  auto *found = find_if(tables, [&](auto &each) { return ArrayRef<int64_t>(each.first) == column; });
  if (found == tables.end()) {
    Function *function = b.ir().GetInsertBlock()->getParent();
    auto *data = ConstantDataArray::get(
        b.ir().getContext(), ArrayRef<uint64_t>(reinterpret_cast<const uint64_t *>(column.data()), column.size()));
    auto *global = new GlobalVariable(*function->getParent(), data->getType(), /*isConstant=*/true,
                                      GlobalValue::PrivateLinkage, data, function->getName() + ".steps");
    global->setAlignment(Align(8));
    tables.push_back({SmallVector<int64_t>(column), global});
    found = &tables.back();
  }
  auto *load =
      b.ir().CreateAlignedLoad(b.i64Type(), b.ir().CreateInBoundsGEP(b.i64Type(), found->second, index), Align(8));
  load->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(b.ir().getContext(), {}));
  return load;
}

} // namespace recipe::codegen
