// train.contract: one gemm.
#include "passes/select/GemmLaunch.h"

using namespace mlir;

namespace recipe::select {

static LogicalResult contract(Operation *op, const step::TargetInfo &target, KernelPlan &plan) {
  auto contract = cast<train::ContractOp>(op);
  auto elements = [](Value value) { return cast<RankedTensorType>(value.getType()).getNumElements(); };
  GemmShape shape;
  shape.form = contract.getForm();
  shape.n = cast<RankedTensorType>(contract.getResult().getType()).getShape().back();
  shape.m = elements(contract.getResult()) / shape.n;
  for (Value lhs : contract.getLhs())
    shape.k.push_back(elements(lhs) / shape.m);
  shape.segments.assign(contract.getSegments().begin(), contract.getSegments().end());
  shape.accumulator = contract.getAccumulator() != nullptr;
  shape.bf16 = cast<RankedTensorType>(contract.getLhs()[0].getType()).getElementType().isBF16();
  shape.blocks = takesBlocks(contract);
  shape.sample = shape.blocks ? contract.getTermsPerSample().value_or(0) : 0;
  if (failed(checkBlocks(contract, target)))
    return failure();

  Launch launch = gemmLaunch(op->getContext(), shape, target);
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    launch.arguments.push_back({step::ArgumentKind::Operand, i});
  launch.arguments.push_back({step::ArgumentKind::Result, 0});
  if (shape.accumulator)
    plan.inPlace.push_back({0, int64_t(op->getNumOperands()) - 1});
  plan.launches.push_back(std::move(launch));
  return success();
}

ArrayRef<NamedKernelRule> contractRules() {
  static const NamedKernelRule rules[] = {{"train.contract", contract}};
  return rules;
}

} // namespace recipe::select
