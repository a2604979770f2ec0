// The order of f32_products = bf16x6 in contract and the loss, bit for bit in mode exact, against six scalar tiles
// written down here.
#include "dialects/train/Formulas.h"
#include "dialects/train/Policies.h"
#include "dialects/train/Reductions.h"
#include "dialects/train/Segments.h"
#include "tests/numerics/OpGraph.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace mlir;
using namespace recipe;
using namespace recipe::test;

namespace {

struct Term {
  float lhs, rhs;
};
// What one chain takes between two places where a block must begin.
using Range = std::vector<Term>;

// The float whose upper half is what `x` has there after adding `unit`.
float upperHalf(float x, uint32_t unit) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  bits = (bits + unit) & 0xffff0000;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

struct ThreeParts {
  explicit ThreeParts(float x) : h(upperHalf(x, 0x8000)), m(upperHalf(x - h, 0x8000)), l(upperHalf(x - h - m, 0)) {}
  float h, m, l;
};

// tdpbf16ps: missing terms are zeros.
float tile(float sum, const Range &terms, float ThreeParts::*lhs, float ThreeParts::*rhs) {
  float chains[2] = {};
  for (size_t k = 0; k < 32; ++k) {
    Term term = k < terms.size() ? terms[k] : Term{};
    chains[k / 16] = std::fma(ThreeParts(term.lhs).*lhs, ThreeParts(term.rhs).*rhs, chains[k / 16]);
  }
  return sum + (chains[0] + chains[1]);
}

float sixfoldChain(float sum, const std::vector<Range> &ranges) {
  using T = ThreeParts;
  for (const Range &range : ranges)
    for (size_t begin = 0; begin < range.size(); begin += 32) {
      Range block(range.begin() + int64_t(begin), range.begin() + int64_t(std::min(begin + 32, range.size())));
      sum = tile(sum, block, &T::h, &T::l);
      sum = tile(sum, block, &T::h, &T::m);
      sum = tile(sum, block, &T::m, &T::m);
      sum = tile(sum, block, &T::m, &T::h);
      sum = tile(sum, block, &T::l, &T::h);
      sum = tile(sum, block, &T::h, &T::h);
    }
  return sum;
}

float sixfoldTree(const std::vector<std::vector<Range>> &segments) {
  std::vector<float> sums;
  for (const std::vector<Range> &ranges : segments)
    sums.push_back(sixfoldChain(0, ranges));
  for (; sums.size() > 1; sums.resize(sums.size() / 2))
    for (size_t pair = 0; pair < sums.size() / 2; ++pair)
      sums[pair] = sums[2 * pair] + sums[2 * pair + 1];
  return sums[0];
}

train::F32ProductsAttr sixfold(OpGraph &ops) {
  return train::F32ProductsAttr::get(&ops.context, train::F32Products::BF16X6);
}

// Many exponents, so that no part is idle.
HostTensor wide(Draws &draws, ArrayRef<int64_t> shape) {
  return map(draws.tensor(shape), [&](double x) { return std::ldexp(x, draws.below(9) - 4); });
}

float valueAt(const HostTensor &matrix, int64_t row, int64_t column) {
  return float(at(matrix, row * matrix.shape.back() + column));
}

// One contraction of `lhs` with `rhs` pair by pair, in mode `mode`.
HostTensor contractAll(train::ContractForm form, ArrayRef<HostTensor> lhs, ArrayRef<HostTensor> rhs, int64_t m,
                       int64_t n, ArrayRef<int64_t> segments, const HostTensor *accumulator = nullptr,
                       bool splits = true, ReferenceMode mode = ReferenceMode::Exact) {
  OpGraph ops;
  Values values;
  auto inputs = [&](StringRef name, ArrayRef<HostTensor> tensors) {
    SmallVector<Value> all;
    for (auto [i, tensor] : llvm::enumerate(tensors)) {
      std::string key = (name + Twine(i)).str();
      values[key] = tensor;
      all.push_back(ops.input(key, tensor.shape));
    }
    return all;
  };
  SmallVector<Value> left = inputs("lhs", lhs), right = inputs("rhs", rhs);
  if (accumulator)
    values["acc"] = *accumulator;
  ops.output("y", train::ContractOp::create(ops.builder, ops.loc, ops.f32({m, n}), left, right,
                                            accumulator ? ops.input("acc", {m, n}) : Value(), form,
                                            ops.builder.getDenseI64ArrayAttr(segments), DenseI64ArrayAttr(),
                                            train::BF16OrderAttr(), splits ? sixfold(ops) : train::F32ProductsAttr()));
  return run(ops, "forward", mode, values).at("y");
}

class SplitOrder : public testing::Test {
protected:
  Draws draws{21};
};

// Two pairs, segments that begin at odd numbers, one of them empty, blocks that end early.
TEST_F(SplitOrder, OfSegmentsAndPairs) {
  const int64_t m = 3, n = 5, k[] = {77, 40};
  const SmallVector<int64_t> segments = {0, 33, 0, 7, 33, 77, 7, 39, 77, 77, 39, 39, 77, 77, 39, 40};
  for (auto form : {train::ContractForm::NN, train::ContractForm::NT}) {
    bool nn = form == train::ContractForm::NN;
    HostTensor lhs[] = {wide(draws, {m, k[0]}), wide(draws, {m, k[1]})};
    HostTensor rhs[] = {wide(draws, nn ? SmallVector<int64_t>{k[0], n} : SmallVector<int64_t>{n, k[0]}),
                        wide(draws, nn ? SmallVector<int64_t>{k[1], n} : SmallVector<int64_t>{n, k[1]})};
    HostTensor y = contractAll(form, lhs, rhs, m, n, segments);
    train::FlushDenormals flush;
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        std::vector<std::vector<Range>> parts(4, std::vector<Range>(2));
        for (size_t range = 0; range < 8; ++range)
          for (int64_t t = segments[2 * range]; t < segments[2 * range + 1]; ++t) {
            const HostTensor &right = rhs[range % 2];
            parts[range / 2][range % 2].push_back(
                {valueAt(lhs[range % 2], i, t), nn ? valueAt(right, t, j) : valueAt(right, j, t)});
          }
        EXPECT_EQ(valueAt(y, i, j), sixfoldTree(parts)) << i << ", " << j;
      }
  }
}

// In form tn a block ends with its sample, of odd length here; the chain starts at the accumulator.
TEST_F(SplitOrder, OfSamplesAndAccumulator) {
  const int64_t samples = 3, m = 4, n = 3;
  for (int64_t positions : {5, 32, 45}) {
    HostTensor lhs = wide(draws, {samples, positions, m}), rhs = wide(draws, {samples, positions, n});
    HostTensor accumulator = wide(draws, {m, n});
    HostTensor y =
        contractAll(train::ContractForm::TN, lhs, rhs, m, n, train::oneSegment(samples * positions), &accumulator);
    train::FlushDenormals flush;
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        std::vector<Range> ranges(samples);
        for (int64_t t = 0; t < samples * positions; ++t)
          ranges[size_t(t / positions)].push_back({valueAt(lhs, t, i), valueAt(rhs, t, j)});
        EXPECT_EQ(valueAt(y, i, j), sixfoldChain(valueAt(accumulator, i, j), ranges)) << i << ", " << j;
      }
  }
}

TEST_F(SplitOrder, IsNotThatOfFma) {
  HostTensor lhs = wide(draws, {3, 70}), rhs = wide(draws, {70, 3});
  auto multiply = [&](bool splits, ReferenceMode mode) {
    return contractAll(train::ContractForm::NN, lhs, rhs, 3, 3, {0, 70}, nullptr, splits, mode);
  };
  EXPECT_FALSE(sameBits(multiply(true, ReferenceMode::Exact), multiply(false, ReferenceMode::Exact)));
  HostTensor fma = multiply(false, ReferenceMode::Fp64), six = multiply(true, ReferenceMode::Fp64);
  EXPECT_EQ(fma.f64, six.f64);
}

// The loss, its logits by the model above, the rest by the formulas.
struct LossModel {
  LossModel(const Values &values, int64_t vocabulary, int64_t channels, int64_t segments)
      : x(values.at("x")), weight(values.at("w")), labels(values.at("labels")), vocabulary(vocabulary),
        channels(channels), ranges(train::paddedSegments(vocabulary, segments)) {}

  float logit(int64_t token, int64_t v) const {
    Range terms;
    for (int64_t c = 0; c < channels; ++c)
      terms.push_back({valueAt(x, token, c), valueAt(weight, v, c)});
    return sixfoldChain(0, {terms});
  }

  // The gradients of a token's logits; `loss` is set.
  std::vector<float> differentiate(int64_t token, float &loss) const {
    train::ExactPolicy p;
    std::vector<float> row;
    for (int64_t v = 0; v < vocabulary; ++v)
      row.push_back(logit(token, v));
    std::vector<train::MaxSum<train::ExactPolicy>> parts;
    for (size_t r = 0; r < ranges.size(); r += 2) {
      const float *segment = row.data() + ranges[r];
      int64_t size = ranges[r + 1] - ranges[r];
      float max = train::rowMax(p, size, [&](int64_t v) { return segment[v]; });
      parts.push_back({max, train::rowSum(p, size, [&](int64_t v) { return train::softmaxTerm(p, segment[v], max); })});
    }
    auto total = train::treeOf(std::move(parts), [&](auto a, auto b) { return train::mergeMaxSum(p, a, b); });
    int32_t label = labels.i32[size_t(token)];
    loss = train::tokenLoss(p, total, row[size_t(label)]);
    for (int64_t v = 0; v < vocabulary; ++v)
      row[size_t(v)] = train::logitGradient(p, row[size_t(v)], total.max, 1.0f / total.sum, v == label);
    return row;
  }

  const HostTensor &x, &weight, &labels;
  int64_t vocabulary, channels;
  train::SegmentList ranges;
};

TEST_F(SplitOrder, OfTheThreeProductsOfTheLoss) {
  const int64_t samples = 2, positions = 37, channels = 41, vocabulary = 71, segments = 2, tokens = samples * positions;
  Values values{{"x", wide(draws, {samples, positions, channels})},
                {"w", draws.tensor({vocabulary, channels}, -0.2, 0.2)},
                {"labels", draws.ids({samples, positions}, vocabulary)},
                {"zeros", zeros({8})},
                {"acc", draws.tensor({vocabulary, channels})}};
  OpGraph ops;
  Value x = ops.input("x", {samples, positions, channels}), w = ops.input("w", {vocabulary, channels});
  Value labels = ops.input("labels", {samples, positions}, true), zero = ops.input("zeros", {8});
  auto sums = ops.f32({8});
  auto forward = train::LinearCrossEntropyOp::create(ops.builder, ops.loc, sums, sums, x, w, labels, segments, 1,
                                                     train::BF16OrderAttr(), sixfold(ops));
  auto grad = train::LinearCrossEntropyGradOp::create(ops.builder, ops.loc, sums, sums, x.getType(), w.getType(), x, w,
                                                      labels, zero, zero, ops.input("acc", {vocabulary, channels}),
                                                      segments, 1, train::BF16OrderAttr(), sixfold(ops));
  ops.output("forward", forward.getLoss());
  ops.output("loss", grad.getLoss());
  ops.output("dx", grad.getDx());
  ops.output("dw", grad.getDweight());
  Values results = run(ops, "forward", ReferenceMode::Exact, values);

  train::FlushDenormals flush;
  LossModel model(values, vocabulary, channels, segments);
  std::vector<std::vector<float>> gradients;
  std::vector<float> losses(8);
  for (int64_t token = 0; token < tokens; ++token) {
    float loss;
    gradients.push_back(model.differentiate(token, loss));
    float &sum = losses[size_t(token % positions / ((positions + 7) / 8))];
    sum = sum + loss;
  }
  for (int64_t i = 0; i < 8; ++i) {
    EXPECT_EQ(float(at(results.at("loss"), i)), losses[size_t(i)]);
    EXPECT_EQ(at(results.at("forward"), i), at(results.at("loss"), i));
  }
  for (int64_t token = 0; token < tokens; ++token)
    for (int64_t c = 0; c < channels; ++c) {
      std::vector<std::vector<Range>> parts;
      for (size_t r = 0; r < model.ranges.size(); r += 2) {
        Range terms;
        for (int64_t v = model.ranges[r]; v < model.ranges[r + 1]; ++v)
          terms.push_back({gradients[size_t(token)][size_t(v)], valueAt(values.at("w"), v, c)});
        parts.push_back({terms});
      }
      ASSERT_EQ(valueAt(results.at("dx"), token, c), sixfoldTree(parts)) << token << ", " << c;
    }
  for (int64_t v = 0; v < vocabulary; ++v)
    for (int64_t c = 0; c < channels; ++c) {
      std::vector<Range> ranges(samples);
      for (int64_t token = 0; token < tokens; ++token)
        ranges[size_t(token / positions)].push_back(
            {gradients[size_t(token)][size_t(v)], valueAt(values.at("x"), token, c)});
      ASSERT_EQ(valueAt(results.at("dw"), v, c), sixfoldChain(valueAt(values.at("acc"), v, c), ranges))
          << v << ", " << c;
    }
}

} // namespace
