// The precision class of each op.
#include "dialects/train/Train.h"

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
