// Launches of attention and its gradient: one workgroup for each (sample, query head) or (sample, kv head).
#include "mlir/IR/Builders.h"
#include "passes/AttentionAmxShape.h"
#include "passes/AttentionShape.h"
#include "passes/select/KernelRule.h"

using namespace mlir;

namespace recipe::select {

// Family, scratch and what else the kernel needs.
static void planLanes(Launch &launch, AttentionShape shape, const step::TargetInfo &target, Builder &b) {
  shape.chooseTile(target);
  launch.family = "attention";
  launch.spec.push_back(b.getNamedAttr("pairs", b.getI64IntegerAttr(shape.pairs)));
  launch.spec.push_back(b.getNamedAttr("tile_rows", b.getI64IntegerAttr(shape.tileRows)));
  launch.spec.push_back(b.getNamedAttr("tile_vectors", b.getI64IntegerAttr(shape.tileVectors)));
  launch.spec.push_back(b.getNamedAttr("key_chunk", b.getI64IntegerAttr(shape.keyChunk)));
  launch.scratchBytes = shape.scratchBytes();
}

static void planAmx(Launch &launch, const AttentionShape &shape) {
  launch.family = "attention_amx";
  launch.scratchBytes =
      AttentionAmxShape{shape.samples, shape.positions, shape.heads, shape.kvHeads, shape.size, shape.backward}
          .layout()
          .total;
}

template <class Op>
static LogicalResult planAttention(Op op, const step::TargetInfo &target, bool backward, KernelPlan &plan) {
  ArrayRef<int64_t> q = cast<RankedTensorType>(op.getQ().getType()).getShape();
  AttentionShape shape{};
  shape.samples = q[0], shape.positions = q[1], shape.heads = op.getHeads(), shape.kvHeads = op.getKvHeads();
  shape.size = q[2] / shape.heads;
  shape.dropout = op.getDropout().convertToDouble() != 0, shape.backward = backward;
  bool bf16 = cast<RankedTensorType>(op.getQ().getType()).getElementType().isBF16();
  shape.pairs = bf16 && target.dotsBF16;

  Builder b(op.getContext());
  Launch launch;
  auto set = [&](StringRef name, int64_t value) {
    launch.spec.push_back(b.getNamedAttr(name, b.getI64IntegerAttr(value)));
  };
  set("samples", shape.samples), set("positions", shape.positions), set("heads", shape.heads);
  set("kv_heads", shape.kvHeads), set("size", shape.size), set("backward", backward), set("bf16", bf16);
  launch.spec.push_back(b.getNamedAttr("scale", op.getScaleAttr()));
  launch.spec.push_back(b.getNamedAttr("dropout", op.getDropoutAttr()));
  if (op.getBf16Order() != train::BF16Order::Blocks)
    planLanes(launch, shape, target, b);
  else if (target.tilesBF16)
    planAmx(launch, shape);
  else
    return op.emitOpError("bf16 terms in blocks need a target with AMX, got: ") << target.cpu;
  // The draw's id is a launch constant, so that layers share one kernel.
  if (shape.dropout)
    launch.scalars.push_back(op.getDropoutId());
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    launch.arguments.push_back({step::ArgumentKind::Operand, i});
  // What an epilogue may take over is the last argument.
  for (unsigned i = 0, count = op->getNumResults(); i < count; ++i)
    launch.arguments.push_back({step::ArgumentKind::Result, backward ? i : (i + 1) % count});
  launch.workgroups = shape.samples * (backward ? shape.kvHeads : shape.heads);
  launch.flops = int64_t(op.getFlops()), launch.bytes = int64_t(op.getBytes());
  plan.launches.push_back(std::move(launch));
  return success();
}

static LogicalResult attention(Operation *op, const step::TargetInfo &target, KernelPlan &plan) {
  return planAttention(cast<train::AttentionOp>(op), target, false, plan);
}
static LogicalResult attentionGrad(Operation *op, const step::TargetInfo &target, KernelPlan &plan) {
  return planAttention(cast<train::AttentionGradOp>(op), target, true, plan);
}

ArrayRef<NamedKernelRule> attentionRules() {
  static const NamedKernelRule rules[] = {{"train.attention", attention}, {"train.attention_grad", attentionGrad}};
  return rules;
}

} // namespace recipe::select
