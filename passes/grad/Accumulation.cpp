#include "passes/grad/Accumulation.h"
#include "dialects/train/Names.h"

using namespace mlir;
using namespace recipe::grad;
using namespace recipe::train;

void recipe::grad::buildSegmentBegin(ModuleOp module, const StepFacts &facts, ArrayRef<VariableOp> sums) {
  if (facts.microbatchesPerLeaf() == 1)
    return;
  OpBuilder builder(module.getContext());
  declareGraph(builder, module, "segment_begin");
  for (VariableOp sum : sums) {
    Value zero = FillOp::create(builder, namedLoc(module.getContext(), "zero " + sum.getSymName()), sum.getType(),
                                builder.getF64FloatAttr(0));
    writeVariable(builder, sum.getSymName(), zero);
  }
}

// [levels, ...]; belongs where the sum belongs, a loss to itself.
static VariableOp declarePending(ModuleOp module, const SymbolTable &symbols, VariableOp sum, int64_t levels) {
  auto type = cast<RankedTensorType>(sum.getType());
  SmallVector<int64_t> shape{levels};
  llvm::append_range(shape, type.getShape());
  Belongs belongs{sum, std::nullopt};
  if (sum.getOf())
    belongs = {symbols.lookup<VariableOp>(*sum.getOf()),
               sum.getUse() ? std::optional<int64_t>(*sum.getUse()) : std::nullopt};
  return declareVariable(module, ("pending:" + sum.getSymName()).str(),
                         RankedTensorType::get(shape, type.getElementType()), Role::Pending, belongs);
}

void recipe::grad::buildSegmentEnd(ModuleOp module, const StepFacts &facts, ArrayRef<VariableOp> sums) {
  if (facts.pendingLevels() == 0)
    return;
  OpBuilder builder(module.getContext());
  declareGraph(builder, module, "segment_end");
  SymbolTable symbols(module);
  for (VariableOp sum : sums) {
    VariableOp pending = declarePending(module, symbols, sum, facts.pendingLevels());
    auto merge = TreeMergeOp::create(builder, namedLoc(module.getContext(), "merge " + sum.getSymName()), sum.getType(),
                                     pending.getType(), readVariable(builder, sum), readVariable(builder, pending));
    writeVariable(builder, sum.getSymName(), merge.getResult());
    writeVariable(builder, pending.getSymName(), merge.getPendingResult());
  }
}
