// Gradient rules of norms, rotations, attention, activations and the loss (docs/numerics.md, "Ops").
#include "dialects/train/Names.h"
#include "dialects/train/Shapes.h"

using namespace mlir;
using namespace recipe::train;

// The gradient of a gain or bias, or null for a frozen one, whose sums nobody reads.
static Value wanted(GradientContext &context, Value parameter, Value gradient) {
  return context.needsGradient(parameter) ? gradient : Value();
}
static Value accumulator(GradientContext &context, OpOperand &use) {
  return context.needsGradient(use.get()) ? context.accumulatorFor(use, positionSumsType(use.get())) : Value();
}

bool LayerNormOp::hasGradient() { return true; }
LogicalResult LayerNormOp::buildGradient(OpBuilder &builder, ValueRange resultGradients, GradientContext &context,
                                         SmallVectorImpl<Value> &operandGradients) {
  auto grad = LayerNormGradOp::create(builder, derivedLoc(*this, "grad"), getX().getType(), positionSumsType(getGain()),
                                      positionSumsType(getBias()), resultGradients[0], getX(), getGain(), getMean(),
                                      getRstd(), accumulator(context, getGainMutable()),
                                      accumulator(context, getBiasMutable()), context.batchNodes());
  operandGradients.append({wanted(context, getX(), grad.getDx()), wanted(context, getGain(), grad.getDgain()),
                           wanted(context, getBias(), grad.getDbias())});
  return success();
}

bool RmsNormOp::hasGradient() { return true; }
LogicalResult RmsNormOp::buildGradient(OpBuilder &builder, ValueRange resultGradients, GradientContext &context,
                                       SmallVectorImpl<Value> &operandGradients) {
  auto grad = RmsNormGradOp::create(builder, derivedLoc(*this, "grad"), getX().getType(), positionSumsType(getGain()),
                                    resultGradients[0], getX(), getGain(), getRstd(),
                                    accumulator(context, getGainMutable()), context.batchNodes());
  operandGradients.append({wanted(context, getX(), grad.getDx()), wanted(context, getGain(), grad.getDgain())});
  return success();
}

bool RopeOp::hasGradient() { return true; }
LogicalResult RopeOp::buildGradient(OpBuilder &builder, ValueRange resultGradients, GradientContext &context,
                                    SmallVectorImpl<Value> &operandGradients) {
  Value dx = RopeOp::create(builder, derivedLoc(*this, "dx"), getX().getType(), resultGradients[0], getCosine(),
                            getSine(), getPositions(), getHeads(), !getInverse());
  operandGradients.append({dx, Value(), Value(), Value()});
  return success();
}

bool AttentionOp::hasGradient() { return true; }
LogicalResult AttentionOp::buildGradient(OpBuilder &builder, ValueRange resultGradients, GradientContext &context,
                                         SmallVectorImpl<Value> &operandGradients) {
  auto grad =
      AttentionGradOp::create(builder, derivedLoc(*this, "grad"), getQ().getType(), getK().getType(), getV().getType(),
                              resultGradients[0], getQ(), getK(), getV(), getResult(), getRowMax(), getRowSum(),
                              getHeadsAttr(), getKvHeadsAttr(), getScaleAttr(), getDropoutAttr(), getDropoutIdAttr());
  operandGradients.append({wanted(context, getQ(), grad.getDq()), wanted(context, getK(), grad.getDk()),
                           wanted(context, getV(), grad.getDv())});
  return success();
}

bool GeluOp::hasGradient() { return true; }
LogicalResult GeluOp::buildGradient(OpBuilder &builder, ValueRange resultGradients, GradientContext &context,
                                    SmallVectorImpl<Value> &operandGradients) {
  operandGradients.push_back(
      GeluGradOp::create(builder, derivedLoc(*this, "dx"), getX().getType(), resultGradients[0], getX()));
  return success();
}

bool SwigluOp::hasGradient() { return true; }
LogicalResult SwigluOp::buildGradient(OpBuilder &builder, ValueRange resultGradients, GradientContext &context,
                                      SmallVectorImpl<Value> &operandGradients) {
  auto grad = SwigluGradOp::create(builder, derivedLoc(*this, "grad"), getGate().getType(), getUp().getType(),
                                   resultGradients[0], getGate(), getUp());
  operandGradients.append({wanted(context, getGate(), grad.getDgate()), wanted(context, getUp(), grad.getDup())});
  return success();
}

bool DropoutOp::hasGradient() { return true; }
LogicalResult DropoutOp::buildGradient(OpBuilder &builder, ValueRange resultGradients, GradientContext &context,
                                       SmallVectorImpl<Value> &operandGradients) {
  operandGradients.push_back(DropoutOp::create(builder, derivedLoc(*this, "dx"), getX().getType(), resultGradients[0],
                                               getPAttr(), getDropoutIdAttr()));
  return success();
}

bool LinearCrossEntropyOp::hasGradient() { return true; }
// The loss is a sum, so its own gradient is 1 and known in advance: one op in the place of this one gives the loss and
// both gradients, and the logits are computed once.
LogicalResult LinearCrossEntropyOp::buildGradient(OpBuilder &builder, ValueRange resultGradients,
                                                  GradientContext &context, SmallVectorImpl<Value> &operandGradients) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(*this);
  Value weightAccumulator =
      context.needsGradient(getWeight()) ? context.accumulatorFor(getWeightMutable(), getWeight().getType()) : Value();
  auto grad = LinearCrossEntropyGradOp::create(
      builder, getLoc(), getLoss().getType(), getCount().getType(), getX().getType(), getWeight().getType(), getX(),
      getWeight(), getLabels(), context.accumulatorFor(cast<OpResult>(getLoss())),
      context.accumulatorFor(cast<OpResult>(getCount())), weightAccumulator, getVocabSegments(), context.batchNodes(),
      BF16OrderAttr(), getF32ProductsAttr());
  getLoss().replaceAllUsesWith(grad.getLoss());
  getCount().replaceAllUsesWith(grad.getCount());
  operandGradients.append(
      {wanted(context, getX(), grad.getDx()), wanted(context, getWeight(), grad.getDweight()), Value()});
  return success();
}
