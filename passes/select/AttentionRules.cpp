// Launches of attention and its gradient: one workgroup for each (sample, query head) or (sample, kv head).
#include "mlir/IR/Builders.h"
#include "passes/AttentionShape.h"
#include "passes/select/KernelRule.h"

using namespace mlir;

namespace recipe::select {

template <class Op> static void planAttention(Op op, const step::TargetInfo &target, bool backward, KernelPlan &plan) {
  ArrayRef<int64_t> q = cast<RankedTensorType>(op.getQ().getType()).getShape();
  AttentionShape shape{};
  shape.samples = q[0], shape.positions = q[1], shape.heads = op.getHeads(), shape.kvHeads = op.getKvHeads();
  shape.size = q[2] / shape.heads;
  shape.dropout = op.getDropout().convertToDouble() != 0, shape.backward = backward;
  shape.chooseTile(target);

  Builder b(op.getContext());
  Launch launch;
  launch.family = "attention";
  auto set = [&](StringRef name, int64_t value) {
    launch.spec.push_back(b.getNamedAttr(name, b.getI64IntegerAttr(value)));
  };
  set("samples", shape.samples), set("positions", shape.positions), set("heads", shape.heads);
  set("kv_heads", shape.kvHeads), set("size", shape.size), set("backward", backward);
  set("bf16", cast<RankedTensorType>(op.getQ().getType()).getElementType().isBF16());
  set("tile_rows", shape.tileRows), set("tile_vectors", shape.tileVectors);
  launch.spec.push_back(b.getNamedAttr("scale", op.getScaleAttr()));
  launch.spec.push_back(b.getNamedAttr("dropout", op.getDropoutAttr()));
  // The draw's id is a launch constant, so that layers share one kernel.
  if (shape.dropout)
    launch.scalars.push_back(op.getDropoutId());
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    launch.arguments.push_back({step::ArgumentKind::Operand, i});
  // What an epilogue may take over is the last argument.
  for (unsigned i = 0, count = op->getNumResults(); i < count; ++i)
    launch.arguments.push_back({step::ArgumentKind::Result, backward ? i : (i + 1) % count});
  launch.workgroups = shape.samples * (backward ? shape.kvHeads : shape.heads);
  launch.scratchBytes = shape.scratchBytes();
  launch.flops = int64_t(op.getFlops()), launch.bytes = int64_t(op.getBytes());
  plan.launches.push_back(std::move(launch));
}

static LogicalResult attention(Operation *op, const step::TargetInfo &target, KernelPlan &plan) {
  planAttention(cast<train::AttentionOp>(op), target, false, plan);
  return success();
}
static LogicalResult attentionGrad(Operation *op, const step::TargetInfo &target, KernelPlan &plan) {
  planAttention(cast<train::AttentionGradOp>(op), target, true, plan);
  return success();
}

ArrayRef<NamedKernelRule> attentionRules() {
  static const NamedKernelRule rules[] = {{"train.attention", attention}, {"train.attention_grad", attentionGrad}};
  return rules;
}

} // namespace recipe::select
