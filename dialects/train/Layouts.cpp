// The layout rule of each op. The constraints T1 to T6 are listed in LayoutRule.h.
#include "dialects/train/LayoutRule.h"

using namespace mlir;
using namespace recipe;
using namespace recipe::train;
using dist::AxisAttr;
using dist::DimAttr;
using dist::LayoutAttr;

using Layouts = ArrayRef<Attribute>;
using Results = SmallVectorImpl<Attribute>;

// Both lists of axes: what a sum over two dimensions is Partial over.
static SmallVector<AxisAttr> join(ArrayRef<AxisAttr> a, ArrayRef<AxisAttr> b) {
  SmallVector<AxisAttr> all(a);
  llvm::append_range(all, b);
  return all;
}

// T1: all operands alike, nothing Partial, every result like them.
static LogicalResult elementwise(Operation *op, Layouts in, Results &out) {
  LayoutRule rule(op, in, out);
  if (failed(rule.expectNoPartial(in.size())) || failed(rule.expectOneLayout(0, in.size())))
    return failure();
  for (unsigned i = 0; i < op->getNumResults(); ++i)
    rule.give(rule.at(0));
  return success();
}

LogicalResult EmbeddingOp::inferLayouts(Layouts in, Results &out) {
  LayoutRule rule(*this, in, out);
  if (failed(rule.expectNoPartial(2)))
    return failure();
  LayoutAttr ids = rule.at(0), table = rule.at(1);
  return rule.give(getResult(), {rule.dim(ids, 0), rule.dim(ids, 1), rule.dim(table, 1)}, rule.axes(table, 0));
}
LogicalResult EmbeddingGradOp::inferLayouts(Layouts in, Results &out) {
  LayoutRule rule(*this, in, out);
  LayoutAttr dy = rule.at(0);
  if (failed(rule.expectNoPartial(2)) || failed(rule.expectSameTokens(0, 1)) ||
      failed(rule.give(getResult(), {rule.whole(), rule.dim(dy, 2)}, join(rule.axes(dy, 0), rule.axes(dy, 1)))))
    return failure();
  return getAccumulator() ? rule.expectAccumulator(2, 0) : success();
}

LogicalResult AddOp::inferLayouts(Layouts in, Results &out) { return elementwise(*this, in, out); }
LogicalResult CastOp::inferLayouts(Layouts in, Results &out) { return elementwise(*this, in, out); }
LogicalResult BiasAddOp::inferLayouts(Layouts in, Results &out) {
  LayoutRule rule(*this, in, out);
  if (failed(rule.expectNoPartial(2)) || failed(rule.expectAlike(0, -1, 1, 0)))
    return failure();
  rule.give(rule.at(0));
  return success();
}

// [8, C]: sums over the tokens of x [B, T, C] by position segment.
static LogicalResult givePositionSums(LayoutRule &rule, Value result, LayoutAttr x) {
  return rule.give(result, {rule.dim(x, 1), rule.dim(x, 2)}, rule.axes(x, 0));
}
LogicalResult BiasGradOp::inferLayouts(Layouts in, Results &out) {
  LayoutRule rule(*this, in, out);
  if (failed(rule.expectNoPartial(1)) || failed(givePositionSums(rule, getResult(), rule.at(0))))
    return failure();
  return getAccumulator() ? rule.expectAccumulator(1, 0) : success();
}

// The contracted dimensions of one pair are split alike; they and the result's dimensions are taken apart here.
static LogicalResult pairLayout(LayoutRule &rule, ContractForm form, unsigned lhs, unsigned rhs,
                                SmallVectorImpl<DimAttr> &result, SmallVectorImpl<AxisAttr> &partial) {
  LayoutAttr left = rule.at(lhs), right = rule.at(rhs);
  int64_t leading = left.getDims().size() - 1;
  if (form == ContractForm::TN) {
    // Leading dimensions correspond one to one; those that are flattened differently must be whole.
    bool sameRank = left.getDims().size() == right.getDims().size();
    for (int64_t d = 0; d < leading && sameRank; ++d)
      if (failed(rule.expectAlike(lhs, d, rhs, d)))
        return failure();
    for (unsigned operand : {lhs, rhs})
      for (int64_t d = 0, end = rule.at(operand).getDims().size() - 1; d < end && !sameRank; ++d)
        if (failed(rule.expectWhole(operand, "a contracted dimension of operands of different rank", d)))
          return failure();
    for (int64_t d = 0; d < leading; ++d)
      llvm::append_range(partial, rule.axes(left, d));
    result.append({rule.dim(left, -1), rule.dim(right, -1)});
    return success();
  }
  bool nt = form == ContractForm::NT;
  if (failed(rule.expectAlike(lhs, -1, rhs, nt ? 1 : 0)))
    return failure();
  llvm::append_range(partial, rule.axes(left, -1));
  for (int64_t d = 0; d < leading; ++d)
    result.push_back(rule.dim(left, d));
  result.push_back(rule.dim(right, nt ? 0 : 1));
  return success();
}

LogicalResult ContractOp::inferLayouts(Layouts in, Results &out) {
  unsigned pairs = getLhs().size();
  SmallVector<Attribute> ofPairs;
  LayoutRule rule(*this, in, ofPairs);
  if (failed(rule.expectNoPartial(2 * pairs)))
    return failure();
  for (unsigned i = 0; i < pairs; ++i) {
    SmallVector<DimAttr> dims;
    SmallVector<AxisAttr> partial;
    if (failed(pairLayout(rule, getForm(), i, pairs + i, dims, partial)) ||
        failed(rule.give(getResult(), dims, partial)))
      return failure();
    if (ofPairs[i] != ofPairs[0])
      return emitOpError("T3: all pairs must give one layout, got: ") << ofPairs[0] << " and " << ofPairs[i];
  }
  if (getAccumulator() && failed(rule.expectAccumulator(2 * pairs, 0)))
    return failure();
  out.push_back(ofPairs[0]);
  return success();
}

// T4 for the rows of operand x; gains and biases are split as the rows are: not at all.
static LogicalResult expectRows(LayoutRule &rule, unsigned x, ArrayRef<unsigned> vectors) {
  if (failed(rule.expectWhole(x, "a row", -1)))
    return failure();
  for (unsigned vector : vectors)
    if (failed(rule.expectAlike(x, -1, vector, 0)))
      return failure();
  return success();
}
static LogicalResult giveRowStatistic(LayoutRule &rule, Value statistic, LayoutAttr x) {
  return rule.give(statistic, {rule.dim(x, 0), rule.dim(x, 1)});
}

LogicalResult LayerNormOp::inferLayouts(Layouts in, Results &out) {
  LayoutRule rule(*this, in, out);
  if (failed(rule.expectNoPartial(3)) || failed(expectRows(rule, 0, {1, 2})))
    return failure();
  rule.give(rule.at(0));
  return success(succeeded(giveRowStatistic(rule, getMean(), rule.at(0))) &&
                 succeeded(giveRowStatistic(rule, getRstd(), rule.at(0))));
}
LogicalResult LayerNormGradOp::inferLayouts(Layouts in, Results &out) {
  LayoutRule rule(*this, in, out);
  LayoutAttr x = rule.at(1);
  if (failed(rule.expectNoPartial(5)) || failed(rule.expectOneLayout(0, 2)) || failed(expectRows(rule, 1, {2})) ||
      failed(rule.expectSameTokens(1, 3)) || failed(rule.expectSameTokens(1, 4)))
    return failure();
  rule.give(x);
  if (failed(givePositionSums(rule, getDgain(), x)) || failed(givePositionSums(rule, getDbias(), x)))
    return failure();
  unsigned next = 5;
  if (getGainAccumulator() && failed(rule.expectAccumulator(next++, 1)))
    return failure();
  return getBiasAccumulator() ? rule.expectAccumulator(next, 2) : success();
}
LogicalResult RmsNormOp::inferLayouts(Layouts in, Results &out) {
  LayoutRule rule(*this, in, out);
  if (failed(rule.expectNoPartial(2)) || failed(expectRows(rule, 0, {1})))
    return failure();
  rule.give(rule.at(0));
  return giveRowStatistic(rule, getRstd(), rule.at(0));
}
LogicalResult RmsNormGradOp::inferLayouts(Layouts in, Results &out) {
  LayoutRule rule(*this, in, out);
  LayoutAttr x = rule.at(1);
  if (failed(rule.expectNoPartial(4)) || failed(rule.expectOneLayout(0, 2)) || failed(expectRows(rule, 1, {2})) ||
      failed(rule.expectSameTokens(1, 3)))
    return failure();
  rule.give(x);
  if (failed(givePositionSums(rule, getDgain(), x)))
    return failure();
  return getGainAccumulator() ? rule.expectAccumulator(4, 1) : success();
}

LogicalResult RopeTableOp::inferLayouts(Layouts in, Results &out) {
  LayoutRule(*this, in, out).giveAny(2);
  return success();
}
LogicalResult RopeOp::inferLayouts(Layouts in, Results &out) {
  LayoutRule rule(*this, in, out);
  if (failed(rule.expectNoPartial(4)) || failed(rule.expectWhole(1, "a table")) ||
      failed(rule.expectWhole(2, "a table")) || failed(rule.expectSameTokens(0, 3)))
    return failure();
  rule.give(rule.at(0));
  return success();
}

// k and v hold all positions, and the samples and heads of q.
static LogicalResult expectKeys(LayoutRule &rule, unsigned q, ArrayRef<unsigned> keys) {
  for (unsigned kv : keys)
    if (failed(rule.expectAlike(q, 0, kv, 0)) || failed(rule.expectAlike(q, 2, kv, 2)) ||
        failed(rule.expectWhole(kv, "positions of k and v", 1)))
      return failure();
  return success();
}
LogicalResult AttentionOp::inferLayouts(Layouts in, Results &out) {
  LayoutRule rule(*this, in, out);
  LayoutAttr q = rule.at(0);
  if (failed(rule.expectNoPartial(3)) || failed(expectKeys(rule, 0, {1, 2})))
    return failure();
  rule.give(q);
  SmallVector<DimAttr> rows{rule.dim(q, 0), rule.dim(q, 2), rule.dim(q, 1)};
  return success(succeeded(rule.give(getRowMax(), rows)) && succeeded(rule.give(getRowSum(), rows)));
}
LogicalResult AttentionGradOp::inferLayouts(Layouts in, Results &out) {
  LayoutRule rule(*this, in, out); // dy, q, k, v, result, row max, row sum
  LayoutAttr q = rule.at(1), k = rule.at(2);
  if (failed(rule.expectNoPartial(7)) || failed(expectKeys(rule, 1, {2, 3})) || failed(rule.expectOneLayout(0, 2)))
    return failure();
  if (rule.at(4) != q)
    return emitOpError("T1: operands must have one layout, got: ") << q << " and " << rule.at(4);
  for (unsigned rows : {5u, 6u})
    if (failed(rule.expectAlike(1, 0, rows, 0)) || failed(rule.expectAlike(1, 2, rows, 1)) ||
        failed(rule.expectAlike(1, 1, rows, 2)))
      return failure();
  rule.give(q);
  SmallVector<DimAttr> keys{rule.dim(k, 0), rule.whole(), rule.dim(k, 2)};
  return success(succeeded(rule.give(getDk(), keys, rule.axes(q, 1))) &&
                 succeeded(rule.give(getDv(), keys, rule.axes(q, 1))));
}

LogicalResult GeluOp::inferLayouts(Layouts in, Results &out) { return elementwise(*this, in, out); }
LogicalResult GeluGradOp::inferLayouts(Layouts in, Results &out) { return elementwise(*this, in, out); }
LogicalResult SwigluOp::inferLayouts(Layouts in, Results &out) { return elementwise(*this, in, out); }
LogicalResult SwigluGradOp::inferLayouts(Layouts in, Results &out) { return elementwise(*this, in, out); }
LogicalResult DropoutOp::inferLayouts(Layouts in, Results &out) { return elementwise(*this, in, out); }

static LogicalResult expectLoss(LayoutRule &rule) {
  return success(succeeded(rule.expectNoPartial(3)) && succeeded(rule.expectWhole(0, "a row", -1)) &&
                 succeeded(rule.expectWhole(1, "the vocabulary's weight")) && succeeded(rule.expectSameTokens(0, 2)));
}
static LogicalResult giveLossSums(LayoutRule &rule, Value loss, Value count) {
  LayoutAttr x = rule.at(0);
  if (shapeOf(loss).size() == 2) // of each token
    return success(succeeded(rule.give(loss, {rule.dim(x, 0), rule.dim(x, 1)})) &&
                   succeeded(rule.give(count, {rule.dim(x, 0), rule.dim(x, 1)})));
  return success(succeeded(rule.give(loss, {rule.dim(x, 1)}, rule.axes(x, 0))) &&
                 succeeded(rule.give(count, {rule.dim(x, 1)}, rule.axes(x, 0))));
}
LogicalResult LinearCrossEntropyOp::inferLayouts(Layouts in, Results &out) {
  LayoutRule rule(*this, in, out);
  return success(succeeded(expectLoss(rule)) && succeeded(giveLossSums(rule, getLoss(), getCount())));
}
LogicalResult LinearCrossEntropyGradOp::inferLayouts(Layouts in, Results &out) {
  LayoutRule rule(*this, in, out);
  LayoutAttr x = rule.at(0);
  if (failed(expectLoss(rule)) || failed(giveLossSums(rule, getLoss(), getCount())))
    return failure();
  rule.give(x);
  if (failed(rule.give(getDweight(), {rule.whole(), rule.whole()}, join(rule.axes(x, 0), rule.axes(x, 1)))))
    return failure();
  // The loss and the count have an accumulator both or none.
  if (getLossAccumulator() && (failed(rule.expectAccumulator(3, 0)) || failed(rule.expectAccumulator(4, 1))))
    return failure();
  return getWeightAccumulator() ? rule.expectAccumulator(5, 3) : success();
}

LogicalResult FillOp::inferLayouts(Layouts in, Results &out) {
  LayoutRule(*this, in, out).giveAny(1);
  return success();
}
LogicalResult InitNormalOp::inferLayouts(Layouts in, Results &out) {
  LayoutRule(*this, in, out).giveAny(1);
  return success();
}

// Sums of tree nodes stay Partial until they are all-reduced; pending ones lie as the sum does, one after the other.
LogicalResult TreeMergeOp::inferLayouts(Layouts in, Results &out) {
  LayoutRule rule(*this, in, out);
  LayoutAttr value = rule.at(0), pending = rule.at(1);
  if (failed(rule.expectWhole(1, "the levels", 0)))
    return failure();
  if (pending.getDims().drop_front() != value.getDims() || pending.getPartial() != value.getPartial())
    return emitOpError("T6: pending sums have the layout of the sum, got: ") << pending << " for " << value;
  rule.give(value);
  rule.give(pending);
  return success();
}
LogicalResult PositionSumOp::inferLayouts(Layouts in, Results &out) {
  LayoutRule rule(*this, in, out);
  if (failed(rule.expectNoPartial(1)) || failed(rule.expectWhole(0, "position segments", 0)))
    return failure();
  return rule.give(getResult(), {rule.dim(rule.at(0), 1)});
}
static LogicalResult expectFinished(Operation *op, Layouts in, Results &out, StringRef what) {
  LayoutRule rule(op, in, out);
  if (failed(rule.expectNoPartial(in.size())))
    return failure();
  for (unsigned i = 0; i < in.size(); ++i)
    if (failed(rule.expectWhole(i, what)))
      return failure();
  return success();
}
LogicalResult StepLossOp::inferLayouts(Layouts in, Results &out) {
  return expectFinished(*this, in, out, "sums of the loss");
}
LogicalResult EvalLossOp::inferLayouts(Layouts in, Results &out) {
  return expectFinished(*this, in, out, "losses of tokens");
}
LogicalResult GradNormOp::inferLayouts(Layouts in, Results &out) {
  return expectFinished(*this, in, out, "a gradient");
}
LogicalResult AdamwOp::inferLayouts(Layouts in, Results &out) {
  LayoutRule rule(*this, in, out);
  if (failed(rule.expectNoPartial(4)) || failed(rule.expectOneLayout(0, 4, "T5")))
    return failure();
  for (unsigned i = 0; i < 3; ++i)
    rule.give(rule.at(0));
  return success();
}
LogicalResult ScheduleOp::inferLayouts(Layouts, Results &) { return success(); }
