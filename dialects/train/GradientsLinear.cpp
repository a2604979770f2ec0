// Gradient rules of look-ups, sums and contractions (docs/numerics.md, "Where a reduction over tokens goes").
#include "dialects/train/Names.h"
#include "dialects/train/Segments.h"
#include "dialects/train/Shapes.h"

using namespace mlir;
using namespace recipe::train;

bool EmbeddingOp::hasGradient() { return true; }
LogicalResult EmbeddingOp::buildGradient(OpBuilder &builder, ValueRange resultGradients, GradientContext &context,
                                         SmallVectorImpl<Value> &operandGradients) {
  Value dtable;
  if (context.needsGradient(getTable()))
    dtable = EmbeddingGradOp::create(builder, derivedLoc(*this, "dtable"), getTable().getType(), resultGradients[0],
                                     getIds(), context.accumulatorFor(getTableMutable(), getTable().getType()),
                                     context.batchNodes());
  operandGradients.append({Value(), dtable});
  return success();
}

bool AddOp::hasGradient() { return true; }
LogicalResult AddOp::buildGradient(OpBuilder &builder, ValueRange resultGradients, GradientContext &context,
                                   SmallVectorImpl<Value> &operandGradients) {
  for (Value operand : getOperands())
    operandGradients.push_back(context.needsGradient(operand) ? resultGradients[0] : Value());
  return success();
}

bool BiasAddOp::hasGradient() { return true; }
LogicalResult BiasAddOp::buildGradient(OpBuilder &builder, ValueRange resultGradients, GradientContext &context,
                                       SmallVectorImpl<Value> &operandGradients) {
  Value dbias;
  if (context.needsGradient(getBias())) {
    auto type = positionSumsType(getBias());
    dbias = BiasGradOp::create(builder, derivedLoc(*this, "dbias"), type, resultGradients[0],
                               context.accumulatorFor(getBiasMutable(), type), context.batchNodes());
  }
  operandGradients.append({context.needsGradient(getX()) ? resultGradients[0] : Value(), dbias});
  return success();
}

static std::string pairName(StringRef what, ContractOp op, unsigned pair) {
  return op.getLhs().size() == 1 ? what.str() : (what + "." + Twine(pair)).str();
}

// dlhs = dy rhs^T, contracted over the last dimension of the forward result and therefore over its segments.
static Value contractLhsGradient(ContractOp op, unsigned pair, OpBuilder &builder, Value dy) {
  ContractForm form = op.getForm() == ContractForm::NN ? ContractForm::NT : ContractForm::NN;
  SegmentList segments = op.getOutSegments() ? SegmentList(*op.getOutSegments()) : oneSegment(shapeOf(dy).back());
  return ContractOp::create(builder, derivedLoc(op, pairName("dlhs", op, pair)), op.getLhs()[pair].getType(),
                            ValueRange{dy}, ValueRange{op.getRhs()[pair]}, Value(), form,
                            builder.getDenseI64ArrayAttr(segments), DenseI64ArrayAttr(), BF16OrderAttr(),
                            op.getF32ProductsAttr());
}

// drhs in the layout of rhs: a chain over the tokens of each batch segment.
static Value contractRhsGradient(ContractOp op, unsigned pair, OpBuilder &builder, Value dy, GradientContext &context) {
  Value lhs = op.getLhs()[pair], rhs = op.getRhs()[pair];
  Value left = op.getForm() == ContractForm::NN ? lhs : dy, right = op.getForm() == ContractForm::NN ? dy : lhs;
  SegmentList segments = equalSegments(leadingSize(shapeOf(lhs)), context.batchNodes());
  return ContractOp::create(builder, derivedLoc(op, pairName("drhs", op, pair)), rhs.getType(), ValueRange{left},
                            ValueRange{right}, context.accumulatorFor(op.getRhsMutable()[pair], rhs.getType()),
                            ContractForm::TN, builder.getDenseI64ArrayAttr(segments), DenseI64ArrayAttr(),
                            BF16OrderAttr(), op.getF32ProductsAttr());
}

// A contraction over tokens is a backward op.
bool ContractOp::hasGradient() { return getForm() != ContractForm::TN && !getAccumulator(); }
LogicalResult ContractOp::buildGradient(OpBuilder &builder, ValueRange resultGradients, GradientContext &context,
                                        SmallVectorImpl<Value> &operandGradients) {
  size_t pairs = getLhs().size();
  operandGradients.resize(2 * pairs);
  for (unsigned pair = 0; pair < pairs; ++pair)
    if (context.needsGradient(getRhs()[pair]))
      operandGradients[pairs + pair] = contractRhsGradient(*this, pair, builder, resultGradients[0], context);
  for (unsigned pair = 0; pair < pairs; ++pair)
    if (context.needsGradient(getLhs()[pair]))
      operandGradients[pair] = contractLhsGradient(*this, pair, builder, resultGradients[0]);
  return success();
}
