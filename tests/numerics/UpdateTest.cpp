// Initial values, loss, gradient norm, AdamW and schedule.
#include "dialects/train/RunValues.h"
#include "tests/numerics/BinOrder.h"
#include "tests/numerics/OpGraph.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <random>

using namespace mlir;
using namespace recipe;
using namespace recipe::test;

namespace {

const ReferenceMode bothModes[] = {ReferenceMode::Fp64, ReferenceMode::Exact};

// Runs the graph and returns the step scalars it leaves.
rcp_step_params_v1 scalarsAfter(OpGraph &ops, ReferenceMode mode, const Values &variables,
                                const rcp_step_params_v1 &before) {
  interp::Interpreter interpreter(ops.module, mode);
  interpreter.params() = before;
  for (const auto &[name, value] : variables)
    EXPECT_TRUE(succeeded(interpreter.setVariable(name, value))) << name;
  EXPECT_TRUE(succeeded(interpreter.run("forward")));
  return interpreter.params();
}

TEST(Update, initialValuesAreTheSameFloatsInBothModes) {
  OpGraph ops;
  auto make = [&](StringRef name, int64_t key) {
    ops.output(name,
               train::InitNormalOp::create(ops.builder, ops.loc, ops.f32({41, 51}), ops.builder.getF64FloatAttr(0.02),
                                           ops.builder.getI64IntegerAttr(key)));
  };
  make("a", 77);
  make("b", 78);
  rcp_step_params_v1 params{};
  params.seed = 3;
  Values exact = run(ops, "forward", ReferenceMode::Exact, {}, params),
         fp64 = run(ops, "forward", ReferenceMode::Fp64, {}, params);
  params.seed = 4;
  Values other = run(ops, "forward", ReferenceMode::Exact, {}, params);
  double squares = 0;
  int64_t n = exact["a"].size();
  for (int64_t i = 0; i < n; ++i) {
    ASSERT_EQ(double(exact["a"].f32[i]), fp64["a"].f64[i]);
    squares += fp64["a"].f64[i] * fp64["a"].f64[i];
  }
  EXPECT_NEAR(std::sqrt(squares / n), 0.02, 0.02 * 5 / std::sqrt(2.0 * n));
  EXPECT_FALSE(sameBits(exact["a"], exact["b"]));
  EXPECT_FALSE(sameBits(exact["a"], other["a"]));
}

TEST(Update, lossIsTheTreeOverPositionSegments) {
  OpGraph ops;
  train::StepLossOp::create(ops.builder, ops.loc, ops.input("loss", {8}), ops.input("count", {8}));
  Draws draws(1);
  Values inputs{{"loss", draws.tensor({8})}, {"count", filled({8}, 3)}};
  const auto &x = inputs["loss"].f64;
  auto f = [&](int i) { return float(x[i]); };
  rcp_step_params_v1 exact = scalarsAfter(ops, ReferenceMode::Exact, inputs, {});
  EXPECT_EQ(exact.loss_sum, double(((f(0) + f(1)) + (f(2) + f(3))) + ((f(4) + f(5)) + (f(6) + f(7)))));
  EXPECT_EQ(exact.valid_tokens, 24);
  rcp_step_params_v1 fp64 = scalarsAfter(ops, ReferenceMode::Fp64, inputs, {});
  EXPECT_NEAR(fp64.loss_sum, exact.loss_sum, 1e-6);
  EXPECT_EQ(fp64.valid_tokens, 24);
}

// Whatever the losses are and in whichever order: each enters as a multiple of 2^-24, whose sum is exact.
TEST(Update, lossOfAnEvaluationDoesNotDependOnTheOrderOfTokens) {
  auto total = [](ReferenceMode mode, int64_t samples, std::vector<double> losses) {
    OpGraph ops;
    SmallVector<int64_t> shape = {samples, int64_t(losses.size()) / samples};
    train::EvalLossOp::create(ops.builder, ops.loc, ops.input("loss", shape), ops.input("count", shape));
    HostTensor tensor = filled(shape, 0);
    tensor.f64 = std::move(losses);
    rcp_step_params_v1 params = scalarsAfter(ops, mode, {{"loss", tensor}, {"count", filled(shape, 1)}}, {});
    EXPECT_EQ(params.valid_tokens, int64_t(tensor.f64.size()));
    return params.loss_sum;
  };
  std::mt19937 random(7);
  std::vector<double> losses;
  double plain = 0;
  for (int i = 0; i < 3000; ++i)
    plain += losses.emplace_back(double(std::ldexp(float(random() % (1 << 24)), -20 - int(random() % 40))));
  losses.push_back(1e7); // and what is far from the others
  plain += 1e7;
  double exact = total(ReferenceMode::Exact, 1, losses);
  EXPECT_NEAR(exact, plain, 3000 * 0x1p-25);
  EXPECT_NE(exact, plain);
  EXPECT_NEAR(total(ReferenceMode::Fp64, 1, losses), plain, 1e-6);
  for (int round = 0; round < 10; ++round) {
    std::shuffle(losses.begin(), losses.end(), random);
    EXPECT_EQ(total(ReferenceMode::Exact, 3001, losses), exact);
  }
  losses[5] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(total(ReferenceMode::Exact, 1, losses), losses[5]);
}

// grad_norm over tensors of the given values, in the given order.
rcp_step_params_v1 normOf(ReferenceMode mode, ArrayRef<HostTensor> gradients, double clip, int64_t validTokens = 10,
                          double loss = 1) {
  OpGraph ops;
  SmallVector<Value> values;
  Values inputs;
  for (auto [i, gradient] : llvm::enumerate(gradients)) {
    std::string name = "g" + std::to_string(i);
    values.push_back(ops.input(name, gradient.shape));
    inputs[name] = gradient;
  }
  train::GradNormOp::create(ops.builder, ops.loc, values, APFloat(clip));
  rcp_step_params_v1 params{};
  params.valid_tokens = validTokens;
  params.loss_sum = loss;
  return scalarsAfter(ops, mode, inputs, params);
}

TEST(Update, gradientNormIsAccurate) {
  Draws draws(1);
  HostTensor a = draws.tensor({7, 11}), b = draws.tensor({1000}, -1e-6, 1e-6), c = draws.tensor({13}, -300, 300);
  long double squares = 0;
  for (const HostTensor *tensor : {&a, &b, &c})
    for (double x : tensor->f64)
      squares += (long double)x * x;
  double norm = double(std::sqrt(squares)) / 10;
  for (ReferenceMode mode : bothModes) {
    rcp_step_params_v1 params = normOf(mode, {a, b, c}, 0);
    EXPECT_NEAR(params.grad_norm, norm, 1e-14 * norm);
    EXPECT_EQ(params.grad_scale, 0.1);
    EXPECT_EQ(params.skip_update, 0u);
    rcp_step_params_v1 clipped = normOf(mode, {a, b, c}, 2);
    EXPECT_DOUBLE_EQ(clipped.grad_scale, 2 / (clipped.grad_norm + 1e-6) / 10);
    EXPECT_EQ(normOf(mode, {a, b, c}, 1e9).grad_scale, 0.1);
  }
}

TEST(Update, gradientNormDoesNotDependOnTheOrder) {
  Draws draws(2);
  HostTensor all = draws.tensor({6000});
  for (size_t i = 0; i < all.f64.size(); ++i)
    all.f64[i] = float(std::ldexp(all.f64[i], -int(i % 40))); // magnitudes over forty binary orders
  double first = normOf(ReferenceMode::Exact, {all}, 1).grad_norm;
  std::mt19937 engine(5);
  for (int64_t cut : {1, 17, 3000}) {
    std::shuffle(all.f64.begin(), all.f64.end(), engine);
    EXPECT_EQ(normOf(ReferenceMode::Exact, {rows(all, cut, 6000), rows(all, 0, cut)}, 1).grad_norm, first);
    EXPECT_EQ(normOf(ReferenceMode::Fp64, {rows(all, cut, 6000), rows(all, 0, cut)}, 1).grad_norm, first);
  }
}

TEST(Update, gradientNormAddsItsBinsFromTheSmallest) {
  BinOrder order = findBinOrder();
  HostTensor gradients = filled({int64_t(order.gradients.size())}, 0);
  gradients.f64.assign(order.gradients.begin(), order.gradients.end());
  for (ReferenceMode mode : bothModes)
    EXPECT_EQ(normOf(mode, {gradients}, 0, /*validTokens=*/1).grad_norm, order.norm);
}

TEST(Update, nothingUsableSkipsTheUpdate) {
  for (ReferenceMode mode : bothModes) {
    HostTensor good = filled({3}, 0.5), bad = good;
    for (double value : {double(NAN), double(INFINITY), -double(INFINITY)}) {
      bad.f64[1] = value;
      EXPECT_EQ(normOf(mode, {good, bad}, 1).skip_update, 1u);
      EXPECT_EQ(normOf(mode, {bad, good}, 1).skip_update, 1u);
      EXPECT_EQ(normOf(mode, {filled({2}, value)}, 1).skip_update, 1u);
      EXPECT_EQ(normOf(mode, {good}, 1, 10, value).skip_update, 1u);
    }
    EXPECT_EQ(normOf(mode, {good}, 1, 0).skip_update, 1u);
    rcp_step_params_v1 zero = normOf(mode, {filled({3}, 0)}, 1);
    EXPECT_EQ(zero.grad_norm, 0);
    EXPECT_EQ(zero.skip_update, 0u);
    EXPECT_EQ(zero.grad_scale, 0.1);
  }
}

struct AdamwGraph {
  explicit AdamwGraph(double decay) {
    OpBuilder &b = ops.builder;
    auto type = ops.f32({5});
    auto op = train::AdamwOp::create(b, ops.loc, type, type, type, ops.input("p", {5}), ops.input("m", {5}),
                                     ops.input("v", {5}), ops.input("g", {5}), b.getF64FloatAttr(0.9),
                                     b.getF64FloatAttr(0.95), b.getF64FloatAttr(1e-8), b.getF64FloatAttr(decay));
    ops.output("p_out", op.getParameterResult());
    ops.output("m_out", op.getMResult());
    ops.output("v_out", op.getVResult());
  }
  OpGraph ops;
};

TEST(Update, adamwMatchesItsDefinition) {
  Draws draws(1);
  Values in{
      {"p", draws.tensor({5})}, {"m", draws.tensor({5})}, {"v", draws.tensor({5}, 0, 1)}, {"g", draws.tensor({5})}};
  rcp_step_params_v1 params{};
  params.grad_scale = 0.3, params.learning_rate = 0.01, params.bias_correction1 = 0.19,
  params.bias_correction2 = 0.0975;
  for (double decay : {0.0, 0.1}) {
    AdamwGraph graph(decay);
    for (ReferenceMode mode : bothModes) {
      Values out = run(graph.ops, "forward", mode, in, params);
      double tolerance = mode == ReferenceMode::Fp64 ? 1e-14 : 8 * 0x1p-24;
      for (int64_t i = 0; i < 5; ++i) {
        double p = in["p"].f64[i], g = in["g"].f64[i] * 0.3;
        double m = 0.9 * in["m"].f64[i] + 0.1 * g, v = 0.95 * in["v"].f64[i] + 0.05 * g * g;
        double step = m / 0.19 / (std::sqrt(v / 0.0975) + 1e-8) + decay * p;
        EXPECT_NEAR(at(out["m_out"], i), m, tolerance);
        EXPECT_NEAR(at(out["v_out"], i), v, tolerance);
        EXPECT_NEAR(at(out["p_out"], i), p - 0.01 * step, tolerance);
      }
    }
  }
}

TEST(Update, aSkippedUpdateLeavesAllStateAlone) {
  Draws draws(1);
  Values in{
      {"p", draws.tensor({5})}, {"m", draws.tensor({5})}, {"v", draws.tensor({5}, 0, 1)}, {"g", filled({5}, NAN)}};
  AdamwGraph graph(0.1);
  rcp_step_params_v1 params{};
  params.skip_update = 1;
  for (ReferenceMode mode : bothModes) {
    Values out = run(graph.ops, "forward", mode, in, params);
    for (const char *name : {"p", "m", "v"})
      for (int64_t i = 0; i < 5; ++i)
        EXPECT_EQ(at(out[std::string(name) + "_out"], i), in[name].f64[i]);
  }
}

TEST(Update, scheduleReadsTheRunValues) {
  OpGraph ops;
  train::ScheduleOp::create(ops.builder, ops.loc, APFloat(0.9), APFloat(0.99));
  rcp_step_params_v1 params{};
  params.run_values[train::LearningRate] = 0.5;
  params.run_values[train::MinLrRatio] = 0.1;
  params.run_values[train::Scheduler] = 1;
  params.run_values[train::WarmupSteps] = 4;
  params.run_values[train::WarmupRatio] = -1;
  params.run_values[train::MaxSteps] = 14;
  for (ReferenceMode mode : bothModes) {
    params.step = 1;
    rcp_step_params_v1 after = scalarsAfter(ops, mode, {}, params);
    EXPECT_DOUBLE_EQ(after.learning_rate, 0.25);
    EXPECT_DOUBLE_EQ(after.bias_correction1, 1 - 0.9 * 0.9);
    EXPECT_DOUBLE_EQ(after.bias_correction2, 1 - 0.99 * 0.99);
    params.step = 8;
    EXPECT_DOUBLE_EQ(scalarsAfter(ops, mode, {}, params).learning_rate, 0.05 + 0.45 * 0.5);
  }
}

} // namespace
