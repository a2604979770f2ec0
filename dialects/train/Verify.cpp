// Shape rules of the forward ops (numbers in messages: docs/ops.md is generated from TrainCompute.td).
#include "dialects/dist/Dist.h"
#include "dialects/train/Shapes.h"

using namespace mlir;
using namespace recipe;
using namespace recipe::train;

LogicalResult EmbeddingOp::verify() {
  if (failed(expectRank(*this, "'ids'", getIds(), 2)) || failed(expectRank(*this, "'table'", getTable(), 2)))
    return failure();
  ArrayRef<int64_t> ids = shapeOf(getIds());
  return expectShape(*this, "the result", getResult(), {ids[0], ids[1], shapeOf(getTable())[1]});
}

LogicalResult AddOp::verify() {
  if (failed(expectShape(*this, "'rhs'", getRhs(), shapeOf(getLhs()))))
    return failure();
  return expectShape(*this, "the result", getResult(), shapeOf(getLhs()));
}

LogicalResult BiasAddOp::verify() {
  if (tensorType(getX()).getRank() < 1)
    return emitOpError("'x' must not be a scalar, got: ") << getX().getType();
  if (failed(expectShape(*this, "'bias'", getBias(), {shapeOf(getX()).back()})))
    return failure();
  return expectShape(*this, "the result", getResult(), shapeOf(getX()));
}

LogicalResult CastOp::verify() {
  if (failed(expectShape(*this, "the result", getResult(), shapeOf(getX()))))
    return failure();
  if (tensorType(getX()).getElementType() == tensorType(getResult()).getElementType())
    return emitOpError("must change the element type, got: ") << getX().getType() << " and " << getResult().getType();
  return success();
}

// The M, N and K of one pair; leading dimensions flattened.
static void pairSizes(ContractForm form, ArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs, int64_t &m, int64_t &n,
                      int64_t &kLeft, int64_t &kRight) {
  switch (form) {
  case ContractForm::NN:
    m = leadingSize(lhs), kLeft = lhs.back(), kRight = rhs[0], n = rhs[1];
    return;
  case ContractForm::NT:
    m = leadingSize(lhs), kLeft = lhs.back(), kRight = rhs[1], n = rhs[0];
    return;
  case ContractForm::TN:
    m = lhs.back(), n = rhs.back(), kLeft = leadingSize(lhs), kRight = leadingSize(rhs);
    return;
  }
}

// `flat` lists [begin, end) for each segment and each of `sizes`, whose ranges it covers in order, or equal parts of
// them where a dimension is split over ranks. `count` takes the number of segments.
static LogicalResult verifyPartition(ContractOp op, StringRef name, ArrayRef<int64_t> flat, ArrayRef<int64_t> sizes,
                                     bool isSplit, size_t &count) {
  if (flat.empty() || flat.size() % (2 * sizes.size()) != 0)
    return op.emitOpError() << "'" << name << "' needs a range for each segment and pair, got: " << flat.size()
                            << " numbers for " << sizes.size() << " pairs";
  count = flat.size() / (2 * sizes.size());
  if (count & (count - 1))
    return op.emitOpError() << "the number of '" << name << "' must be a power of two, got: " << count;
  for (size_t pair = 0; pair < sizes.size(); ++pair) {
    int64_t next = 0;
    for (size_t segment = 0; segment < count; ++segment) {
      size_t at = 2 * (segment * sizes.size() + pair);
      int64_t begin = flat[at], end = flat[at + 1];
      if (begin != next || end < begin)
        return op.emitOpError() << "'" << name << "' must follow each other without gaps, got: [" << begin << ", "
                                << end << ") after " << next << " in pair " << pair;
      next = end;
    }
    if (isSplit ? next < 1 || sizes[pair] % next != 0 : next != sizes[pair])
      return op.emitOpError() << "'" << name << "' must cover " << (isSplit ? "a rank's part of " : "")
                              << "the dimension, got: " << next << " of " << sizes[pair] << " in pair " << pair;
  }
  return success();
}

// Tokens that are split over ranks: each sums its own. How many they are shows in the local types of kernel regions.
static bool contractsSplitTokens(ContractOp op) {
  dist::LayoutAttr layout = dist::layoutOf(op.getLhs()[0].getType());
  return op.getForm() == ContractForm::TN && layout &&
         llvm::any_of(layout.getDims().drop_back(), [](dist::DimAttr dim) { return !dim.getAxes().empty(); });
}

static LogicalResult verifySegments(ContractOp op, ArrayRef<int64_t> contracted, int64_t n) {
  size_t count = 0, outCount = 0;
  if (failed(verifyPartition(op, "segments", op.getSegments(), contracted, contractsSplitTokens(op), count)))
    return failure();
  if (op.getAccumulator() && (count != 1 || op.getForm() != ContractForm::TN))
    return op.emitOpError("an accumulator needs form tn and one segment, got: ")
           << stringifyContractForm(op.getForm()) << " and " << count << " segments";
  if (op.getOutSegments())
    return verifyPartition(op, "out_segments", *op.getOutSegments(), {n}, /*isSplit=*/false, outCount);
  return success();
}

// bf16 terms are taken in pairs, none of which may lie in two segments or in two samples.
static std::string whyNotInPairs(ContractOp op) {
  std::string why;
  llvm::raw_string_ostream text(why);
  if (op.getForm() == ContractForm::TN)
    for (Value lhs : op.getLhs())
      if (shapeOf(lhs).drop_back().back() % 2 != 0) {
        text << "positions of bf16 operands must be even, got: " << lhs.getType();
        return why;
      }
  ArrayRef<int64_t> segments = op.getSegments();
  for (size_t i = 0; i < segments.size(); i += 2)
    if (segments[i] % 2 != 0 && segments[i] != segments[i + 1]) {
      text << "segments of bf16 operands must begin at even numbers, got: [" << segments[i] << ", " << segments[i + 1]
           << ")";
      return why;
    }
  return why;
}

// One type for all operands.
static LogicalResult verifyElementTypes(ContractOp op) {
  Type first = tensorType(op.getLhs()[0]).getElementType();
  for (ValueRange side : {ValueRange(op.getLhs()), ValueRange(op.getRhs())})
    for (Value value : side)
      if (tensorType(value).getElementType() != first)
        return op.emitOpError("all operands must have one element type, got: ")
               << op.getLhs()[0].getType() << " and " << value.getType();
  if (!first.isBF16() && op.getBf16Order())
    return op.emitOpError("'bf16_order' is that of bf16 operands, got: ") << op.getLhs()[0].getType();
  if (first.isBF16() && op.getF32Products())
    return op.emitOpError("'f32_products' is that of f32 operands, got: ") << op.getLhs()[0].getType();
  if (first.isBF16())
    if (std::string why = whyNotInPairs(op); !why.empty())
      return op.emitOpError() << why;
  return success();
}

SmallVector<OpOperand *> ContractOp::getBF16Operands() {
  SmallVector<OpOperand *> operands;
  if (whyNotInPairs(*this).empty())
    for (OpOperand &operand : (*this)->getOpOperands().take_front(2 * getLhs().size()))
      operands.push_back(&operand);
  return operands;
}

std::optional<int64_t> ContractOp::getTermsPerSample() {
  if (getForm() != ContractForm::TN)
    return std::nullopt;
  return shapeOf(getLhs()[0]).drop_back().back();
}

LogicalResult ContractOp::verify() {
  if (getLhs().empty() || getLhs().size() != getRhs().size())
    return emitOpError("needs as many left as right operands and at least one, got: ")
           << getLhs().size() << " and " << getRhs().size();
  int64_t m = 0, n = 0;
  SmallVector<int64_t> contracted;
  for (auto [lhs, rhs] : llvm::zip(getLhs(), getRhs())) {
    bool tn = getForm() == ContractForm::TN;
    if (tensorType(lhs).getRank() < 2 || (tn ? tensorType(rhs).getRank() < 2 : tensorType(rhs).getRank() != 2))
      return emitOpError("operands must be matrices, got: ") << lhs.getType() << " and " << rhs.getType();
    int64_t pairM, pairN, kLeft, kRight;
    pairSizes(getForm(), shapeOf(lhs), shapeOf(rhs), pairM, pairN, kLeft, kRight);
    if (kLeft != kRight)
      return emitOpError("contracted dimensions must agree, got: ") << lhs.getType() << " and " << rhs.getType();
    if (!contracted.empty() && (pairM != m || pairN != n))
      return emitOpError("all pairs must give the same result shape, got: ")
             << m << " x " << n << " and " << pairM << " x " << pairN;
    m = pairM, n = pairN;
    contracted.push_back(kLeft);
  }
  SmallVector<int64_t> result;
  if (getForm() == ContractForm::TN)
    result = {m};
  else
    result.assign(shapeOf(getLhs()[0]).drop_back().begin(), shapeOf(getLhs()[0]).drop_back().end());
  result.push_back(n);
  if (failed(expectShape(*this, "the result", getResult(), result)))
    return failure();
  if (getAccumulator() && failed(expectShape(*this, "'accumulator'", getAccumulator(), result)))
    return failure();
  return success(succeeded(verifySegments(*this, contracted, n)) && succeeded(verifyElementTypes(*this)));
}

static LogicalResult verifyNorm(Operation *op, Value x, Value gain, Value result, ValueRange rowStats, double eps) {
  if (failed(expectRank(op, "'x'", x, 3)) || failed(expectShape(op, "'gain'", gain, {shapeOf(x)[2]})) ||
      failed(expectShape(op, "the result", result, shapeOf(x))))
    return failure();
  for (Value stat : rowStats)
    if (failed(expectShape(op, "a row statistic", stat, shapeOf(x).drop_back())))
      return failure();
  if (!(eps >= 0))
    return op->emitOpError("'eps' must not be negative, got: ") << eps;
  return success();
}

LogicalResult LayerNormOp::verify() {
  if (failed(verifyNorm(*this, getX(), getGain(), getResult(), {getMean(), getRstd()}, getEps().convertToDouble())))
    return failure();
  return expectShape(*this, "'bias'", getBias(), {shapeOf(getX())[2]});
}

LogicalResult RmsNormOp::verify() {
  return verifyNorm(*this, getX(), getGain(), getResult(), {getRstd()}, getEps().convertToDouble());
}

LogicalResult RopeTableOp::verify() {
  int64_t half = getInvFreq().size();
  if (half == 0)
    return emitOpError("'inv_freq' must not be empty");
  if (failed(expectRank(*this, "'cosine'", getCosine(), 2)))
    return failure();
  if (failed(expectShape(*this, "'cosine'", getCosine(), {shapeOf(getCosine())[0], half})))
    return failure();
  return expectShape(*this, "'sine'", getSine(), shapeOf(getCosine()));
}

LogicalResult RopeOp::verify() {
  if (failed(expectRank(*this, "'x'", getX(), 3)) || failed(expectRank(*this, "'cosine'", getCosine(), 2)))
    return failure();
  ArrayRef<int64_t> x = shapeOf(getX());
  int64_t heads = getHeads(), half = shapeOf(getCosine())[1];
  if (heads < 1 || x[2] != heads * 2 * half)
    return emitOpError("channels must be heads * 2 * (pairs of the table), got: ")
           << x[2] << ", " << heads << " heads and " << half << " pairs";
  if (failed(expectShape(*this, "'sine'", getSine(), shapeOf(getCosine()))) ||
      failed(expectShape(*this, "'positions'", getPositions(), x.drop_back())))
    return failure();
  return expectShape(*this, "the result", getResult(), x);
}

// q [B,T,H*E], k and v [B,T,K*E]; shared by attention and its gradient.
LogicalResult verifyAttentionShapes(Operation *op, Value q, Value k, Value v, int64_t heads, int64_t kvHeads,
                                    double dropout) {
  if (failed(expectRank(op, "'q'", q, 3)))
    return failure();
  ArrayRef<int64_t> shape = shapeOf(q);
  if (heads < 1 || kvHeads < 1 || heads % kvHeads != 0 || shape[2] % heads != 0)
    return op->emitOpError("kv heads must divide heads and heads must divide channels, got: ")
           << kvHeads << ", " << heads << " and " << shape[2];
  SmallVector<int64_t> kv{shape[0], shape[1], shape[2] / heads * kvHeads};
  if (failed(expectShape(op, "'k'", k, kv)) || failed(expectShape(op, "'v'", v, kv)))
    return failure();
  if (!(dropout >= 0 && dropout < 1))
    return op->emitOpError("'dropout' must be in [0, 1), got: ") << dropout;
  return success();
}

// Positions and channels of a head are even.
bool attentionGoesInPairs(Value q, int64_t heads) { return shapeOf(q)[1] % 2 == 0 && shapeOf(q)[2] / heads % 2 == 0; }

// The operands `values` of attention or its gradient have one element type; of bf16 they go in pairs of positions and
// of channels.
LogicalResult verifyAttentionTypes(Operation *op, ValueRange values, std::optional<BF16Order> order, int64_t heads) {
  for (Value value : values)
    if (tensorType(value).getElementType() != tensorType(values[0]).getElementType())
      return op->emitOpError("these operands must have one element type, got: ")
             << values[0].getType() << " and " << value.getType();
  if (!isBF16(values[0]) && order)
    return op->emitOpError("'bf16_order' is that of bf16 operands, got: ") << values[0].getType();
  if (isBF16(values[0]) && !attentionGoesInPairs(values[0], heads))
    return op->emitOpError("positions and channels of a head of bf16 operands must be even, got: ")
           << values[0].getType() << " and " << heads << " heads";
  return success();
}

SmallVector<OpOperand *> AttentionOp::getBF16Operands() {
  if (!attentionGoesInPairs(getQ(), int64_t(getHeads())))
    return {};
  return {&getQMutable(), &getKMutable(), &getVMutable()};
}

LogicalResult AttentionOp::verify() {
  if (failed(verifyAttentionShapes(*this, getQ(), getK(), getV(), getHeads(), getKvHeads(),
                                   getDropout().convertToDouble())) ||
      failed(verifyAttentionTypes(*this, {getQ(), getK(), getV()}, getBf16Order(), int64_t(getHeads()))))
    return failure();
  ArrayRef<int64_t> q = shapeOf(getQ());
  if (failed(expectShape(*this, "the result", getResult(), q)) ||
      failed(expectShape(*this, "'row_max'", getRowMax(), {q[0], int64_t(getHeads()), q[1]})))
    return failure();
  return expectShape(*this, "'row_sum'", getRowSum(), {q[0], int64_t(getHeads()), q[1]});
}

LogicalResult GeluOp::verify() { return expectShape(*this, "the result", getResult(), shapeOf(getX())); }

LogicalResult SwigluOp::verify() {
  if (failed(expectShape(*this, "'up'", getUp(), shapeOf(getGate()))))
    return failure();
  return expectShape(*this, "the result", getResult(), shapeOf(getGate()));
}

LogicalResult DropoutOp::verify() {
  double p = getP().convertToDouble();
  if (!(p >= 0 && p < 1))
    return emitOpError("'p' must be in [0, 1), got: ") << p;
  if (failed(expectRank(*this, "'x'", getX(), 3)))
    return failure();
  return expectShape(*this, "the result", getResult(), shapeOf(getX()));
}

// Shared by the loss and its gradient form. Sums are by position segment or, without gradient, of each token.
LogicalResult verifyLossShapes(Operation *op, Value x, Value weight, Value labels, Value loss, Value count,
                               int64_t vocabSegments, int64_t batchNodes, std::optional<BF16Order> order,
                               std::optional<F32Products> products) {
  if (failed(expectRank(op, "'x'", x, 3)) || failed(expectRank(op, "'weight'", weight, 2)))
    return failure();
  ArrayRef<int64_t> shape = shapeOf(x);
  SmallVector<int64_t> sums = {kPositionSegments};
  if (isa<LinearCrossEntropyOp>(op) && shapeOf(loss).size() == 2)
    sums.assign(shape.begin(), shape.begin() + 2);
  if (failed(expectShape(op, "'weight'", weight, {shapeOf(weight)[0], shape[2]})) ||
      failed(expectShape(op, "'labels'", labels, shape.drop_back())) || failed(expectShape(op, "'loss'", loss, sums)) ||
      failed(expectShape(op, "'count'", count, sums)))
    return failure();
  if (isBF16(x) != isBF16(weight))
    return op->emitOpError("'x' and 'weight' must be of one type, got: ") << x.getType() << " and " << weight.getType();
  if (!isBF16(x) && order)
    return op->emitOpError("'bf16_order' is that of bf16 operands, got: ") << x.getType();
  if (isBF16(x) && products)
    return op->emitOpError("'f32_products' is that of f32 operands, got: ") << x.getType();
  if (isBF16(x) && shape[1] % 2 != 0)
    return op->emitOpError("positions of bf16 operands must be even, got: ") << x.getType();
  if (vocabSegments < 1 || (vocabSegments & (vocabSegments - 1)))
    return op->emitOpError("'vocab_segments' must be a power of two, got: ") << vocabSegments;
  if (batchNodes < 1 || (batchNodes & (batchNodes - 1)) || shape[0] % batchNodes != 0)
    return op->emitOpError("'batch_nodes' must be a power of two that divides the samples, got: ")
           << batchNodes << " and " << shape[0];
  return success();
}

LogicalResult LinearCrossEntropyOp::verify() {
  return verifyLossShapes(*this, getX(), getWeight(), getLabels(), getLoss(), getCount(), getVocabSegments(),
                          getBatchNodes(), getBf16Order(), getF32Products());
}
