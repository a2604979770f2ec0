// Shape rules of the backward, accumulation and update ops.
#include "dialects/train/Shapes.h"

using namespace mlir;
using namespace recipe::train;

LogicalResult verifyAttentionShapes(Operation *op, Value q, Value k, Value v, int64_t heads, int64_t kvHeads,
                                    double dropout);
LogicalResult verifyAttentionTypes(Operation *op, ValueRange values, std::optional<BF16Order> order, int64_t heads);
bool attentionGoesInPairs(Value q, int64_t heads);
LogicalResult verifyLossShapes(Operation *op, Value x, Value weight, Value labels, Value loss, Value count,
                               int64_t vocabSegments, int64_t batchNodes, std::optional<BF16Order> order,
                               std::optional<F32Products> products);

// `accumulators` (each may be null) have the shapes of `results`; only one batch node may continue from them.
static LogicalResult verifyTokenSums(Operation *op, Value tokens, int64_t batchNodes, ArrayRef<Value> accumulators,
                                     ArrayRef<Value> results) {
  int64_t samples = shapeOf(tokens)[0];
  if (batchNodes < 1 || (batchNodes & (batchNodes - 1)) || samples % batchNodes != 0)
    return op->emitOpError("'batch_nodes' must be a power of two that divides the samples, got: ")
           << batchNodes << " and " << samples;
  for (auto [accumulator, result] : llvm::zip(accumulators, results)) {
    if (!accumulator)
      continue;
    if (batchNodes != 1)
      return op->emitOpError("an accumulator needs one batch node, got: ") << batchNodes;
    if (failed(expectShape(op, "an accumulator", accumulator, shapeOf(result))))
      return failure();
  }
  return success();
}

LogicalResult EmbeddingGradOp::verify() {
  if (failed(expectRank(*this, "'dy'", getDy(), 3)) ||
      failed(expectShape(*this, "'ids'", getIds(), shapeOf(getDy()).drop_back())) ||
      failed(expectRank(*this, "the result", getResult(), 2)) ||
      failed(expectShape(*this, "the result", getResult(), {shapeOf(getResult())[0], shapeOf(getDy())[2]})))
    return failure();
  return verifyTokenSums(*this, getDy(), getBatchNodes(), {getAccumulator()}, {getResult()});
}

LogicalResult BiasGradOp::verify() {
  if (failed(expectRank(*this, "'dy'", getDy(), 3)) ||
      failed(expectShape(*this, "the result", getResult(), {kPositionSegments, shapeOf(getDy())[2]})))
    return failure();
  return verifyTokenSums(*this, getDy(), getBatchNodes(), {getAccumulator()}, {getResult()});
}

LogicalResult LayerNormGradOp::verify() {
  if (failed(expectRank(*this, "'dy'", getDy(), 3)))
    return failure();
  ArrayRef<int64_t> x = shapeOf(getDy());
  if (failed(expectShape(*this, "'x'", getX(), x)) || failed(expectShape(*this, "'gain'", getGain(), {x[2]})) ||
      failed(expectShape(*this, "'mean'", getMean(), x.drop_back())) ||
      failed(expectShape(*this, "'rstd'", getRstd(), x.drop_back())) ||
      failed(expectShape(*this, "'dx'", getDx(), x)) ||
      failed(expectShape(*this, "'dgain'", getDgain(), {kPositionSegments, x[2]})) ||
      failed(expectShape(*this, "'dbias'", getDbias(), {kPositionSegments, x[2]})))
    return failure();
  return verifyTokenSums(*this, getDy(), getBatchNodes(), {getGainAccumulator(), getBiasAccumulator()},
                         {getDgain(), getDbias()});
}

LogicalResult RmsNormGradOp::verify() {
  if (failed(expectRank(*this, "'dy'", getDy(), 3)))
    return failure();
  ArrayRef<int64_t> x = shapeOf(getDy());
  if (failed(expectShape(*this, "'x'", getX(), x)) || failed(expectShape(*this, "'gain'", getGain(), {x[2]})) ||
      failed(expectShape(*this, "'rstd'", getRstd(), x.drop_back())) ||
      failed(expectShape(*this, "'dx'", getDx(), x)) ||
      failed(expectShape(*this, "'dgain'", getDgain(), {kPositionSegments, x[2]})))
    return failure();
  return verifyTokenSums(*this, getDy(), getBatchNodes(), {getGainAccumulator()}, {getDgain()});
}

SmallVector<OpOperand *> AttentionGradOp::getBF16Operands() {
  if (!attentionGoesInPairs(getQ(), int64_t(getHeads())))
    return {};
  return {&getDyMutable(), &getQMutable(), &getKMutable(), &getVMutable(), &getResultMutable()};
}

LogicalResult AttentionGradOp::verify() {
  if (failed(verifyAttentionShapes(*this, getQ(), getK(), getV(), getHeads(), getKvHeads(),
                                   getDropout().convertToDouble())) ||
      failed(verifyAttentionTypes(*this, {getDy(), getQ(), getK(), getV(), getResult()}, getBf16Order(),
                                  int64_t(getHeads()))))
    return failure();
  ArrayRef<int64_t> q = shapeOf(getQ());
  SmallVector<int64_t> rows{q[0], int64_t(getHeads()), q[1]};
  for (Value value : {getDy(), getResult(), getDq()})
    if (failed(expectShape(*this, "'dy', 'result' and 'dq'", value, q)))
      return failure();
  for (Value value : {getRowMax(), getRowSum()})
    if (failed(expectShape(*this, "a row statistic", value, rows)))
      return failure();
  for (Value value : {getDk(), getDv()})
    if (failed(expectShape(*this, "'dk' and 'dv'", value, shapeOf(getK()))))
      return failure();
  return success();
}

LogicalResult GeluGradOp::verify() {
  if (failed(expectShape(*this, "'dy'", getDy(), shapeOf(getX()))))
    return failure();
  return expectShape(*this, "'dx'", getDx(), shapeOf(getX()));
}

LogicalResult SwigluGradOp::verify() {
  for (Value value : {getDy(), getUp(), getDgate(), getDup()})
    if (failed(expectShape(*this, "all operands and results", value, shapeOf(getGate()))))
      return failure();
  return success();
}

LogicalResult LinearCrossEntropyGradOp::verify() {
  if (failed(verifyLossShapes(*this, getX(), getWeight(), getLabels(), getLoss(), getCount(), getVocabSegments(),
                              getBatchNodes(), getBf16Order(), getF32Products())) ||
      failed(expectShape(*this, "'dx'", getDx(), shapeOf(getX()))) ||
      failed(expectShape(*this, "'dweight'", getDweight(), shapeOf(getWeight()))))
    return failure();
  bool some = getLossAccumulator() || getCountAccumulator() || getWeightAccumulator();
  if (some && !(getLossAccumulator() && getCountAccumulator()))
    return emitOpError("an accumulator of the loss, the count or the weight needs those of loss and count");
  return verifyTokenSums(*this, getX(), getBatchNodes(),
                         {getLossAccumulator(), getCountAccumulator(), getWeightAccumulator()},
                         {getLoss(), getCount(), getDweight()});
}

LogicalResult FillOp::verify() { return success(); }

LogicalResult InitNormalOp::verify() {
  double stddev = getStddev().convertToDouble();
  if (!(stddev >= 0))
    return emitOpError("'stddev' must not be negative, got: ") << stddev;
  return success();
}

LogicalResult TreeMergeOp::verify() {
  ArrayRef<int64_t> value = shapeOf(getValue()), pending = shapeOf(getPending());
  if (pending.empty() || pending.drop_front() != value)
    return emitOpError("'pending' must be [levels] of the value's shape, got: ")
           << getPending().getType() << " and " << getValue().getType();
  if (failed(expectShape(*this, "the result", getResult(), value)))
    return failure();
  return expectShape(*this, "'pending_result'", getPendingResult(), pending);
}

LogicalResult PositionSumOp::verify() {
  ArrayRef<int64_t> x = shapeOf(getX());
  if (x.size() != 2 || x[0] != kPositionSegments)
    return emitOpError("'x' must be [8, C], got: ") << getX().getType();
  return expectShape(*this, "the result", getResult(), {x[1]});
}

LogicalResult StepLossOp::verify() {
  if (failed(expectShape(*this, "'loss'", getLoss(), {kPositionSegments})))
    return failure();
  return expectShape(*this, "'count'", getCount(), {kPositionSegments});
}

LogicalResult EvalLossOp::verify() {
  if (failed(expectRank(*this, "'loss'", getLoss(), 2)))
    return failure();
  return expectShape(*this, "'count'", getCount(), shapeOf(getLoss()));
}

LogicalResult GradNormOp::verify() {
  double clip = getClip().convertToDouble();
  if (!(clip >= 0))
    return emitOpError("'clip' must not be negative (0 turns it off), got: ") << clip;
  return success();
}

static LogicalResult verifyBetas(Operation *op, ArrayRef<APFloat> betas) {
  for (const APFloat &beta : betas)
    if (!(beta.convertToDouble() >= 0 && beta.convertToDouble() < 1))
      return op->emitOpError("betas must be in [0, 1), got: ") << beta.convertToDouble();
  return success();
}

LogicalResult AdamwOp::verify() {
  for (Value value : {getM(), getV(), getGradient(), getParameterResult(), getMResult(), getVResult()})
    if (failed(expectShape(*this, "all operands and results", value, shapeOf(getParameter()))))
      return failure();
  double eps = getEps().convertToDouble(), decay = getWeightDecay().convertToDouble();
  if (!(eps >= 0 && decay >= 0))
    return emitOpError("'eps' and 'weight_decay' must not be negative, got: ") << eps << " and " << decay;
  return verifyBetas(*this, {getBeta1(), getBeta2()});
}

LogicalResult ScheduleOp::verify() { return verifyBetas(*this, {getBeta1(), getBeta2()}); }
