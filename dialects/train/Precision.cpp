// The precision class of each op, and what activations take in bf16.
#include "dialects/train/Shapes.h"

using namespace mlir;
using namespace recipe::train;

#define PRECISION(op, cls)                                                                                             \
  PrecisionClass op::getPrecisionClass() { return PrecisionClass::cls; }

PRECISION(ContractOp, Matmul)
PRECISION(AttentionOp, Attention)
PRECISION(AttentionGradOp, Attention)
PRECISION(EmbeddingOp, Embedding)
PRECISION(EmbeddingGradOp, Embedding)
PRECISION(AddOp, Elementwise)
PRECISION(BiasAddOp, Elementwise)
PRECISION(BiasGradOp, Elementwise)
PRECISION(GeluOp, Elementwise)
PRECISION(GeluGradOp, Elementwise)
PRECISION(SwigluOp, Elementwise)
PRECISION(SwigluGradOp, Elementwise)
PRECISION(DropoutOp, Elementwise)
PRECISION(RopeOp, Elementwise)
PRECISION(LayerNormOp, Norm)
PRECISION(LayerNormGradOp, Norm)
PRECISION(RmsNormOp, Norm)
PRECISION(RmsNormGradOp, Norm)
PRECISION(LinearCrossEntropyOp, Loss)
PRECISION(LinearCrossEntropyGradOp, Loss)
PRECISION(StepLossOp, Loss)
PRECISION(EvalLossOp, Loss)
PRECISION(RopeTableOp, Table)
PRECISION(TreeMergeOp, Optimizer)
PRECISION(PositionSumOp, Optimizer)
PRECISION(GradNormOp, Optimizer)
PRECISION(AdamwOp, Optimizer)
PRECISION(CastOp, Structural)
PRECISION(FillOp, Structural)
PRECISION(InitNormalOp, Structural)
PRECISION(ScheduleOp, Structural)
#undef PRECISION

// What went into an activation is kept for backward, where it is as large as anything: forward and backward compute in
// f32 from the same rounded values.
SmallVector<OpOperand *> GeluOp::getBF16Operands() { return {&getXMutable()}; }
SmallVector<OpOperand *> GeluGradOp::getBF16Operands() { return {&getXMutable()}; }
SmallVector<OpOperand *> SwigluOp::getBF16Operands() { return {&getGateMutable(), &getUpMutable()}; }
SmallVector<OpOperand *> SwigluGradOp::getBF16Operands() { return {&getGateMutable(), &getUpMutable()}; }

// As for train.contract: no pair of terms of the weight's gradient may lie in two samples. Evaluation rounds what
// training rounds.
static bool hasEvenPositions(Value x) { return shapeOf(x)[1] % 2 == 0; }
SmallVector<OpOperand *> LinearCrossEntropyOp::getBF16Operands() {
  return hasEvenPositions(getX()) ? SmallVector<OpOperand *>{&getXMutable(), &getWeightMutable()}
                                  : SmallVector<OpOperand *>();
}
SmallVector<OpOperand *> LinearCrossEntropyGradOp::getBF16Operands() {
  return hasEvenPositions(getX()) ? SmallVector<OpOperand *>{&getXMutable(), &getWeightMutable()}
                                  : SmallVector<OpOperand *>();
}
