// Reference meaning of norms, look-ups and sums over tokens.
#include "dialects/train/ReferenceTensors.h"

using namespace mlir;
using namespace recipe::train;

LogicalResult LayerNormOp::evaluate(ReferenceContext &context, Operands operands, Results results) {
  TokenShape shape(getX());
  int64_t channels = shape.channels;
  return inMode(context, [&](auto p) {
    using P = decltype(p);
    auto *gain = valuesOf<P>(operands[1]), *bias = valuesOf<P>(operands[2]);
    auto *y = allocate<P>(results[0], getResult());
    auto *means = allocate<P>(results[1], getMean()), *rstds = allocate<P>(results[2], getRstd());
    auto size = p.constant(double(channels)), eps = p.constant(getEps().convertToDouble());
    for (int64_t token = 0; token < shape.tokens(); ++token) {
      auto *x = valuesOf<P>(operands[0]) + token * channels;
      auto mean = p.div(rowSum(p, channels, [&](int64_t c) { return x[c]; }), size);
      auto centered = [&](int64_t c) { return p.sub(x[c], mean); };
      auto rstd = reciprocalStd(p, rowDot(p, channels, centered, centered), size, eps);
      for (int64_t c = 0; c < channels; ++c)
        y[token * channels + c] = layerNormOutput(p, centered(c), rstd, gain[c], bias[c]);
      means[token] = mean;
      rstds[token] = rstd;
    }
  });
}

LogicalResult LayerNormGradOp::evaluate(ReferenceContext &context, Operands operands, Results results) {
  TokenShape shape(getX());
  int64_t channels = shape.channels;
  return inMode(context, [&](auto p) {
    using P = decltype(p);
    auto *dy = valuesOf<P>(operands[0]), *x = valuesOf<P>(operands[1]), *gain = valuesOf<P>(operands[2]);
    auto *mean = valuesOf<P>(operands[3]), *rstd = valuesOf<P>(operands[4]);
    auto size = p.constant(double(channels));
    auto xhatAt = [&](int64_t token, int64_t c) {
      return normXhat(p, x[token * channels + c], mean[token], rstd[token]);
    };
    auto *dx = allocate<P>(results[0], getDx());
    for (int64_t token = 0; token < shape.tokens(); ++token) {
      auto xhat = [&](int64_t c) { return xhatAt(token, c); };
      auto h = [&](int64_t c) { return p.mul(dy[token * channels + c], gain[c]); };
      auto c1 = p.div(rowSum(p, channels, h), size), c2 = p.div(rowDot(p, channels, h, xhat), size);
      for (int64_t c = 0; c < channels; ++c)
        dx[token * channels + c] = layerNormDx(p, h(c), xhat(c), c1, c2, rstd[token]);
    }
    sumTokens(
        p, shape, channels, getBatchNodes(), operandOf(*this, operands, 5), allocate<P>(results[1], getDgain()),
        [&](int64_t token, int64_t c, auto acc) { return p.fma(dy[token * channels + c], xhatAt(token, c), acc); });
    sumTokens(p, shape, channels, getBatchNodes(), operandOf(*this, operands, 6), allocate<P>(results[2], getDbias()),
              [&](int64_t token, int64_t c, auto acc) { return p.add(acc, dy[token * channels + c]); });
  });
}

LogicalResult RmsNormOp::evaluate(ReferenceContext &context, Operands operands, Results results) {
  TokenShape shape(getX());
  int64_t channels = shape.channels;
  return inMode(context, [&](auto p) {
    using P = decltype(p);
    auto *gain = valuesOf<P>(operands[1]);
    auto *y = allocate<P>(results[0], getResult()), *rstds = allocate<P>(results[1], getRstd());
    auto size = p.constant(double(channels)), eps = p.constant(getEps().convertToDouble());
    for (int64_t token = 0; token < shape.tokens(); ++token) {
      auto *x = valuesOf<P>(operands[0]) + token * channels;
      auto at = [&](int64_t c) { return x[c]; };
      auto rstd = reciprocalStd(p, rowDot(p, channels, at, at), size, eps);
      for (int64_t c = 0; c < channels; ++c)
        y[token * channels + c] = rmsNormOutput(p, x[c], rstd, gain[c]);
      rstds[token] = rstd;
    }
  });
}

LogicalResult RmsNormGradOp::evaluate(ReferenceContext &context, Operands operands, Results results) {
  TokenShape shape(getX());
  int64_t channels = shape.channels;
  return inMode(context, [&](auto p) {
    using P = decltype(p);
    auto *dy = valuesOf<P>(operands[0]), *x = valuesOf<P>(operands[1]), *gain = valuesOf<P>(operands[2]);
    auto *rstd = valuesOf<P>(operands[3]);
    auto size = p.constant(double(channels));
    auto xhatAt = [&](int64_t token, int64_t c) { return rmsNormXhat(p, x[token * channels + c], rstd[token]); };
    auto *dx = allocate<P>(results[0], getDx());
    for (int64_t token = 0; token < shape.tokens(); ++token) {
      auto xhat = [&](int64_t c) { return xhatAt(token, c); };
      auto h = [&](int64_t c) { return p.mul(dy[token * channels + c], gain[c]); };
      auto c2 = p.div(rowDot(p, channels, h, xhat), size);
      for (int64_t c = 0; c < channels; ++c)
        dx[token * channels + c] = rmsNormDx(p, h(c), xhat(c), c2, rstd[token]);
    }
    sumTokens(
        p, shape, channels, getBatchNodes(), operandOf(*this, operands, 4), allocate<P>(results[1], getDgain()),
        [&](int64_t token, int64_t c, auto acc) { return p.fma(dy[token * channels + c], xhatAt(token, c), acc); });
  });
}

LogicalResult BiasGradOp::evaluate(ReferenceContext &context, Operands operands, Results results) {
  TokenShape shape(getDy());
  return inMode(context, [&](auto p) {
    using P = decltype(p);
    auto *dy = valuesOf<P>(operands[0]);
    sumTokens(p, shape, shape.channels, getBatchNodes(), operandOf(*this, operands, 1),
              allocate<P>(results[0], getResult()),
              [&](int64_t token, int64_t c, auto acc) { return p.add(acc, dy[token * shape.channels + c]); });
  });
}

LogicalResult PositionSumOp::evaluate(ReferenceContext &context, Operands operands, Results results) {
  return inMode(context, [&](auto p) {
    using P = decltype(p);
    auto *x = valuesOf<P>(operands[0]);
    auto *y = allocate<P>(results[0], getResult());
    int64_t channels = results[0].size();
    for (int64_t c = 0; c < channels; ++c) {
      typename P::F rows[kPositionSegments];
      for (int64_t s = 0; s < kPositionSegments; ++s)
        rows[s] = x[s * channels + c];
      y[c] = treeSum(p, rows, kPositionSegments);
    }
  });
}

static LogicalResult expectIds(Operation *op, const HostTensor *ids, int64_t rows) {
  for (int32_t id : ids->i32)
    if (id < 0 || id >= rows)
      return op->emitOpError("ids must be rows of the table, got: ") << id << " and " << rows << " rows";
  return success();
}

LogicalResult EmbeddingOp::evaluate(ReferenceContext &context, Operands operands, Results results) {
  int64_t rows = shapeOf(getTable())[0], channels = shapeOf(getTable())[1];
  if (failed(expectIds(*this, operands[0], rows)))
    return failure();
  return inMode(context, [&](auto p) {
    using P = decltype(p);
    auto *table = valuesOf<P>(operands[1]);
    auto *y = allocate<P>(results[0], getResult());
    for (int32_t id : operands[0]->i32)
      y = std::copy_n(table + id * channels, channels, y);
  });
}

LogicalResult EmbeddingGradOp::evaluate(ReferenceContext &context, Operands operands, Results results) {
  int64_t rows = shapeOf(getResult())[0], channels = shapeOf(getResult())[1];
  if (failed(expectIds(*this, operands[1], rows)))
    return failure();
  return inMode(context, [&](auto p) {
    using P = decltype(p);
    using F = typename P::F;
    const F *dy = valuesOf<P>(operands[0]);
    int64_t nodes = getBatchNodes(), tokensPerNode = operands[1]->size() / nodes;
    std::vector<std::vector<F>> chains;
    for (int64_t node = 0; node < nodes; ++node) {
      std::vector<F> table = startOf<P>(operandOf(*this, operands, 2), rows * channels);
      for (int64_t token = node * tokensPerNode; token < (node + 1) * tokensPerNode; ++token) {
        F *row = table.data() + operands[1]->i32[token] * channels;
        for (int64_t c = 0; c < channels; ++c)
          row[c] = p.add(row[c], dy[token * channels + c]);
      }
      chains.push_back(std::move(table));
    }
    std::vector<F> sum = treeSum(p, std::move(chains));
    std::copy(sum.begin(), sum.end(), allocate<P>(results[0], getResult()));
  });
}
