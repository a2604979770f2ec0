// Reference meaning of linear_cross_entropy and its gradient form.
#include "dialects/train/ProductTerms.h"
#include "dialects/train/ReferenceTensors.h"
#include "dialects/train/Segments.h"

using namespace mlir;
using namespace recipe::train;

static LogicalResult expectLabels(Operation *op, const HostTensor *labels, int64_t vocabulary) {
  for (int32_t label : labels->i32)
    if (label >= vocabulary)
      return op->emitOpError("labels must be below the vocabulary's size, got: ") << label << " and " << vocabulary;
  return success();
}

namespace {

// One op's operands, and the logits of one token at a time.
template <class P> class Logits {
public:
  using F = typename P::F;

  Logits(const TokenShape &shape, int64_t vocabulary, int64_t segments, const ProductTerms &terms, Operands operands)
      : channels(shape.channels), vocabulary(vocabulary), ranges(paddedSegments(vocabulary, segments)), terms(terms),
        tokens(valuesOf<P>(operands[0])), columns(transposed(valuesOf<P>(operands[1]), vocabulary, channels)),
        labels(operands[2]->i32.data()) {}

  bool valid(int64_t token) const { return labels[token] >= 0; }
  int32_t label(int64_t token) const { return labels[token]; }

  void compute(P p, int64_t token) {
    row.assign(vocabulary, p.constant(0.0));
    terms.continueWith(p, 1, vocabulary, 0, channels, tokens + token * channels, 0, 1, columns.data(), row.data());
    std::vector<MaxSum<P>> parts;
    for (size_t r = 0; r < ranges.size(); r += 2) {
      const F *segment = row.data() + ranges[r];
      int64_t size = ranges[r + 1] - ranges[r];
      F max = rowMax(p, size, [&](int64_t v) { return segment[v]; });
      parts.push_back({max, rowSum(p, size, [&](int64_t v) { return softmaxTerm(p, segment[v], max); })});
    }
    total = treeOf(std::move(parts), [&](MaxSum<P> a, MaxSum<P> b) { return mergeMaxSum(p, a, b); });
  }

  F loss(P p, int64_t token) const { return tokenLoss(p, total, row[labels[token]]); }

  // Replaces the logits by their gradients.
  void differentiate(P p, int64_t token) {
    F reciprocal = p.div(p.constant(1.0), total.sum);
    for (int64_t v = 0; v < vocabulary; ++v) {
      row[v] = logitGradient(p, row[v], total.max, reciprocal, v == labels[token]);
      if (terms.bf16)
        row[v] = roundToBF16(p, row[v]);
    }
  }

  int64_t channels, vocabulary;
  SegmentList ranges;
  ProductTerms terms;
  std::vector<F> row;

private:
  const F *tokens;
  std::vector<F> columns; // of the transposed weight
  const int32_t *labels;
  MaxSum<P> total{};
};

// Writes loss and count; `losses` holds one term for each token.
template <class P, class Op>
void sumLosses(P p, Op op, const TokenShape &shape, const Logits<P> &logits, const std::vector<typename P::F> &losses,
               const HostTensor *lossAccumulator, const HostTensor *countAccumulator, Results results) {
  sumTokens(p, shape, 1, op.getBatchNodes(), lossAccumulator, allocate<P>(results[0], op.getLoss()),
            [&](int64_t token, int64_t, auto acc) { return p.add(acc, losses[token]); });
  sumTokens(p, shape, 1, op.getBatchNodes(), countAccumulator, allocate<P>(results[1], op.getCount()),
            [&](int64_t token, int64_t, auto acc) { return p.add(acc, p.constant(logits.valid(token) ? 1.0 : 0.0)); });
}

} // namespace

LogicalResult LinearCrossEntropyOp::evaluate(ReferenceContext &context, Operands operands, Results results) {
  TokenShape shape(getX());
  int64_t vocabulary = shapeOf(getWeight())[0];
  if (failed(expectLabels(*this, operands[2], vocabulary)))
    return failure();
  return inMode(context, [&](auto p) {
    using P = decltype(p);
    Logits<P> logits(shape, vocabulary, getVocabSegments(), ProductTerms(*this, getX()), operands);
    std::vector<typename P::F> losses(shape.tokens());
    for (int64_t token = 0; token < shape.tokens(); ++token)
      if (logits.valid(token)) {
        logits.compute(p, token);
        losses[token] = logits.loss(p, token);
      }
    if (shapeOf(getLoss()).size() == 1)
      return sumLosses(p, *this, shape, logits, losses, nullptr, nullptr, results);
    std::copy(losses.begin(), losses.end(), allocate<P>(results[0], getLoss()));
    auto *counts = allocate<P>(results[1], getCount());
    for (int64_t token = 0; token < shape.tokens(); ++token)
      counts[token] = p.constant(logits.valid(token) ? 1.0 : 0.0);
  });
}

LogicalResult LinearCrossEntropyGradOp::evaluate(ReferenceContext &context, Operands operands, Results results) {
  TokenShape shape(getX());
  int64_t vocabulary = shapeOf(getWeight())[0], channels = shape.channels;
  if (failed(expectLabels(*this, operands[2], vocabulary)))
    return failure();
  return inMode(context, [&](auto p) {
    using P = decltype(p);
    using F = typename P::F;
    const F *x = valuesOf<P>(operands[0]), *weight = valuesOf<P>(operands[1]);
    ProductTerms terms(*this, getX());
    Logits<P> logits(shape, vocabulary, getVocabSegments(), terms, operands);
    std::vector<F> losses(shape.tokens()), rows(kTermsOfBlock * vocabulary); // gradients of the logits of some tokens
    F *dx = allocate<P>(results[2], getDx());
    // Tokens that do not count take part in all chains.
    auto differentiate = [&](int64_t token, F *row) {
      logits.row.assign(vocabulary, p.constant(0.0));
      if (logits.valid(token)) {
        logits.compute(p, token);
        losses[token] = logits.loss(p, token);
        logits.differentiate(p, token);
      }
      std::copy(logits.row.begin(), logits.row.end(), row);
    };
    auto gradientOfX = [&](int64_t token, const F *row) {
      std::vector<std::vector<F>> parts;
      for (size_t r = 0; r < logits.ranges.size(); r += 2) {
        std::vector<F> part(channels);
        terms.continueWith(p, 1, channels, logits.ranges[r], logits.ranges[r + 1], row, 0, 1, weight, part.data());
        parts.push_back(std::move(part));
      }
      std::vector<F> sum = treeSum(p, std::move(parts));
      std::copy(sum.begin(), sum.end(), dx + token * channels);
    };
    int64_t nodes = getBatchNodes(), tokensPerNode = shape.tokens() / nodes;
    std::vector<std::vector<F>> dweights;
    for (int64_t node = 0; node < nodes; ++node) {
      std::vector<F> dweight = startOf<P>(operandOf(*this, operands, 5), vocabulary * channels);
      for (int64_t token = node * tokensPerNode, next; token < (node + 1) * tokensPerNode; token = next) {
        // A block, which ends with its sample.
        next = std::min(token + kTermsOfBlock, (token / shape.positions + 1) * shape.positions);
        for (int64_t t = token; t < next; ++t) {
          F *row = rows.data() + (t - token) * vocabulary;
          differentiate(t, row);
          gradientOfX(t, row);
        }
        terms.continueWith(p, vocabulary, channels, 0, next - token, rows.data(), 1, vocabulary, x + token * channels,
                           dweight.data());
      }
      dweights.push_back(std::move(dweight));
    }
    std::vector<F> sum = treeSum(p, std::move(dweights));
    std::copy(sum.begin(), sum.end(), allocate<P>(results[3], getDweight()));
    sumLosses(p, *this, shape, logits, losses, operandOf(*this, operands, 3), operandOf(*this, operands, 4), results);
  });
}
