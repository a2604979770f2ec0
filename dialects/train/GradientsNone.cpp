// Ops without a derivative by meaning: leaves, backward ops, and what happens after the gradient. Casts are put in when
// gradients are there already.
#include "dialects/train/Train.h"

using namespace mlir;
using namespace recipe::train;

static LogicalResult noGradient(Operation *op) { return op->emitOpError("has no gradient"); }

#define RECIPE_NO_GRADIENT(OpTy)                                                                                       \
  bool OpTy::hasGradient() { return false; }                                                                           \
  LogicalResult OpTy::buildGradient(OpBuilder &, ValueRange, GradientContext &, SmallVectorImpl<Value> &) {            \
    return noGradient(*this);                                                                                          \
  }

RECIPE_NO_GRADIENT(EmbeddingGradOp)
RECIPE_NO_GRADIENT(BiasGradOp)
RECIPE_NO_GRADIENT(LayerNormGradOp)
RECIPE_NO_GRADIENT(RmsNormGradOp)
RECIPE_NO_GRADIENT(RopeTableOp)
RECIPE_NO_GRADIENT(AttentionGradOp)
RECIPE_NO_GRADIENT(GeluGradOp)
RECIPE_NO_GRADIENT(SwigluGradOp)
RECIPE_NO_GRADIENT(LinearCrossEntropyGradOp)
RECIPE_NO_GRADIENT(CastOp)
RECIPE_NO_GRADIENT(FillOp)
RECIPE_NO_GRADIENT(InitNormalOp)
RECIPE_NO_GRADIENT(TreeMergeOp)
RECIPE_NO_GRADIENT(PositionSumOp)
RECIPE_NO_GRADIENT(StepLossOp)
RECIPE_NO_GRADIENT(EvalLossOp)
RECIPE_NO_GRADIENT(GradNormOp)
RECIPE_NO_GRADIENT(AdamwOp)
RECIPE_NO_GRADIENT(ScheduleOp)

#undef RECIPE_NO_GRADIENT
