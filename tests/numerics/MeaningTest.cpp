// Row, look-up and elementwise ops against definitions of their own, over odd sizes.
#include "dialects/train/Segments.h"
#include "tests/numerics/Expected.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace recipe;
using namespace recipe::test;

namespace {

using Shape = SmallVector<int64_t>;

TEST(Meaning, contract) {
  using train::ContractForm;
  struct Case {
    ContractForm form;
    int64_t m, n;
    SmallVector<int64_t> contracted; // K of each pair
    int64_t segments;
  };
  Case cases[] = {
      {ContractForm::NN, 1, 1, {1}, 1},        {ContractForm::NN, 3, 5, {7}, 1},
      {ContractForm::NT, 3, 5, {7}, 1},        {ContractForm::TN, 3, 5, {7}, 1},
      {ContractForm::NN, 2, 33, {257}, 8},     {ContractForm::NT, 17, 19, {131}, 8},
      {ContractForm::NN, 5, 3, {1500}, 1},     {ContractForm::NT, 1, 2, {4099}, 1},
      {ContractForm::TN, 2, 3, {1031}, 1},     {ContractForm::NN, 3, 4, {35, 20}, 8},
      {ContractForm::NT, 7, 2, {9, 40, 5}, 4}, {ContractForm::TN, 9, 11, {64}, 4},
  };
  for (const Case &c : cases) {
    Draws draws(1);
    OpGraph ops;
    Values inputs;
    SmallVector<Value> lhs, rhs;
    SmallVector<SmallVector<int64_t>> ranges;
    int64_t chain = 0;
    for (auto [pair, k] : llvm::enumerate(c.contracted)) {
      std::string left = "lhs" + std::to_string(pair), right = "rhs" + std::to_string(pair);
      bool tn = c.form == ContractForm::TN;
      Shape leftShape = tn ? Shape{k, c.m} : Shape{c.m, k},
            rightShape = c.form == ContractForm::NT ? Shape{c.n, k} : Shape{k, c.n};
      inputs[left] = draws.tensor(leftShape);
      inputs[right] = draws.tensor(rightShape);
      lhs.push_back(ops.input(left, leftShape));
      rhs.push_back(ops.input(right, rightShape));
      ranges.push_back(tn ? train::equalSegments(k, k % c.segments ? 1 : c.segments)
                          : train::paddedSegments(k, c.segments));
      chain += k;
    }
    SmallVector<int64_t> segments;
    for (size_t segment = 0; segment < ranges[0].size(); segment += 2)
      for (auto &range : ranges)
        segments.append({range[segment], range[segment + 1]});
    ops.output("y", train::ContractOp::create(ops.builder, ops.loc, ops.f32({c.m, c.n}), lhs, rhs, Value(), c.form,
                                              ops.builder.getDenseI64ArrayAttr(segments), DenseI64ArrayAttr()));
    Expected y({c.m, c.n}, chain);
    for (auto [pair, k] : llvm::enumerate(c.contracted)) {
      const auto &a = inputs["lhs" + std::to_string(pair)].f64, &b = inputs["rhs" + std::to_string(pair)].f64;
      for (int64_t i = 0; i < c.m; ++i)
        for (int64_t j = 0; j < c.n; ++j)
          for (int64_t x = 0; x < k; ++x)
            y.add(i * c.n + j, a[c.form == ContractForm::TN ? x * c.m + i : i * k + x] *
                                   b[c.form == ContractForm::NT ? j * k + x : x * c.n + j]);
    }
    expectMeaning(ops, inputs, {{"y", y}});
  }
}

TEST(Meaning, lookUpsAndSums) {
  Draws draws(1);
  OpGraph ops;
  Values inputs{{"ids", draws.ids({3, 5}, 11)},
                {"table", draws.tensor({11, 7})},
                {"x", draws.tensor({3, 5, 7})},
                {"bias", draws.tensor({7})},
                {"sums", draws.tensor({8, 7})}};
  Value ids = ops.input("ids", {3, 5}, true), x = ops.input("x", {3, 5, 7});
  ops.output("rows",
             train::EmbeddingOp::create(ops.builder, ops.loc, ops.f32({3, 5, 7}), ids, ops.input("table", {11, 7})));
  ops.output("biased", train::BiasAddOp::create(ops.builder, ops.loc, ops.f32({3, 5, 7}), x, ops.input("bias", {7})));
  ops.output("sum", train::AddOp::create(ops.builder, ops.loc, ops.f32({3, 5, 7}), x, x));
  ops.output("total", train::PositionSumOp::create(ops.builder, ops.loc, ops.f32({7}), ops.input("sums", {8, 7})));
  ops.output("seven", train::FillOp::create(ops.builder, ops.loc, ops.f32({3}), ops.builder.getF64FloatAttr(0.7)));

  Expected rows({3, 5, 7}, 1), biased({3, 5, 7}, 1), sum({3, 5, 7}, 1), total({7}, 8), seven({3}, 1);
  for (int64_t token = 0; token < 15; ++token)
    for (int64_t c = 0; c < 7; ++c) {
      double value = inputs["x"].f64[token * 7 + c];
      rows.set(token * 7 + c, inputs["table"].f64[inputs["ids"].i32[token] * 7 + c], 0);
      biased.add(token * 7 + c, value);
      biased.add(token * 7 + c, inputs["bias"].f64[c]);
      sum.add(token * 7 + c, 2 * value);
    }
  for (int64_t i = 0; i < 56; ++i)
    total.add(i % 7, inputs["sums"].f64[i]);
  for (int64_t i = 0; i < 3; ++i)
    seven.set(i, 0.7, 0.7);
  expectMeaning(ops, inputs, {{"rows", rows}, {"biased", biased}, {"sum", sum}, {"total", total}, {"seven", seven}});
}

// Sizes with short, empty and full position segments.
struct TokenCase {
  int64_t samples, positions, channels, nodes;
};
const TokenCase tokenCases[] = {{1, 1, 1, 1},   {2, 5, 17, 1}, {4, 17, 33, 1},
                                {4, 17, 33, 4}, {8, 37, 3, 2}, {1, 1200, 2, 1}};

// The element of [8, C] that a token's channel is summed in.
int64_t positionCell(const TokenCase &c, int64_t token, int64_t channel) {
  int64_t length = (c.positions + 7) / 8;
  return token % c.positions / length * c.channels + channel;
}

TEST(Meaning, tokenSums) {
  for (const TokenCase &c : tokenCases) {
    Draws draws(1);
    OpGraph ops;
    Shape shape{c.samples, c.positions, c.channels};
    Values inputs{{"dy", draws.tensor(shape)}, {"ids", draws.ids({c.samples, c.positions}, 5)}};
    Value dy = ops.input("dy", shape);
    ops.output("dbias",
               train::BiasGradOp::create(ops.builder, ops.loc, ops.f32({8, c.channels}), dy, Value(), c.nodes));
    ops.output("dtable",
               train::EmbeddingGradOp::create(ops.builder, ops.loc, ops.f32({5, c.channels}), dy,
                                              ops.input("ids", {c.samples, c.positions}, true), Value(), c.nodes));
    int64_t tokens = c.samples * c.positions;
    Expected dbias({8, c.channels}, tokens), dtable({5, c.channels}, tokens);
    for (int64_t token = 0; token < tokens; ++token)
      for (int64_t channel = 0; channel < c.channels; ++channel) {
        double term = inputs["dy"].f64[token * c.channels + channel];
        dbias.add(positionCell(c, token, channel), term);
        dtable.add(inputs["ids"].i32[token] * c.channels + channel, term);
      }
    expectMeaning(ops, inputs, {{"dbias", dbias}, {"dtable", dtable}});
  }
}

// Mean, variance and their conditioning for one row.
struct RowStatistics {
  RowStatistics(const double *x, int64_t n, bool centered, double eps) {
    for (int64_t i = 0; i < n; ++i) {
      mean += centered ? x[i] / n : 0;
      meanMagnitude += centered ? std::fabs(x[i]) / n : 0;
    }
    double varianceTerms = 0;
    for (int64_t i = 0; i < n; ++i) {
      double d = x[i] - mean;
      variance += d * d / n;
      varianceTerms += std::fabs(d) * (std::fabs(x[i]) + meanMagnitude) / n;
    }
    rstd = 1 / std::sqrt(variance + eps);
    condition = 1 + varianceTerms / (variance + eps);
  }
  double mean = 0, meanMagnitude = 0, variance = 0, rstd, condition;
};

TEST(Meaning, norms) {
  for (const TokenCase &c : tokenCases) {
    Draws draws(1);
    OpGraph ops;
    Shape shape{c.samples, c.positions, c.channels}, rowShape{c.samples, c.positions};
    Values inputs{{"x", draws.tensor(shape, -1, 1.5)},
                  {"gain", draws.tensor({c.channels})},
                  {"bias", draws.tensor({c.channels})}};
    Value x = ops.input("x", shape), gain = ops.input("gain", {c.channels});
    auto eps = ops.builder.getF64FloatAttr(1e-3);
    auto layer = train::LayerNormOp::create(ops.builder, ops.loc, ops.f32(shape), ops.f32(rowShape), ops.f32(rowShape),
                                            x, gain, ops.input("bias", {c.channels}), eps);
    auto rms = train::RmsNormOp::create(ops.builder, ops.loc, ops.f32(shape), ops.f32(rowShape), x, gain, eps);
    ops.output("layer", layer.getResult());
    ops.output("mean", layer.getMean());
    ops.output("rstd", layer.getRstd());
    ops.output("rms", rms.getResult());
    ops.output("rms_rstd", rms.getRstd());

    Expected layerY(shape, c.channels), mean(rowShape, c.channels), rstd(rowShape, c.channels), rmsY(shape, c.channels),
        rmsRstd(rowShape, c.channels);
    for (int64_t token = 0; token < c.samples * c.positions; ++token) {
      const double *row = inputs["x"].f64.data() + token * c.channels;
      RowStatistics centered(row, c.channels, true, 1e-3), plain(row, c.channels, false, 1e-3);
      mean.set(token, centered.mean, centered.meanMagnitude);
      rstd.set(token, centered.rstd, centered.rstd * centered.condition);
      rmsRstd.set(token, plain.rstd, plain.rstd * plain.condition);
      for (int64_t i = 0; i < c.channels; ++i) {
        double g = inputs["gain"].f64[i], b = inputs["bias"].f64[i], xhat = (row[i] - centered.mean) * centered.rstd;
        layerY.set(token * c.channels + i, xhat * g + b,
                   std::fabs(g) * (centered.rstd * (std::fabs(row[i]) + centered.meanMagnitude) +
                                   std::fabs(xhat) * centered.condition) +
                       std::fabs(b));
        double y = row[i] * plain.rstd * g;
        rmsY.set(token * c.channels + i, y, std::fabs(y) * plain.condition);
      }
    }
    expectMeaning(ops, inputs,
                  {{"layer", layerY}, {"mean", mean}, {"rstd", rstd}, {"rms", rmsY}, {"rms_rstd", rmsRstd}});
  }
}

// dx of one row from its normalised values, and what is added up in it.
void expectNormRow(Expected &dx, int64_t first, int64_t n, const double *dy, const std::vector<double> &gain,
                   const std::vector<double> &xhat, double rstd, bool centered) {
  double c1 = 0, c1Terms = 0, c2 = 0, c2Terms = 0;
  for (int64_t i = 0; i < n; ++i) {
    double h = dy[i] * gain[i];
    c1 += centered ? h / n : 0;
    c1Terms += centered ? std::fabs(h) / n : 0;
    c2 += h * xhat[i] / n;
    c2Terms += std::fabs(h * xhat[i]) / n;
  }
  for (int64_t i = 0; i < n; ++i) {
    double h = dy[i] * gain[i];
    dx.set(first + i, rstd * (h - c1 - xhat[i] * c2), rstd * (std::fabs(h) + c1Terms + std::fabs(xhat[i]) * c2Terms));
  }
}

TEST(Meaning, normGradients) {
  for (const TokenCase &c : tokenCases) {
    Draws draws(1);
    OpGraph ops;
    Shape shape{c.samples, c.positions, c.channels}, rowShape{c.samples, c.positions};
    Values inputs{{"dy", draws.tensor(shape)},
                  {"x", draws.tensor(shape)},
                  {"gain", draws.tensor({c.channels})},
                  {"mean", draws.tensor(rowShape)},
                  {"rstd", draws.tensor(rowShape, 0.5, 2)}};
    Value dy = ops.input("dy", shape), x = ops.input("x", shape), gain = ops.input("gain", {c.channels});
    Value rstd = ops.input("rstd", rowShape);
    auto sums = ops.f32({8, c.channels});
    auto layer = train::LayerNormGradOp::create(ops.builder, ops.loc, ops.f32(shape), sums, sums, dy, x, gain,
                                                ops.input("mean", rowShape), rstd, Value(), Value(), c.nodes);
    auto rms =
        train::RmsNormGradOp::create(ops.builder, ops.loc, ops.f32(shape), sums, dy, x, gain, rstd, Value(), c.nodes);
    ops.output("layer_dx", layer.getDx());
    ops.output("layer_dgain", layer.getDgain());
    ops.output("layer_dbias", layer.getDbias());
    ops.output("rms_dx", rms.getDx());
    ops.output("rms_dgain", rms.getDgain());

    int64_t tokens = c.samples * c.positions;
    Expected layerDx(shape, c.channels), layerDgain({8, c.channels}, tokens), layerDbias({8, c.channels}, tokens),
        rmsDx(shape, c.channels), rmsDgain({8, c.channels}, tokens);
    for (int64_t token = 0; token < tokens; ++token) {
      const double *xRow = inputs["x"].f64.data() + token * c.channels,
                   *dyRow = inputs["dy"].f64.data() + token * c.channels;
      double rowMean = inputs["mean"].f64[token], rowRstd = inputs["rstd"].f64[token];
      std::vector<double> centered, plain;
      for (int64_t i = 0; i < c.channels; ++i) {
        centered.push_back((xRow[i] - rowMean) * rowRstd);
        plain.push_back(xRow[i] * rowRstd);
        int64_t cell = positionCell(c, token, i);
        layerDgain.add(cell, dyRow[i] * centered[i]);
        layerDbias.add(cell, dyRow[i]);
        rmsDgain.add(cell, dyRow[i] * plain[i]);
      }
      expectNormRow(layerDx, token * c.channels, c.channels, dyRow, inputs["gain"].f64, centered, rowRstd, true);
      expectNormRow(rmsDx, token * c.channels, c.channels, dyRow, inputs["gain"].f64, plain, rowRstd, false);
    }
    expectMeaning(ops, inputs,
                  {{"layer_dx", layerDx},
                   {"layer_dgain", layerDgain},
                   {"layer_dbias", layerDbias},
                   {"rms_dx", rmsDx},
                   {"rms_dgain", rmsDgain}});
  }
}

TEST(Meaning, activations) {
  Draws draws(1);
  OpGraph ops;
  Shape shape{2, 3, 101};
  Values inputs{{"x", draws.tensor(shape, -12, 12)}, {"up", draws.tensor(shape)}, {"dy", draws.tensor(shape)}};
  Value x = ops.input("x", shape), up = ops.input("up", shape), dy = ops.input("dy", shape);
  auto type = ops.f32(shape);
  ops.output("gelu", train::GeluOp::create(ops.builder, ops.loc, type, x));
  ops.output("gelu_dx", train::GeluGradOp::create(ops.builder, ops.loc, type, dy, x));
  ops.output("swiglu", train::SwigluOp::create(ops.builder, ops.loc, type, x, up));
  auto grad = train::SwigluGradOp::create(ops.builder, ops.loc, type, type, dy, x, up);
  ops.output("dgate", grad.getDgate());
  ops.output("dup", grad.getDup());

  Expected gelu(shape, 1), geluDx(shape, 1), swiglu(shape, 1), dgate(shape, 1), dup(shape, 1);
  for (int64_t i = 0; i < gelu.value.size(); ++i) {
    double a = inputs["x"].f64[i], u = inputs["up"].f64[i], d = inputs["dy"].f64[i];
    double k = std::sqrt(2 / M_PI), z = 2 * k * (a + 0.044715 * a * a * a), slope = 2 * k * (1 + 3 * 0.044715 * a * a);
    double g = 1 / (1 + std::exp(-z)), gBar = 1 / (1 + std::exp(z));
    // gelu_new as it is usually written, where that does not cancel. The error of exp grows with its argument.
    gelu.set(i, z > -4 ? 0.5 * a * (1 + std::tanh(z / 2)) : a * g, std::fabs(a) * g * (1 + std::fabs(z)));
    geluDx.set(i, d * (g + a * slope * g * gBar), std::fabs(d) * (g + std::fabs(a * slope) * g) * (1 + std::fabs(z)));
    double s = 1 / (1 + std::exp(-a)), sBar = 1 / (1 + std::exp(a));
    swiglu.set(i, a * s * u, std::fabs(a * s * u) * (1 + std::fabs(a)));
    dup.set(i, d * a * s, std::fabs(d * a * s) * (1 + std::fabs(a)));
    dgate.set(i, d * u * s * (1 + a * sBar), std::fabs(d * u) * s * (1 + std::fabs(a)) * (1 + std::fabs(a)));
  }
  expectMeaning(ops, inputs, {{"gelu", gelu}, {"gelu_dx", geluDx}, {"swiglu", swiglu}, {"dgate", dgate}, {"dup", dup}});
}

TEST(Meaning, rope) {
  Draws draws(1);
  OpGraph ops;
  SmallVector<double> frequencies{1, 0.1, 0.01};
  auto tables =
      train::RopeTableOp::create(ops.builder, ops.loc, ops.f32({20, 3}), ops.f32({20, 3}), frequencies, APFloat(1.25));
  Values inputs{{"x", draws.tensor({2, 5, 12})}, {"positions", draws.ids({2, 5}, 20)}};
  Value x = ops.input("x", {2, 5, 12}), positions = ops.input("positions", {2, 5}, true);
  for (bool inverse : {false, true})
    ops.output(inverse ? "back" : "turned",
               train::RopeOp::create(ops.builder, ops.loc, ops.f32({2, 5, 12}), x, tables.getCosine(), tables.getSine(),
                                     positions, int64_t(2), inverse));
  Expected turned({2, 5, 12}, 1), back({2, 5, 12}, 1);
  for (int64_t token = 0; token < 10; ++token)
    for (int64_t head = 0; head < 2; ++head)
      for (int64_t i = 0; i < 3; ++i) {
        double angle = inputs["positions"].i32[token] * frequencies[i];
        double cosine = float(1.25 * std::cos(angle)), sine = float(1.25 * std::sin(angle));
        int64_t first = token * 12 + head * 6 + i, second = first + 3;
        double a = inputs["x"].f64[first], b = inputs["x"].f64[second];
        turned.add(first, a * cosine), turned.add(first, -b * sine);
        turned.add(second, b * cosine), turned.add(second, a * sine);
        back.add(first, a * cosine), back.add(first, b * sine);
        back.add(second, b * cosine), back.add(second, -a * sine);
      }
  expectMeaning(ops, inputs, {{"turned", turned}, {"back", back}});
}

TEST(Meaning, ropeTablesHoldAtLongPositions) {
  OpGraph ops;
  double frequency = std::pow(500000.0, -3.0 / 64);
  auto tables = train::RopeTableOp::create(ops.builder, ops.loc, ops.f32({131072, 1}), ops.f32({131072, 1}),
                                           ArrayRef<double>{frequency}, APFloat(1.0));
  ops.output("cosine", tables.getCosine());
  ops.output("sine", tables.getSine());
  for (ReferenceMode mode : {ReferenceMode::Fp64, ReferenceMode::Exact}) {
    Values values = run(ops, "forward", mode, {});
    EXPECT_NEAR(at(values["cosine"], 131071), std::cos(131071 * frequency), 0x1p-24);
    EXPECT_NEAR(at(values["sine"], 131071), std::sin(131071 * frequency), 0x1p-24);
  }
}

} // namespace
