// Whole models in bf16, or with f32 products by parts in bf16: what rounding costs in loss, what it leaves alone, and
// what stays in f32.
#include "dialects/train/Formulas.h"
#include "dialects/train/Policies.h"
#include "dialects/train/RunValues.h"
#include "dialects/train/Variables.h"
#include "passes/precision/Policy.h"
#include "tests/numerics/ModelRun.h"
#include <cmath>
#include <gtest/gtest.h>
#include <iostream>

using namespace recipe;
using namespace recipe::test;
using mlir::RankedTensorType;

namespace {

train::StepFacts factsOf(int64_t batch, int64_t global, int64_t positions = 12) {
  train::StepFacts facts;
  facts.batchSize = batch;
  facts.seqLength = positions; // even: token sums are in bf16, too
  facts.globalBatch = global;
  return facts;
}

constexpr ModelRun::Precision mixed[] = {ModelRun::BF16, ModelRun::BF16Blocks, ModelRun::BF16X6};
const char *const mixedNames[] = {"", "pairs", "blocks", "bf16x6"}; // by ModelRun::Precision

class MixedPrecision : public testing::TestWithParam<SmallModel> {
protected:
  std::unique_ptr<ModelRun> start(ModelRun::Precision precision, ReferenceMode mode, int64_t batch = 16) {
    auto run = std::make_unique<ModelRun>(GetParam(), factsOf(batch, 16), mode, "", precision);
    run->drawParameters();
    return run;
  }
  static void expectSameParameters(ModelRun &a, ModelRun &b) {
    for (train::VariableOp parameter : a.parameters()) {
      HostTensor x = a.value(parameter.getSymName()), y = b.value(parameter.getSymName());
      for (int64_t i = 0; i < x.size(); ++i)
        ASSERT_EQ(at(x, i), at(y, i)) << parameter.getSymName().str() << " at " << i;
    }
  }
};

TEST_P(MixedPrecision, MeansTheSameInFp64) {
  auto whole = start(ModelRun::FP32, ReferenceMode::Fp64);
  whole->runSteps(2);
  for (ModelRun::Precision precision : mixed) {
    auto other = start(precision, ReferenceMode::Fp64);
    other->runSteps(2);
    expectSameParameters(*whole, *other);
  }
}

TEST_P(MixedPrecision, StepsDoNotDependOnTheFactoring) {
  for (ModelRun::Precision precision : mixed) {
    auto whole = start(precision, ReferenceMode::Exact);
    whole->runSteps(2);
    for (int64_t batch : {1, 2, 4, 8}) {
      SCOPED_TRACE("batch size " + std::to_string(batch) + ", " + mixedNames[precision]);
      auto cut = start(precision, ReferenceMode::Exact, batch);
      cut->runSteps(2);
      expectSameParameters(*whole, *cut);
      EXPECT_EQ(whole->interpreter().params().loss_sum, cut->interpreter().params().loss_sum);
      EXPECT_EQ(whole->interpreter().params().grad_norm, cut->interpreter().params().grad_norm);
    }
  }
}

// Parameters, optimizer state and sums of gradients are f32; copies are what the update left.
TEST_P(MixedPrecision, OnlyWorkingCopiesAreBF16) {
  auto run = start(ModelRun::BF16, ReferenceMode::Exact);
  run->runSteps(1);
  size_t copies = 0;
  train::ExactPolicy p;
  for (auto variable : run->module().getOps<train::VariableOp>()) {
    bool isCopy = variable.getRole() == train::Role::Working;
    EXPECT_EQ(mlir::cast<RankedTensorType>(variable.getType()).getElementType().isBF16(), isCopy);
    if (!isCopy)
      continue;
    ++copies;
    HostTensor copy = run->value(variable.getSymName()), parameter = run->value(*variable.getOf());
    for (int64_t i = 0; i < copy.size(); ++i)
      ASSERT_EQ(copy.f32[i], train::roundToBF16(p, parameter.f32[i])) << variable.getSymName().str();
  }
  EXPECT_EQ(copies, GetParam().type == std::string("gpt2") ? 13u : 15u); // the matrices of two layers, the head
}

INSTANTIATE_TEST_SUITE_P(Small, MixedPrecision, testing::ValuesIn(smallModels()),
                         [](const auto &info) { return info.param.name; });

const SmallModel learner = {
    "learner", "llama",
    R"({"vocab_size": 37, "hidden_size": 32, "intermediate_size": 88, "num_hidden_layers": 2, "num_attention_heads": 4,
        "num_key_value_heads": 2, "max_position_embeddings": 16, "tie_word_embeddings": false})"};

// A language: each token has one that follows it in two of three cases; otherwise any does.
void drawText(ModelRun &run, Draws &draws, int64_t samples, int64_t positions) {
  HostTensor tokens = draws.ids({samples, positions}, 37), labels = tokens;
  for (int64_t sample = 0; sample < samples; ++sample)
    for (int64_t i = 0; i < positions; ++i) {
      int32_t &label = labels.i32[size_t(sample * positions + i)];
      label = draws.below(3) ? (tokens.i32[size_t(sample * positions + i)] * 11 + 5) % 37 : draws.below(37);
      if (i + 1 < positions)
        tokens.i32[size_t(sample * positions + i + 1)] = label;
    }
  run.setSamples(tokens, labels);
}

// Per token, at each step of training from random weights on new text.
std::vector<double> losses(ModelRun::Precision precision, ReferenceMode mode, int64_t steps) {
  const int64_t samples = 16, positions = 16;
  ModelRun run(learner, factsOf(4, samples, positions), mode, "", precision);
  run.interpreter().params().run_values[train::MaxSteps] = double(steps);
  run.interpreter().params().run_values[train::LearningRate] = 0.003;
  EXPECT_TRUE(mlir::succeeded(run.interpreter().run("init")));
  std::vector<double> result;
  Draws draws(7);
  for (int64_t step = 0; step < steps; ++step) {
    drawText(run, draws, samples, positions);
    run.runStep(step);
    const rcp_step_params_v1 &params = run.interpreter().params();
    result.push_back(params.loss_sum / double(params.valid_tokens));
  }
  return result;
}

double worstDeviation(const std::vector<double> &from, const std::vector<double> &to) {
  double worst = 0;
  for (size_t step = 0; step < to.size(); ++step)
    worst = std::max(worst, std::abs(from[step] - to[step]) / to[step]);
  return worst;
}

TEST(MixedPrecisionLoss, FollowsFp64) {
  const int64_t steps = 200;
  std::vector<double> fp64 = losses(ModelRun::FP32, ReferenceMode::Fp64, steps);
  std::vector<double> fp32 = losses(ModelRun::FP32, ReferenceMode::Exact, steps);
  std::vector<double> bf16 = losses(ModelRun::BF16, ReferenceMode::Exact, steps);
  EXPECT_NE(bf16, losses(ModelRun::BF16Blocks, ReferenceMode::Exact, steps)) << "the order does not show";
  EXPECT_LT(fp64.back(), 0.75 * fp64.front()) << "nothing was learned";
  double worst = worstDeviation(bf16, fp64);
  EXPECT_LE(worst, 1e-2);
  EXPECT_GT(worst, 1e-5) << "nothing was rounded";
  EXPECT_LE(std::abs(bf16.back() - fp32.back()), 0.01);
  // By parts in bf16: as close as with fma, with other bits.
  std::vector<double> parts = losses(ModelRun::BF16X6, ReferenceMode::Exact, steps);
  EXPECT_NE(parts, fp32) << "nothing was multiplied by parts";
  EXPECT_LE(worstDeviation(parts, fp64), 1e-6);
  std::cout << "from " << fp64.front() << " to " << fp64.back() << "; bf16 deviates by " << worst << " at most, ends "
            << bf16.back() - fp32.back() << " above fp32; bf16x6 deviates by " << worstDeviation(parts, fp64)
            << ", fp32 by " << worstDeviation(fp32, fp64) << "\n";
}

TEST(PrecisionPolicy, GlobsAreStarsAndQuestionMarks) {
  using precision::matchesGlob;
  EXPECT_TRUE(matchesGlob("h.0.attn.c_attn[q]", "h.0.attn.c_attn[q]"));
  EXPECT_TRUE(matchesGlob("*", "anything.at.all"));
  EXPECT_TRUE(matchesGlob("h.*.c_attn[?]", "h.10.attn.c_attn[k]"));
  EXPECT_TRUE(matchesGlob("*.0.*", "h.10.0.x"));
  EXPECT_TRUE(matchesGlob("a**b*", "aab"));
  EXPECT_TRUE(matchesGlob("*aab", "aaaab"));
  EXPECT_FALSE(matchesGlob("h.0", "h.0.attn"));
  EXPECT_FALSE(matchesGlob("h.?.attn", "h.10.attn"));
  EXPECT_FALSE(matchesGlob("", "h"));
  EXPECT_FALSE(matchesGlob("h.[0-9]", "h.1"));
  EXPECT_FALSE(matchesGlob("*b", "abc"));
}

TEST(PrecisionPolicy, ClassesAreKnown) {
  EXPECT_EQ(precision::classNames(), (std::vector<std::string>{"matmul", "attention", "elementwise", "norm", "loss",
                                                               "embedding", "optimizer", "table"}));
}

TEST(PrecisionPolicy, TellsWhatMatchesNothing) {
  ModelRun run(smallModels()[0], factsOf(16, 16), ReferenceMode::Exact);
  EXPECT_EQ(precision::matchNothing(run.module(),
                                    {"matmul", "transformer.h.0.*", "matmull", "transformer.h.2.*", "*.c_proj"}),
            (std::vector<std::string>{"matmull", "transformer.h.2.*"}));
}

} // namespace
