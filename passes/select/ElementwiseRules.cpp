// Elementwise ops: one launch over all elements, by rows where an operand has one value per channel.
#include "mlir/IR/Builders.h"
#include "passes/select/LaneProgram.h"
#include "passes/select/LaunchCost.h"
#include "runtime/abi/AllReduceSchedule.h"

using namespace mlir;

namespace recipe::select {
namespace {

// 64 KiB of each operand: enough work to hide the cost of handing out a workgroup.
constexpr int64_t kGrain = 16384;

int64_t elementsOf(Value value) { return cast<RankedTensorType>(value.getType()).getNumElements(); }

// All elementwise ops of the region that `op` lies in.
LogicalResult elementwiseRule(Operation *op, const step::TargetInfo &, KernelPlan &plan) {
  Builder builder(op->getContext());
  LaneProgram program = laneProgramOf(*op->getBlock(), /*anchor=*/nullptr);
  Launch launch;
  launch.family = "elementwise";
  if (program.channels) {
    int64_t rows = program.elements / program.channels, rowsPerGroup = std::max<int64_t>(1, kGrain / program.channels);
    launch.scalars = {rows, program.channels, rowsPerGroup};
    launch.workgroups = llvm::divideCeil(rows, rowsPerGroup);
  } else {
    launch.scalars = {program.elements};
    launch.workgroups = llvm::divideCeil(program.elements, kGrain);
    launch.spec.push_back(builder.getNamedAttr("grain", builder.getI64IntegerAttr(kGrain)));
  }
  launch.scalars.append(program.scalars);
  launch.spec.append(program.spec);
  launch.arguments.append(program.inputs);
  launch.arguments.append(program.results);
  launch.flops = program.flops;
  launch.bytes = program.bytes;
  plan.inPlace = std::move(program.inPlace);
  plan.launches.push_back(std::move(launch));
  return success();
}

LogicalResult treeMergeRule(Operation *op, const step::TargetInfo &, KernelPlan &plan) {
  auto merge = cast<train::TreeMergeOp>(op);
  Builder builder(op->getContext());
  int64_t elements = elementsOf(merge.getValue());
  int64_t levels = cast<RankedTensorType>(merge.getPending().getType()).getShape()[0];
  Launch launch;
  launch.family = "tree_merge";
  launch.spec = {builder.getNamedAttr("grain", builder.getI64IntegerAttr(kGrain)),
                 builder.getNamedAttr("levels", builder.getI64IntegerAttr(levels))};
  launch.arguments = {{step::ArgumentKind::Operand, 0}, {step::ArgumentKind::Result, 0}};
  for (auto kind : {step::ArgumentKind::Operand, step::ArgumentKind::Result})
    for (int64_t level = 0; level < levels; ++level)
      launch.arguments.push_back({kind, 1, level * elements * 4});
  launch.scalars = {elements};
  launch.workgroups = llvm::divideCeil(elements, kGrain);
  addCost(launch, op);
  plan.inPlace = {{0, 0}, {1, 1}};
  plan.launches.push_back(std::move(launch));
  return success();
}

} // namespace

SmallVector<NamedAttribute> combineSpec(MLIRContext *context) {
  Builder builder(context);
  return {builder.getNamedAttr("grain", builder.getI64IntegerAttr(abi::kCombineWorkgroupElements))};
}

ArrayRef<NamedKernelRule> elementwiseRules() {
  static constexpr NamedKernelRule rules[] = {
      {"train.add", elementwiseRule},         {"train.bias_add", elementwiseRule},
      {"train.cast", elementwiseRule},        {"train.gelu", elementwiseRule},
      {"train.gelu_grad", elementwiseRule},   {"train.swiglu", elementwiseRule},
      {"train.swiglu_grad", elementwiseRule}, {"train.dropout", elementwiseRule},
      {"train.fill", elementwiseRule},        {"train.adamw", elementwiseRule},
      {"train.init_normal", elementwiseRule}, {"train.tree_merge", treeMergeRule},
  };
  return rules;
}

} // namespace recipe::select
