// Attention and the loss against definitions of their own, over odd sizes.
#include "dialects/train/Formulas.h"
#include "dialects/train/Policies.h"
#include "tests/numerics/Expected.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace recipe;
using namespace recipe::test;

namespace {

struct AttentionCase {
  int64_t samples, positions, heads, kvHeads, size;
  double dropout;
};
const AttentionCase attentionCases[] = {{1, 1, 1, 1, 1, 0},   {2, 7, 3, 3, 5, 0},     {2, 19, 4, 2, 3, 0},
                                        {1, 33, 6, 2, 17, 0}, {2, 19, 4, 2, 3, 0.25}, {1, 67, 3, 1, 4, 0.5}};
constexpr double attentionScale = 0.375;
constexpr int64_t dropoutId = 23;

// What a weight is multiplied with by dropout.
double keepFactor(const AttentionCase &c, const rcp_step_params_v1 &params, int64_t sample, int64_t head, int64_t i,
                  int64_t j) {
  if (c.dropout == 0)
    return 1;
  using P = train::ExactPolicy;
  P p;
  uint64_t row = ((params.first_sample + sample) * c.heads + head) * c.positions + i;
  uint64_t counter = row * ((c.positions + 31) / 32 * 32) + j / 32 * 32 + j % 16; // shared with key j + 16 or j - 16
  auto key = train::dropoutKey(p, train::Words<P>{uint32_t(params.seed), uint32_t(params.seed >> 32)}, dropoutId,
                               uint32_t(params.step));
  auto words = train::threefry2x32(p, key, train::Words<P>{uint32_t(counter), uint32_t(counter >> 32)});
  uint32_t word = j / 16 % 2 ? words.w1 : words.w0;
  return word >= c.dropout * 4294967296.0 ? 1 / (1 - c.dropout) : 0;
}

// One row of weights: softmax of the scores, the error scale of its exponents, and the row's maximum and sum.
struct SoftmaxRow {
  std::vector<double> scores, probabilities, conditions;
  double max = -INFINITY, sum = 0, scoreTerms = 0;
};

class AttentionReference {
public:
  AttentionReference(const AttentionCase &c, Values &inputs)
      : c(c), q(inputs["q"].f64.data()), k(inputs["k"].f64.data()), v(inputs["v"].f64.data()) {}

  int64_t query(int64_t b, int64_t h, int64_t i) const { return ((b * c.positions + i) * c.heads + h) * c.size; }
  int64_t key(int64_t b, int64_t h, int64_t j) const {
    return ((b * c.positions + j) * c.kvHeads + h / (c.heads / c.kvHeads)) * c.size;
  }
  int64_t row(int64_t b, int64_t h, int64_t i) const { return (b * c.heads + h) * c.positions + i; }

  SoftmaxRow softmax(int64_t b, int64_t h, int64_t i) const {
    SoftmaxRow row;
    std::vector<double> terms(i + 1);
    for (int64_t j = 0; j <= i; ++j) {
      double score = 0;
      for (int64_t e = 0; e < c.size; ++e) {
        double term = q[query(b, h, i) + e] * k[key(b, h, j) + e] * attentionScale;
        score += term;
        terms[j] += std::fabs(term);
      }
      row.scores.push_back(score);
      row.max = std::max(row.max, score);
      row.scoreTerms = std::max(row.scoreTerms, terms[j]);
    }
    for (double score : row.scores)
      row.sum += std::exp(score - row.max);
    for (int64_t j = 0; j <= i; ++j) {
      row.probabilities.push_back(std::exp(row.scores[j] - row.max) / row.sum);
      row.conditions.push_back(1 + 2 * row.scoreTerms);
    }
    return row;
  }

  const AttentionCase &c;
  const double *q, *k, *v;
};

Values attentionInputs(const AttentionCase &c) {
  Draws draws(1);
  return {{"q", draws.tensor({c.samples, c.positions, c.heads * c.size}, -2, 2)},
          {"k", draws.tensor({c.samples, c.positions, c.kvHeads * c.size}, -2, 2)},
          {"v", draws.tensor({c.samples, c.positions, c.kvHeads * c.size})}};
}

rcp_step_params_v1 attentionParams() {
  rcp_step_params_v1 params{};
  params.seed = 0x123456789abcdef0;
  params.step = 12;
  params.first_sample = 3;
  return params;
}

template <class Visit> void forEachRow(const AttentionCase &c, Visit visit) {
  for (int64_t b = 0; b < c.samples; ++b)
    for (int64_t h = 0; h < c.heads; ++h)
      for (int64_t i = 0; i < c.positions; ++i)
        visit(b, h, i);
}

TEST(Meaning, attention) {
  for (const AttentionCase &c : attentionCases) {
    Values inputs = attentionInputs(c);
    rcp_step_params_v1 params = attentionParams();
    OpGraph ops;
    OpBuilder &b = ops.builder;
    auto rowType = ops.f32({c.samples, c.heads, c.positions});
    auto op = train::AttentionOp::create(b, ops.loc, ops.f32(inputs["q"].shape), rowType, rowType,
                                         ops.input("q", inputs["q"].shape), ops.input("k", inputs["k"].shape),
                                         ops.input("v", inputs["v"].shape), b.getI64IntegerAttr(c.heads),
                                         b.getI64IntegerAttr(c.kvHeads), b.getF64FloatAttr(attentionScale),
                                         b.getF64FloatAttr(c.dropout), b.getI64IntegerAttr(dropoutId));
    ops.output("o", op.getResult());
    ops.output("max", op.getRowMax());
    ops.output("sum", op.getRowSum());

    AttentionReference reference(c, inputs);
    int64_t chain = std::max(c.positions, c.size);
    Expected o(inputs["q"].shape, chain), max(rowType.getShape(), c.size), sum(rowType.getShape(), chain);
    forEachRow(c, [&](int64_t sample, int64_t head, int64_t i) {
      SoftmaxRow row = reference.softmax(sample, head, i);
      max.set(reference.row(sample, head, i), row.max, row.scoreTerms);
      sum.set(reference.row(sample, head, i), row.sum, row.sum * row.conditions[0]);
      for (int64_t j = 0; j <= i; ++j) {
        double w = row.probabilities[j] * keepFactor(c, params, sample, head, i, j);
        for (int64_t e = 0; e < c.size; ++e) {
          double term = w * reference.v[reference.key(sample, head, j) + e];
          o.add(reference.query(sample, head, i) + e, term, std::fabs(term) * 2 * row.conditions[j]);
        }
      }
    });
    expectMeaning(ops, inputs, {{"o", o}, {"max", max}, {"sum", sum}}, params);
  }
}

// Bit j: key j is kept in row i; computed from docs/numerics.md with another implementation of the generator.
// Keys 16..31 have the second words of the draws of keys 0..15, key 32 begins other draws.
TEST(Meaning, attentionKeepsKnownKeys) {
  constexpr int64_t positions = 40;
  const std::pair<int64_t, uint64_t> kept[] = {{0, 0x0000000001},  {15, 0x00000052ec}, {16, 0x0000004939},
                                               {31, 0x00cc0a2f8f}, {32, 0x018e98b792}, {39, 0x46ec1c21d3}};
  Values inputs{{"q", zeros({1, positions, positions})}, {"k", zeros({1, positions, positions})}};
  HostTensor identity = zeros({1, positions, positions});
  for (int64_t j = 0; j < positions; ++j)
    identity.f64[j * positions + j] = 1;
  inputs["v"] = identity;
  OpGraph ops;
  OpBuilder &b = ops.builder;
  auto in = [&](StringRef name) { return ops.input(name, inputs[name.str()].shape); };
  auto rowType = ops.f32({1, 1, positions});
  auto op =
      train::AttentionOp::create(b, ops.loc, ops.f32(identity.shape), rowType, rowType, in("q"), in("k"), in("v"),
                                 b.getI64IntegerAttr(1), b.getI64IntegerAttr(1), b.getF64FloatAttr(attentionScale),
                                 b.getF64FloatAttr(0.5), b.getI64IntegerAttr(dropoutId));
  ops.output("o", op.getResult());
  Values results = run(ops, "forward", train::ReferenceMode::Fp64, inputs, attentionParams());
  for (auto [i, expected] : kept) {
    uint64_t mask = 0;
    for (int64_t j = 0; j < positions; ++j)
      mask |= uint64_t(at(results["o"], i * positions + j) != 0) << j;
    EXPECT_EQ(mask, expected) << "row " << i;
  }
}

TEST(Meaning, attentionGradient) {
  for (const AttentionCase &c : attentionCases) {
    Values inputs = attentionInputs(c);
    rcp_step_params_v1 params = attentionParams();
    AttentionReference reference(c, inputs);
    // The forward results are operands: any values do, as long as they are floats.
    Draws draws(2);
    SmallVector<int64_t> rowShape{c.samples, c.heads, c.positions};
    inputs["dy"] = draws.tensor(inputs["q"].shape);
    inputs["o"] = draws.tensor(inputs["q"].shape);
    inputs["max"] = zeros(rowShape);
    inputs["sum"] = zeros(rowShape);
    forEachRow(c, [&](int64_t sample, int64_t head, int64_t i) {
      SoftmaxRow row = reference.softmax(sample, head, i);
      inputs["max"].f64[reference.row(sample, head, i)] = float(row.max);
      inputs["sum"].f64[reference.row(sample, head, i)] = float(row.sum);
    });
    OpGraph ops;
    OpBuilder &b = ops.builder;
    auto in = [&](StringRef name) { return ops.input(name, inputs[name.str()].shape); };
    auto op = train::AttentionGradOp::create(b, ops.loc, ops.f32(inputs["q"].shape), ops.f32(inputs["k"].shape),
                                             ops.f32(inputs["k"].shape), in("dy"), in("q"), in("k"), in("v"), in("o"),
                                             in("max"), in("sum"), b.getI64IntegerAttr(c.heads),
                                             b.getI64IntegerAttr(c.kvHeads), b.getF64FloatAttr(attentionScale),
                                             b.getF64FloatAttr(c.dropout), b.getI64IntegerAttr(dropoutId));
    ops.output("dq", op.getDq());
    ops.output("dk", op.getDk());
    ops.output("dv", op.getDv());

    int64_t chain = std::max(c.positions, c.size);
    Expected dq(inputs["q"].shape, chain), dk(inputs["k"].shape, chain), dv(inputs["k"].shape, chain);
    const double *dy = inputs["dy"].f64.data(), *o = inputs["o"].f64.data();
    forEachRow(c, [&](int64_t sample, int64_t head, int64_t i) {
      SoftmaxRow row = reference.softmax(sample, head, i);
      int64_t at = reference.query(sample, head, i), stat = reference.row(sample, head, i);
      double delta = 0, deltaTerms = 0;
      for (int64_t e = 0; e < c.size; ++e) {
        delta += dy[at + e] * o[at + e];
        deltaTerms += std::fabs(dy[at + e] * o[at + e]);
      }
      for (int64_t j = 0; j <= i; ++j) {
        int64_t key = reference.key(sample, head, j);
        double keep = keepFactor(c, params, sample, head, i, j);
        double p = std::exp(row.scores[j] - inputs["max"].f64[stat]) / inputs["sum"].f64[stat], w = p * keep, u = 0,
               uTerms = 0;
        for (int64_t e = 0; e < c.size; ++e) {
          u += keep * dy[at + e] * reference.v[key + e];
          uTerms += std::fabs(keep * dy[at + e] * reference.v[key + e]);
        }
        double ds = p * (u - delta) * attentionScale,
               dsTerms = p * (uTerms + deltaTerms) * attentionScale * 2 * row.conditions[j];
        for (int64_t e = 0; e < c.size; ++e) {
          double k = reference.k[key + e], q = reference.q[at + e], g = dy[at + e];
          dq.add(at + e, ds * k, dsTerms * std::fabs(k));
          dk.add(key + e, ds * q, dsTerms * std::fabs(q));
          dv.add(key + e, w * g, std::fabs(w * g) * 2 * row.conditions[j]);
        }
      }
    });
    expectMeaning(ops, inputs, {{"dq", dq}, {"dk", dk}, {"dv", dv}}, params);
  }
}

struct LossCase {
  int64_t samples, positions, channels, vocabulary, segments, nodes;
};
const LossCase lossCases[] = {{1, 1, 1, 1, 1, 1},    {2, 5, 7, 37, 1, 1},   {2, 5, 7, 37, 8, 1},
                              {4, 9, 33, 131, 8, 4}, {4, 9, 3, 259, 16, 2}, {1, 17, 129, 5, 4, 1}};

TEST(Meaning, linearCrossEntropy) {
  for (const LossCase &c : lossCases) {
    Draws draws(1);
    SmallVector<int64_t> xShape{c.samples, c.positions, c.channels}, wShape{c.vocabulary, c.channels};
    Values inputs{{"x", draws.tensor(xShape, -2, 2)},
                  {"weight", draws.tensor(wShape)},
                  {"labels", draws.ids({c.samples, c.positions}, int32_t(c.vocabulary), 5)}};
    OpGraph ops;
    Value x = ops.input("x", xShape), weight = ops.input("weight", wShape);
    Value labels = ops.input("labels", {c.samples, c.positions}, true);
    auto forward = train::LinearCrossEntropyOp::create(ops.builder, ops.loc, ops.f32({8}), ops.f32({8}), x, weight,
                                                       labels, c.segments, c.nodes);
    auto grad = train::LinearCrossEntropyGradOp::create(
        ops.builder, ops.loc, ops.f32({8}), ops.f32({8}), ops.f32(xShape), ops.f32(wShape), x, weight, labels, Value(),
        Value(), Value(), ops.builder.getI64IntegerAttr(c.segments), ops.builder.getI64IntegerAttr(c.nodes));
    ops.output("loss", forward.getLoss());
    ops.output("count", forward.getCount());
    ops.output("grad_loss", grad.getLoss());
    ops.output("grad_count", grad.getCount());
    ops.output("dx", grad.getDx());
    ops.output("dweight", grad.getDweight());

    int64_t tokens = c.samples * c.positions, length = (c.positions + 7) / 8;
    int64_t chain = std::max({tokens, c.channels, c.vocabulary});
    Expected loss({8}, chain), count({8}, 1), dx(xShape, chain), dweight(wShape, chain);
    const double *xs = inputs["x"].f64.data(), *ws = inputs["weight"].f64.data();
    for (int64_t token = 0; token < tokens; ++token) {
      int32_t label = inputs["labels"].i32[token];
      if (label < 0)
        continue;
      std::vector<double> logits(c.vocabulary);
      double terms = 0, sum = 0, max = -INFINITY;
      for (int64_t v = 0; v < c.vocabulary; ++v) {
        double magnitude = 0;
        for (int64_t i = 0; i < c.channels; ++i) {
          logits[v] += xs[token * c.channels + i] * ws[v * c.channels + i];
          magnitude += std::fabs(xs[token * c.channels + i] * ws[v * c.channels + i]);
        }
        terms = std::max(terms, magnitude);
        max = std::max(max, logits[v]);
      }
      for (double logit : logits)
        sum += std::exp(logit - max);
      loss.add(token % c.positions / length, max + std::log(sum) - logits[label], 2 * terms + std::log(sum) + 1);
      count.add(token % c.positions / length, 1, 0);
      for (int64_t v = 0; v < c.vocabulary; ++v) {
        double p = std::exp(logits[v] - max) / sum, d = p - (v == label),
               dTerms = p * 2 * (1 + 2 * terms) + (v == label);
        for (int64_t i = 0; i < c.channels; ++i) {
          double w = ws[v * c.channels + i], xi = xs[token * c.channels + i];
          dx.add(token * c.channels + i, d * w, dTerms * std::fabs(w));
          dweight.add(v * c.channels + i, d * xi, dTerms * std::fabs(xi));
        }
      }
    }
    expectMeaning(ops, inputs,
                  {{"loss", loss},
                   {"count", count},
                   {"grad_loss", loss},
                   {"grad_count", count},
                   {"dx", dx},
                   {"dweight", dweight}});
  }
}

} // namespace
