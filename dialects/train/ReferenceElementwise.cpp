// Reference meaning of elementwise ops, dropout and rope.
#include "dialects/train/ReferenceTensors.h"

using namespace mlir;
using namespace recipe::train;

LogicalResult AddOp::evaluate(ReferenceContext &context, Operands operands, Results results) {
  return inMode(context, [&](auto p) {
    using P = decltype(p);
    auto *lhs = valuesOf<P>(operands[0]), *rhs = valuesOf<P>(operands[1]);
    auto *y = allocate<P>(results[0], getResult());
    for (int64_t i = 0, n = results[0].size(); i < n; ++i)
      y[i] = p.add(lhs[i], rhs[i]);
  });
}

LogicalResult CastOp::evaluate(ReferenceContext &context, Operands operands, Results results) {
  bool narrows = isBF16(getResult());
  return inMode(context, [&](auto p) {
    using P = decltype(p);
    auto *x = valuesOf<P>(operands[0]);
    auto *y = allocate<P>(results[0], getResult());
    for (int64_t i = 0, n = results[0].size(); i < n; ++i)
      y[i] = narrows ? roundToBF16(p, x[i]) : x[i];
  });
}

LogicalResult BiasAddOp::evaluate(ReferenceContext &context, Operands operands, Results results) {
  return inMode(context, [&](auto p) {
    using P = decltype(p);
    auto *x = valuesOf<P>(operands[0]), *bias = valuesOf<P>(operands[1]);
    auto *y = allocate<P>(results[0], getResult());
    int64_t channels = operands[1]->size();
    for (int64_t i = 0, n = results[0].size(); i < n; ++i)
      y[i] = p.add(x[i], bias[i % channels]);
  });
}

LogicalResult GeluOp::evaluate(ReferenceContext &context, Operands operands, Results results) {
  return inMode(context, [&](auto p) {
    using P = decltype(p);
    auto *x = valuesOf<P>(operands[0]);
    auto *y = allocate<P>(results[0], getResult());
    for (int64_t i = 0, n = results[0].size(); i < n; ++i)
      y[i] = geluOf(p, x[i]);
  });
}

LogicalResult GeluGradOp::evaluate(ReferenceContext &context, Operands operands, Results results) {
  return inMode(context, [&](auto p) {
    using P = decltype(p);
    auto *dy = valuesOf<P>(operands[0]), *x = valuesOf<P>(operands[1]);
    auto *dx = allocate<P>(results[0], getDx());
    for (int64_t i = 0, n = results[0].size(); i < n; ++i)
      dx[i] = geluGradOf(p, dy[i], x[i]);
  });
}

LogicalResult SwigluOp::evaluate(ReferenceContext &context, Operands operands, Results results) {
  return inMode(context, [&](auto p) {
    using P = decltype(p);
    auto *gate = valuesOf<P>(operands[0]), *up = valuesOf<P>(operands[1]);
    auto *y = allocate<P>(results[0], getResult());
    for (int64_t i = 0, n = results[0].size(); i < n; ++i)
      y[i] = swigluOf(p, gate[i], up[i]);
  });
}

LogicalResult SwigluGradOp::evaluate(ReferenceContext &context, Operands operands, Results results) {
  return inMode(context, [&](auto p) {
    using P = decltype(p);
    auto *dy = valuesOf<P>(operands[0]), *gate = valuesOf<P>(operands[1]), *up = valuesOf<P>(operands[2]);
    auto *dgate = allocate<P>(results[0], getDgate()), *dup = allocate<P>(results[1], getDup());
    for (int64_t i = 0, n = results[0].size(); i < n; ++i) {
      SwigluGradients<P> d = swigluGradOf(p, dy[i], gate[i], up[i]);
      dgate[i] = d.dgate;
      dup[i] = d.dup;
    }
  });
}

LogicalResult DropoutOp::evaluate(ReferenceContext &context, Operands operands, Results results) {
  double probability = getP().convertToDouble();
  if (failed(expectParams(*this, context)))
    return failure();
  TokenShape shape(getX());
  uint64_t first = uint64_t(context.params->first_sample) * shape.positions * shape.channels;
  return inMode(context, [&](auto p) {
    using P = decltype(p);
    auto *x = valuesOf<P>(operands[0]);
    auto *y = allocate<P>(results[0], getResult());
    auto scale = p.constant(dropoutScale(probability));
    uint32_t threshold = dropoutThreshold(probability);
    Words<P> key =
        dropoutKey(p, wordsOf<P>(context.params->seed), uint32_t(getDropoutId()), uint32_t(context.params->step));
    for (int64_t i = 0, n = results[0].size(); i < n; ++i)
      y[i] = applyDropout(p, dropoutKeep(p, key, wordsOf<P>(first + i), threshold), x[i], scale);
  });
}

LogicalResult FillOp::evaluate(ReferenceContext &context, Operands operands, Results results) {
  return inMode(context, [&](auto p) {
    auto *y = allocate<decltype(p)>(results[0], getResult());
    std::fill(y, y + results[0].size(), p.constant(getValue().convertToDouble()));
  });
}

// f32 values in both modes: the tables are constants of the step.
LogicalResult RopeTableOp::evaluate(ReferenceContext &context, Operands operands, Results results) {
  return inMode(context, [&](auto p) {
    using P = decltype(p);
    auto *cosine = allocate<P>(results[0], getCosine()), *sine = allocate<P>(results[1], getSine());
    ArrayRef<double> frequencies = getInvFreq();
    double factor = getAttentionFactor().convertToDouble();
    int64_t pairs = frequencies.size();
    for (int64_t position = 0; position < shapeOf(getCosine())[0]; ++position)
      for (int64_t i = 0; i < pairs; ++i) {
        double angle = double(position) * frequencies[i];
        cosine[position * pairs + i] = static_cast<float>(std::cos(angle) * factor);
        sine[position * pairs + i] = static_cast<float>(std::sin(angle) * factor);
      }
  });
}

LogicalResult RopeOp::evaluate(ReferenceContext &context, Operands operands, Results results) {
  TokenShape shape(getX());
  int64_t heads = getHeads(), size = shape.channels / heads, pairs = size / 2, rows = shapeOf(getCosine())[0];
  const int32_t *positions = operands[3]->i32.data();
  for (int64_t token = 0; token < shape.tokens(); ++token)
    if (positions[token] < 0 || positions[token] >= rows)
      return emitOpError("positions must lie in the table, got: ") << positions[token] << " and " << rows << " rows";
  return inMode(context, [&](auto p) {
    using P = decltype(p);
    auto *x = valuesOf<P>(operands[0]), *cosine = valuesOf<P>(operands[1]), *sine = valuesOf<P>(operands[2]);
    auto *y = allocate<P>(results[0], getResult());
    for (int64_t token = 0; token < shape.tokens(); ++token)
      for (int64_t head = 0; head < heads; ++head)
        for (int64_t i = 0; i < pairs; ++i) {
          int64_t a = token * shape.channels + head * size + i, b = a + pairs, entry = positions[token] * pairs + i;
          RopePair<P> rotated = getInverse() ? ropeInverse(p, x[a], x[b], cosine[entry], sine[entry])
                                             : ropeForward(p, x[a], x[b], cosine[entry], sine[entry]);
          y[a] = rotated.first;
          y[b] = rotated.second;
        }
  });
}
