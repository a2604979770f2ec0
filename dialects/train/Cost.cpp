// Floating point operations of each op. A multiply-add counts two; a function (exp, log, division, square root) counts
// its polynomial, about ten; causal attention counts unmasked pairs only. And which ops are bound by memory.
#include "dialects/train/Shapes.h"

using namespace mlir;
using namespace recipe::train;

static double elements(Value value) { return double(tensorType(value).getNumElements()); }

double ContractOp::getFlops() {
  double flops = 0;
  for (auto [lhs, rhs] : llvm::zip(getLhs(), getRhs())) {
    ArrayRef<int64_t> left = shapeOf(lhs);
    double k = getForm() == ContractForm::TN ? double(leadingSize(left)) : double(left.back());
    flops += 2 * elements(getResult()) * k;
  }
  return flops;
}

// Unmasked (query, key) pairs of all samples and query heads.
static double attentionPairs(ArrayRef<int64_t> q, int64_t heads) {
  return double(q[0]) * double(heads) * double(q[1]) * double(q[1] + 1) / 2;
}

double AttentionOp::getFlops() {
  ArrayRef<int64_t> q = shapeOf(getQ());
  int64_t headDim = q[2] / int64_t(getHeads());
  return attentionPairs(q, getHeads()) * (4.0 * double(headDim) + 12);
}
double AttentionGradOp::getFlops() {
  ArrayRef<int64_t> q = shapeOf(getQ());
  int64_t headDim = q[2] / int64_t(getHeads());
  return attentionPairs(q, getHeads()) * (10.0 * double(headDim) + 15);
}

double LinearCrossEntropyOp::getFlops() {
  return elements(getLabels()) * double(shapeOf(getWeight())[0]) * (2.0 * double(shapeOf(getX())[2]) + 12);
}
double LinearCrossEntropyGradOp::getFlops() {
  return elements(getLabels()) * double(shapeOf(getWeight())[0]) * (6.0 * double(shapeOf(getX())[2]) + 24);
}

double EmbeddingOp::getFlops() { return 0; }
double EmbeddingGradOp::getFlops() { return elements(getDy()); }
double AddOp::getFlops() { return elements(getResult()); }
double BiasAddOp::getFlops() { return elements(getResult()); }
double BiasGradOp::getFlops() { return elements(getDy()); }
double LayerNormOp::getFlops() { return 7 * elements(getX()); }
double LayerNormGradOp::getFlops() { return 14 * elements(getX()); }
double RmsNormOp::getFlops() { return 4 * elements(getX()); }
double RmsNormGradOp::getFlops() { return 10 * elements(getX()); }
double RopeTableOp::getFlops() { return 0; }
double RopeOp::getFlops() { return 3 * elements(getX()); }
double GeluOp::getFlops() { return 27 * elements(getX()); }
double GeluGradOp::getFlops() { return 35 * elements(getX()); }
double SwigluOp::getFlops() { return 24 * elements(getGate()); }
double SwigluGradOp::getFlops() { return 30 * elements(getGate()); }
double CastOp::getFlops() { return elements(getX()); }
double DropoutOp::getFlops() { return elements(getX()); }
double FillOp::getFlops() { return 0; }
double InitNormalOp::getFlops() { return 40 * elements(getResult()); }
double TreeMergeOp::getFlops() { return elements(getValue()); }
double PositionSumOp::getFlops() { return elements(getX()); }
double StepLossOp::getFlops() { return 2 * kPositionSegments; }
double EvalLossOp::getFlops() { return 4 * elements(getLoss()); }
double GradNormOp::getFlops() {
  double flops = 0;
  for (Value gradient : getGradients())
    flops += 14 * elements(gradient);
  return flops;
}
double AdamwOp::getFlops() { return 35 * elements(getParameter()); }
double ScheduleOp::getFlops() { return 50; }

#define CHEAP_TO_REPLAY(op, answer)                                                                                    \
  bool op::isCheapToReplay() { return answer; }

CHEAP_TO_REPLAY(EmbeddingOp, true)
CHEAP_TO_REPLAY(AddOp, true)
CHEAP_TO_REPLAY(BiasAddOp, true)
CHEAP_TO_REPLAY(GeluOp, true)
CHEAP_TO_REPLAY(SwigluOp, true)
CHEAP_TO_REPLAY(DropoutOp, true)
CHEAP_TO_REPLAY(RopeOp, true)
CHEAP_TO_REPLAY(LayerNormOp, true)
CHEAP_TO_REPLAY(RmsNormOp, true)
CHEAP_TO_REPLAY(CastOp, true)
// Bound by arithmetic.
CHEAP_TO_REPLAY(ContractOp, false)
CHEAP_TO_REPLAY(AttentionOp, false)
CHEAP_TO_REPLAY(LinearCrossEntropyOp, false)
// Nothing to gain: constants of the arena, and what no forward graph has.
CHEAP_TO_REPLAY(AttentionGradOp, false)
CHEAP_TO_REPLAY(EmbeddingGradOp, false)
CHEAP_TO_REPLAY(BiasGradOp, false)
CHEAP_TO_REPLAY(GeluGradOp, false)
CHEAP_TO_REPLAY(SwigluGradOp, false)
CHEAP_TO_REPLAY(LayerNormGradOp, false)
CHEAP_TO_REPLAY(RmsNormGradOp, false)
CHEAP_TO_REPLAY(LinearCrossEntropyGradOp, false)
CHEAP_TO_REPLAY(StepLossOp, false)
CHEAP_TO_REPLAY(EvalLossOp, false)
CHEAP_TO_REPLAY(RopeTableOp, false)
CHEAP_TO_REPLAY(TreeMergeOp, false)
CHEAP_TO_REPLAY(PositionSumOp, false)
CHEAP_TO_REPLAY(GradNormOp, false)
CHEAP_TO_REPLAY(AdamwOp, false)
CHEAP_TO_REPLAY(FillOp, false)
CHEAP_TO_REPLAY(InitNormalOp, false)
CHEAP_TO_REPLAY(ScheduleOp, false)
#undef CHEAP_TO_REPLAY
