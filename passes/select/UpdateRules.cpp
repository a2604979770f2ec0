// Ops of the prologue and the update that work on the step's scalars.
#include "mlir/IR/Builders.h"
#include "passes/select/LaunchCost.h"

using namespace mlir;
using recipe::step::ArgumentKind;

namespace recipe::select {
namespace {

LogicalResult stepLossRule(Operation *op, const step::TargetInfo &, KernelPlan &plan) {
  Launch launch;
  launch.family = "step_loss";
  launch.arguments = {{ArgumentKind::Operand, 0}, {ArgumentKind::Operand, 1}};
  addCost(launch, op);
  plan.launches.push_back(launch);
  return success();
}

LogicalResult evalLossRule(Operation *op, const step::TargetInfo &, KernelPlan &plan) {
  Launch launch;
  launch.family = "eval_loss";
  launch.arguments = {{ArgumentKind::Operand, 0}, {ArgumentKind::Operand, 1}};
  launch.scalars = {cast<RankedTensorType>(op->getOperand(0).getType()).getNumElements()};
  addCost(launch, op);
  plan.launches.push_back(launch);
  return success();
}

LogicalResult scheduleRule(Operation *op, const step::TargetInfo &, KernelPlan &plan) {
  auto schedule = cast<train::ScheduleOp>(op);
  Builder builder(op->getContext());
  Launch launch;
  launch.family = "schedule";
  launch.spec = {builder.getNamedAttr("beta1", schedule.getBeta1Attr()),
                 builder.getNamedAttr("beta2", schedule.getBeta2Attr())};
  addCost(launch, op);
  plan.launches.push_back(launch);
  return success();
}

// Largest magnitude, its bound, sums in bins, the rest (passes/codegen/Update.cpp).
LogicalResult gradNormRule(Operation *op, const step::TargetInfo &, KernelPlan &plan) {
  constexpr int64_t kGrain = 65536; // elements per workgroup: 256 KiB
  auto norm = cast<train::GradNormOp>(op);
  Builder builder(op->getContext());
  SmallVector<int64_t> table = {int64_t(op->getNumOperands())}, sizes;
  SmallVector<Argument> tensors;
  int64_t workgroups = 0, elements = 0;
  for (OpOperand &operand : op->getOpOperands()) {
    int64_t size = cast<RankedTensorType>(operand.get().getType()).getNumElements();
    table.push_back(workgroups);
    sizes.push_back(size);
    tensors.push_back({ArgumentKind::Operand, operand.getOperandNumber()});
    workgroups += llvm::divideCeil(size, kGrain);
    elements += size;
  }
  table.append(sizes);
  plan.temps = {4 * workgroups, 24 * workgroups};
  auto add = [&](StringRef family, int64_t temp, bool overTensors) -> Launch & {
    Launch launch;
    launch.family = family.str();
    launch.arguments = {{ArgumentKind::Temp, temp}};
    if (overTensors) {
      launch.spec = {builder.getNamedAttr("grain", builder.getI64IntegerAttr(kGrain))};
      launch.arguments.append(tensors);
      launch.scalars = table;
      launch.workgroups = workgroups;
      launch.bytes = 4 * elements;
    } else {
      launch.scalars = {workgroups};
      launch.bytes = plan.temps[temp];
    }
    plan.launches.push_back(launch);
    return plan.launches.back();
  };
  add("norm_max", 0, true);
  add("norm_bound", 0, false);
  add("norm_bins", 1, true).flops = 13 * elements;
  add("norm_finish", 1, false).spec = {builder.getNamedAttr("clip", norm.getClipAttr())};
  return success();
}

} // namespace

ArrayRef<NamedKernelRule> updateRules() {
  static constexpr NamedKernelRule rules[] = {{"train.step_loss", stepLossRule},
                                              {"train.eval_loss", evalLossRule},
                                              {"train.schedule", scheduleRule},
                                              {"train.grad_norm", gradNormRule}};
  return rules;
}

} // namespace recipe::select
