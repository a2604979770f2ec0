// The order of token sums, bit for bit in mode exact: a micro-batch of several batch segments equals one micro-batch
// for each of them, merged by tree_merge; a segment of several micro-batches equals one longer chain.
#include "dialects/train/Segments.h"
#include "tests/numerics/OpGraph.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace mlir;
using namespace recipe;
using namespace recipe::test;

namespace {

constexpr int64_t kSamples = 4, kPositions = 11, kChannels = 19, kRows = 37;

// One op over `samples` samples. Inputs "s_.." have a row for each sample, "p_.." none; outputs "s_.." likewise,
// "sum_X" are sums over tokens, which continue from "acc_X" when `accumulate` is set.
struct Build {
  OpGraph &ops;
  int64_t samples, nodes;
  bool accumulate;

  SmallVector<int64_t> tokens(int64_t channels) const { return {samples, kPositions, channels}; }
  Value perSample(StringRef name) const { return ops.input(name, tokens(kChannels)); }
  Value rows(StringRef name) const { return ops.input(name, {samples, kPositions}); }
  Value ids(StringRef name) const { return ops.input(name, {samples, kPositions}, true); }
  Value accumulator(StringRef name, ArrayRef<int64_t> shape) const {
    return accumulate ? ops.input(name, shape) : Value();
  }
  RankedTensorType perSampleType() const { return ops.f32(tokens(kChannels)); }
};

struct TokenOp {
  const char *name;
  void (*build)(const Build &);
};

void biasGrad(const Build &b) {
  b.ops.output("sum_b",
               train::BiasGradOp::create(b.ops.builder, b.ops.loc, b.ops.f32({8, kChannels}), b.perSample("s_dy"),
                                         b.accumulator("acc_b", {8, kChannels}), b.nodes));
}

void embeddingGrad(const Build &b) {
  b.ops.output("sum_t", train::EmbeddingGradOp::create(b.ops.builder, b.ops.loc, b.ops.f32({kRows, kChannels}),
                                                       b.perSample("s_dy"), b.ids("s_ids"),
                                                       b.accumulator("acc_t", {kRows, kChannels}), b.nodes));
}

void contractTokens(const Build &b) {
  auto segments = b.ops.builder.getDenseI64ArrayAttr(train::equalSegments(b.samples * kPositions, b.nodes));
  b.ops.output("sum_w", train::ContractOp::create(b.ops.builder, b.ops.loc, b.ops.f32({kChannels, kChannels}),
                                                  ValueRange{b.perSample("s_dy")}, ValueRange{b.perSample("s_x")},
                                                  b.accumulator("acc_w", {kChannels, kChannels}),
                                                  train::ContractForm::TN, segments, DenseI64ArrayAttr()));
}

void layerNormGrad(const Build &b) {
  auto sums = b.ops.f32({8, kChannels});
  auto op = train::LayerNormGradOp::create(b.ops.builder, b.ops.loc, b.perSampleType(), sums, sums, b.perSample("s_dy"),
                                           b.perSample("s_x"), b.ops.input("p_gain", {kChannels}), b.rows("s_mean"),
                                           b.rows("s_rstd"), b.accumulator("acc_g", {8, kChannels}),
                                           b.accumulator("acc_b", {8, kChannels}), b.nodes);
  b.ops.output("s_dx", op.getDx());
  b.ops.output("sum_g", op.getDgain());
  b.ops.output("sum_b", op.getDbias());
}

void rmsNormGrad(const Build &b) {
  auto op = train::RmsNormGradOp::create(b.ops.builder, b.ops.loc, b.perSampleType(), b.ops.f32({8, kChannels}),
                                         b.perSample("s_dy"), b.perSample("s_x"), b.ops.input("p_gain", {kChannels}),
                                         b.rows("s_rstd"), b.accumulator("acc_g", {8, kChannels}), b.nodes);
  b.ops.output("s_dx", op.getDx());
  b.ops.output("sum_g", op.getDgain());
}

void lossGrad(const Build &b) {
  OpBuilder &builder = b.ops.builder;
  auto op = train::LinearCrossEntropyGradOp::create(
      builder, b.ops.loc, b.ops.f32({8}), b.ops.f32({8}), b.perSampleType(), b.ops.f32({kRows, kChannels}),
      b.perSample("s_x"), b.ops.input("p_w", {kRows, kChannels}), b.ids("s_ids"), b.accumulator("acc_l", {8}),
      b.accumulator("acc_c", {8}), b.accumulator("acc_w", {kRows, kChannels}), builder.getI64IntegerAttr(8),
      builder.getI64IntegerAttr(b.nodes));
  b.ops.output("sum_l", op.getLoss());
  b.ops.output("sum_c", op.getCount());
  b.ops.output("s_dx", op.getDx());
  b.ops.output("sum_w", op.getDweight());
}

// Without sums: that the draws belong to the sample's place in the global batch.
void dropout(const Build &b) {
  b.ops.output("s_y", train::DropoutOp::create(b.ops.builder, b.ops.loc, b.perSampleType(), b.perSample("s_x"),
                                               b.ops.builder.getF64FloatAttr(0.3), b.ops.builder.getI64IntegerAttr(5)));
}

void attention(const Build &b) {
  OpBuilder &builder = b.ops.builder;
  auto rows = b.ops.f32({b.samples, 1, kPositions});
  auto heads = builder.getI64IntegerAttr(1);
  auto scale = builder.getF64FloatAttr(0.5), probability = builder.getF64FloatAttr(0.3);
  auto id = builder.getI64IntegerAttr(6);
  Value q = b.perSample("s_x"), k = b.perSample("s_dy"), v = b.perSample("s_v");
  auto op = train::AttentionOp::create(builder, b.ops.loc, b.perSampleType(), rows, rows, q, k, v, heads, heads, scale,
                                       probability, id);
  auto grad = train::AttentionGradOp::create(builder, b.ops.loc, b.perSampleType(), b.perSampleType(),
                                             b.perSampleType(), v, q, k, v, op.getResult(), op.getRowMax(),
                                             op.getRowSum(), heads, heads, scale, probability, id);
  b.ops.output("s_o", op.getResult());
  b.ops.output("s_dq", grad.getDq());
  b.ops.output("s_dk", grad.getDk());
  b.ops.output("s_dv", grad.getDv());
}

const TokenOp tokenOps[] = {{"bias_grad", biasGrad},        {"embedding_grad", embeddingGrad},
                            {"contract", contractTokens},   {"layer_norm_grad", layerNormGrad},
                            {"rms_norm_grad", rmsNormGrad}, {"linear_cross_entropy_grad", lossGrad},
                            {"dropout", dropout},           {"attention", attention}};

Values allInputs() {
  Draws draws(4);
  SmallVector<int64_t> tokens{kSamples, kPositions, kChannels}, rowShape{kSamples, kPositions};
  Values inputs{{"p_gain", draws.tensor({kChannels})}, {"p_w", draws.tensor({kRows, kChannels})}};
  for (const char *name : {"s_dy", "s_x", "s_v"})
    inputs[name] = draws.tensor(tokens);
  inputs["s_mean"] = draws.tensor(rowShape);
  inputs["s_rstd"] = draws.tensor(rowShape, 0.5, 2);
  inputs["s_ids"] = draws.ids(rowShape, 3); // many tokens for each
  return inputs;
}

class Order : public testing::TestWithParam<TokenOp> {
protected:
  // Runs the op over samples [begin, end); `sums` are accumulators to continue from, if any.
  Values runPart(int64_t begin, int64_t end, int64_t nodes, const Values &sums = {}) {
    OpGraph ops;
    GetParam().build({ops, end - begin, nodes, !sums.empty()});
    Values variables;
    for (const auto &[name, value] : allInputs())
      if (ops.module.lookupSymbol(name))
        variables[name] = name[0] == 's' ? rows(value, begin, end) : value;
    for (const auto &[name, value] : sums)
      variables["acc" + name.substr(3)] = value;
    rcp_step_params_v1 params{};
    params.seed = 9;
    params.step = 1;
    params.first_sample = begin;
    return run(ops, "forward", ReferenceMode::Exact, variables, params);
  }

  static Values sumsOf(const Values &results) {
    Values sums;
    for (const auto &[name, value] : results)
      if (name.rfind("sum_", 0) == 0)
        sums[name] = value;
    return sums;
  }

  static void expectSamples(const Values &whole, const Values &part, int64_t begin, int64_t end) {
    for (const auto &[name, value] : part)
      if (name.rfind("s_", 0) == 0)
        EXPECT_TRUE(sameBits(value, rows(whole.at(name), begin, end))) << name;
  }
};

// The batch tree's nodes of single samples.
HostTensor mergeNodes(ArrayRef<HostTensor> nodes) {
  OpGraph ops;
  SmallVector<int64_t> shape = nodes[0].shape, pendingShape{2};
  pendingShape.append(shape);
  auto op = train::TreeMergeOp::create(ops.builder, ops.loc, ops.f32(shape), ops.f32(pendingShape),
                                       ops.input("value", shape), ops.input("pending", pendingShape));
  ops.output("result", op.getResult());
  ops.output("pending", op.getPendingResult());
  Values variables{{"pending", filled(pendingShape, NAN)}}; // nothing may depend on it
  for (auto [node, value] : llvm::enumerate(nodes)) {
    rcp_step_params_v1 params{};
    params.node = int64_t(node);
    params.node_count = int64_t(nodes.size());
    variables["value"] = value;
    Values results = run(ops, "forward", ReferenceMode::Exact, variables, params);
    variables["pending"] = results["pending"];
    variables["result"] = results["result"];
  }
  return variables["result"];
}

TEST_P(Order, segmentsInOneMicrobatchEqualOneEach) {
  Values whole = runPart(0, kSamples, kSamples);
  std::map<std::string, SmallVector<HostTensor>> nodes;
  for (int64_t sample = 0; sample < kSamples; ++sample) {
    Values part = runPart(sample, sample + 1, 1);
    expectSamples(whole, part, sample, sample + 1);
    for (const auto &[name, value] : sumsOf(part))
      nodes[name].push_back(value);
  }
  for (const auto &[name, values] : nodes)
    EXPECT_TRUE(sameBits(mergeNodes(values), whole.at(name))) << name;
}

TEST_P(Order, accumulatedMicrobatchesEqualOneChain) {
  Values whole = runPart(0, kSamples, 1), sums;
  for (auto [begin, end] : {std::pair<int64_t, int64_t>{0, 1}, {1, 3}, {3, 4}}) {
    Values part = runPart(begin, end, 1, sums);
    expectSamples(whole, part, begin, end);
    sums = sumsOf(part);
  }
  for (const auto &[name, value] : sums)
    EXPECT_TRUE(sameBits(value, whole.at(name))) << name;
}

// The two orders differ, so the tests above compare something.
TEST_P(Order, treeAndChainAreDifferentOrders) {
  Values tree = runPart(0, kSamples, kSamples), chain = runPart(0, kSamples, 1);
  for (const auto &[name, value] : sumsOf(tree))
    if (name != "sum_c") // whole numbers
      EXPECT_FALSE(sameBits(value, chain.at(name))) << name;
}

INSTANTIATE_TEST_SUITE_P(Ops, Order, testing::ValuesIn(tokenOps), [](const auto &info) { return info.param.name; });

TEST(TreeMerge, keepsPendingSubtreesAsABinaryCounter) {
  for (int64_t count : {1, 2, 4, 8}) {
    SmallVector<HostTensor> nodes;
    Draws draws(1);
    for (int64_t node = 0; node < count; ++node)
      nodes.push_back(draws.tensor({3}));
    OpGraph ops;
    SmallVector<int64_t> pendingShape{3, 3};
    auto op = train::TreeMergeOp::create(ops.builder, ops.loc, ops.f32({3}), ops.f32(pendingShape),
                                         ops.input("value", {3}), ops.input("pending", pendingShape));
    ops.output("result", op.getResult());
    ops.output("pending", op.getPendingResult());
    Values variables{{"pending", filled(pendingShape, NAN)}};
    for (int64_t node = 0; node < count; ++node) {
      rcp_step_params_v1 params{};
      params.node = node;
      params.node_count = count;
      variables["value"] = nodes[node];
      for (auto &[name, value] : run(ops, "forward", ReferenceMode::Exact, variables, params))
        variables[name] = value;
    }
    for (int64_t i = 0; i < 3; ++i) {
      std::vector<float> level;
      for (const HostTensor &node : nodes)
        level.push_back(float(node.f64[i]));
      for (; level.size() > 1; level.resize(level.size() / 2))
        for (size_t pair = 0; pair < level.size() / 2; ++pair)
          level[pair] = level[2 * pair] + level[2 * pair + 1];
      EXPECT_EQ(at(variables["result"], i), level[0]) << count;
    }
  }
}

// The sum of `terms`, each times 1, as a contraction of bf16 operands gives it.
float bf16Sum(ArrayRef<double> terms, ReferenceMode mode = ReferenceMode::Exact,
              train::BF16Order order = train::BF16Order::Pairs, ArrayRef<int64_t> ranges = {}) {
  OpGraph ops;
  int64_t k = int64_t(terms.size());
  auto cast = [&](StringRef name, ArrayRef<int64_t> shape) -> Value {
    auto type = RankedTensorType::get(shape, ops.builder.getBF16Type());
    return train::CastOp::create(ops.builder, ops.loc, type, ops.input(name, shape));
  };
  Value values = cast("terms", {1, k}), ones = cast("ones", {k, 1});
  SmallVector<int64_t> one = train::oneSegment(k);
  auto segments = ops.builder.getDenseI64ArrayAttr(ranges.empty() ? one : ranges);
  ops.output("sum",
             train::ContractOp::create(ops.builder, ops.loc, ops.f32({1, 1}), ValueRange{values}, ValueRange{ones},
                                       Value(), train::ContractForm::NN, segments, DenseI64ArrayAttr(),
                                       train::BF16OrderAttr::get(&ops.context, order), train::F32ProductsAttr()));
  HostTensor row = zeros({1, k});
  row.f64.assign(terms.begin(), terms.end());
  Values result = run(ops, "forward", mode, {{"terms", row}, {"ones", filled({k, 1}, 1)}});
  return float(at(result.at("sum"), 0));
}

TEST(Order, bf16ChainsRunInPairsOddTermFirst) {
  // Ascending 2^24 + 1 = 2^24, + 2 = 2^24 + 2; in pairs 2^24 + 2, + 1 = 2^24 + 4, by ties to even.
  EXPECT_EQ(bf16Sum({0x1p24, 0, 1, 2}), 0x1p24f + 4);
  EXPECT_EQ(bf16Sum({0, 0x1p24, 2, 1}), 0x1p24f + 2);
  // An odd end: the first two are one pair, the last has zero beside it.
  EXPECT_EQ(bf16Sum({0, 0x1p24, 1}), 0x1p24f);
  EXPECT_EQ(bf16Sum({0x1p24, 0, 3}), 0x1p24f + 4);
}

// The output of the last of as many positions as `values`, without the division by their number: all weights are 1.
float bf16AttentionSum(ArrayRef<double> values, train::BF16Order order) {
  OpGraph ops;
  OpBuilder &b = ops.builder;
  int64_t positions = int64_t(values.size());
  auto half = [&](StringRef name) -> Value {
    auto type = RankedTensorType::get({1, positions, 2}, b.getBF16Type());
    return train::CastOp::create(b, ops.loc, type, ops.input(name, {1, positions, 2}));
  };
  auto rows = ops.f32({1, 1, positions});
  Value q = half("q"), v = half("v");
  auto one = b.getI64IntegerAttr(1);
  ops.output("o", train::AttentionOp::create(b, ops.loc, ops.f32({1, positions, 2}), rows, rows, q, q, v, one, one,
                                             b.getF64FloatAttr(1), b.getF64FloatAttr(0), b.getI64IntegerAttr(0),
                                             train::BF16OrderAttr::get(&ops.context, order))
                      .getResult());
  HostTensor terms = zeros({1, positions, 2});
  for (int64_t i = 0; i < positions; ++i)
    terms.f64[size_t(2 * i)] = values[size_t(i)];
  Values result = run(ops, "forward", ReferenceMode::Exact, {{"q", zeros({1, positions, 2})}, {"v", terms}});
  return float(at(result.at("o"), 2 * (positions - 1))) * float(positions);
}

TEST(Order, bf16AttentionFollowsTheOrderOfItsTerms) {
  EXPECT_EQ(bf16AttentionSum({0x1p24, 0, 1, 2}, train::BF16Order::Pairs), 0x1p24f + 4);
  EXPECT_EQ(bf16AttentionSum({0x1p24, 0, 1, 2}, train::BF16Order::Blocks), 0x1p24f + 2);
}

TEST(Order, aBF16TermOfZeroFillsAnOddEnd) {
  // -2^-120 + 2^-120 (1 - 2^-8) is a negative denormal, hence -0.0; the +0.0 that fills up the second pair makes it
  // +0.0, so that the last -0.0 does not show.
  float sum = bf16Sum({-0x1p-120, 0x1.fep-121, -0.0});
  EXPECT_EQ(sum, 0);
  EXPECT_FALSE(std::signbit(sum));
  EXPECT_TRUE(std::signbit(bf16Sum({-0x1p-120, 0x1.fep-121, -0.0, -0.0})));
}

// Of terms that are zero but for those given, by their numbers.
std::vector<double> sparse(size_t count, std::initializer_list<std::pair<size_t, double>> given) {
  std::vector<double> terms(count);
  for (auto [number, value] : given)
    terms[number] = value;
  return terms;
}

float blockSum(ArrayRef<double> terms, ArrayRef<int64_t> ranges = {}) {
  return bf16Sum(terms, ReferenceMode::Exact, train::BF16Order::Blocks, ranges);
}

TEST(Order, bf16BlocksHaveTwoChains) {
  // The even chain is 2^24 + 1 = 2^24 by ties to even, the odd one 2; pairs, and one chain, give 2^24 + 4.
  EXPECT_EQ(blockSum({0x1p24, 0, 1, 2}), 0x1p24f + 2);
  // The odd chain is 1 + 1, so that both show; added one by one to 2^24 neither does.
  EXPECT_EQ(blockSum({0x1p24, 1, 0, 1}), 0x1p24f + 2);
  EXPECT_EQ(bf16Sum({0x1p24, 1, 0, 1}), 0x1p24f);
  // Chains begin at zero in each block: 2^24 of the first is not there when 1 + 1 are added in the second.
  EXPECT_EQ(blockSum(sparse(64, {{0, 0x1p24}, {32, 1}, {34, 1}})), 0x1p24f + 2);
  EXPECT_EQ(blockSum(sparse(64, {{0, 0x1p24}, {30, 1}, {32, 1}})), 0x1p24f);
}

TEST(Order, bf16BlocksBeginWithTheirRange) {
  // From 34 on 1 + 1 are in one block; counted from 0, 65 and 62 are in two.
  std::vector<double> terms = sparse(68, {{0, 0x1p24}, {62, 1}, {64, 1}});
  EXPECT_EQ(blockSum(terms), 0x1p24f);
  EXPECT_EQ(blockSum(terms, {0, 34, 34, 68}), 0x1p24f + 2);
}

TEST(Order, bf16BlocksOfTokensBeginWithTheirSample) {
  // Three samples of 34 positions as one, and as three that continue from each other.
  const int64_t positions = 34;
  Draws draws(3);
  HostTensor x = draws.tensor({3, positions, 5}), dy = draws.tensor({3, positions, 7});
  auto sumOf = [&](const HostTensor &lhs, const HostTensor &rhs, const HostTensor *accumulator) {
    OpGraph ops;
    int64_t samples = lhs.shape[0];
    auto cast = [&](StringRef name, ArrayRef<int64_t> shape) -> Value {
      auto type = RankedTensorType::get(shape, ops.builder.getBF16Type());
      return train::CastOp::create(ops.builder, ops.loc, type, ops.input(name, shape));
    };
    Value left = cast("x", {samples, positions, 5}), right = cast("dy", {samples, positions, 7});
    auto segments = ops.builder.getDenseI64ArrayAttr(train::oneSegment(samples * positions));
    auto order = train::BF16OrderAttr::get(&ops.context, train::BF16Order::Blocks);
    ops.output("sum", train::ContractOp::create(ops.builder, ops.loc, ops.f32({5, 7}), ValueRange{left},
                                                ValueRange{right}, ops.input("acc", {5, 7}), train::ContractForm::TN,
                                                segments, DenseI64ArrayAttr(), order, train::F32ProductsAttr()));
    Values values{{"x", lhs}, {"dy", rhs}, {"acc", accumulator ? *accumulator : zeros({5, 7})}};
    return run(ops, "forward", ReferenceMode::Exact, values).at("sum");
  };
  HostTensor whole = sumOf(x, dy, nullptr), parts;
  for (int64_t sample = 0; sample < 3; ++sample)
    parts = sumOf(rows(x, sample, sample + 1), rows(dy, sample, sample + 1), sample ? &parts : nullptr);
  EXPECT_TRUE(sameBits(whole, parts));
}

TEST(Order, fp64DoesNotRoundToBF16) {
  EXPECT_EQ(bf16Sum({1.0 / 3, 0, 0}, ReferenceMode::Fp64), float(1.0 / 3));
  EXPECT_EQ(bf16Sum({1.0 / 3, 0, 0}), 0x1.56p-2f);
}

} // namespace
