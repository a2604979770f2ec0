// Whole models: gradients against finite differences, and bits that do not depend on how the global batch is cut.
#include "dialects/train/Variables.h"
#include "tests/numerics/ModelRun.h"
#include <cstring>
#include <gtest/gtest.h>

using namespace recipe;
using namespace recipe::test;

namespace {

train::StepFacts factsOf(int64_t batch, int64_t global, int64_t batchSegments = 8) {
  train::StepFacts facts;
  facts.batchSize = batch;
  facts.seqLength = 11; // positions in segments of 2, the last ones short and empty
  facts.globalBatch = global;
  facts.batchSegments = batchSegments;
  return facts;
}

class Models : public testing::TestWithParam<SmallModel> {};

// The derivative of the loss along `direction` of one parameter.
double difference(ModelRun &run, train::VariableOp parameter, const HostTensor &direction) {
  HostTensor start = run.value(parameter.getSymName());
  auto lossAt = [&](double distance) {
    HostTensor moved = start;
    for (int64_t i = 0; i < moved.size(); ++i)
      moved.f64[i] += distance * direction.f64[i];
    EXPECT_TRUE(succeeded(run.interpreter().setVariable(parameter.getSymName(), moved)));
    EXPECT_TRUE(succeeded(run.interpreter().run("train")));
    return run.lossSum();
  };
  // What the differences leave out goes with h^4; with 1e-3 it was 1.2e-5 for tied_llama's embedding under one mask.
  const double h = 1e-4;
  double slope = (8 * (lossAt(h) - lossAt(-h)) - (lossAt(2 * h) - lossAt(-2 * h))) / (12 * h);
  EXPECT_TRUE(succeeded(run.interpreter().setVariable(parameter.getSymName(), start)));
  return slope;
}

TEST_P(Models, GradientsMatchDifferences) {
  ModelRun run(GetParam(), factsOf(4, 4), ReferenceMode::Fp64);
  run.drawParameters();
  run.drawSamples(1);
  run.load(0);
  Draws draws(2);
  for (train::VariableOp parameter : run.parameters()) {
    ASSERT_TRUE(succeeded(run.interpreter().run("train")));
    HostTensor gradient = run.gradient(parameter), direction = draws.tensor(gradient.shape);
    double expected = 0;
    for (int64_t i = 0; i < gradient.size(); ++i)
      expected += gradient.f64[i] * direction.f64[i];
    double actual = difference(run, parameter, direction);
    EXPECT_NEAR(actual, expected, 1e-7 * std::max(1.0, std::abs(expected))) << parameter.getSymName().str();
    // The bias of a key moves every score of a row alike, which softmax does not feel; nothing else may be without
    // effect.
    bool keyBias = parameter.getSymName().contains("k_proj.bias") || parameter.getSymName().contains("c_attn.bias[k]");
    if (!keyBias || GetParam().type == std::string("llama"))
      EXPECT_GT(std::abs(expected), 1e-3) << parameter.getSymName().str();
  }
}

// Everything that two steps leave behind: parameters, optimizer state, step scalars.
void expectSameSteps(ModelRun &a, ModelRun &b) {
  auto expectSame = [&](train::Role role) {
    for (train::VariableOp variable : train::variablesOf(a.module(), role))
      EXPECT_TRUE(sameBits(a.value(variable.getSymName()), b.value(variable.getSymName())))
          << variable.getSymName().str();
  };
  expectSame(train::Role::Parameter);
  expectSame(train::Role::AdamM);
  expectSame(train::Role::AdamV);
  const rcp_step_params_v1 &x = a.interpreter().params(), &y = b.interpreter().params();
  EXPECT_EQ(x.loss_sum, y.loss_sum);
  EXPECT_EQ(x.valid_tokens, y.valid_tokens);
  EXPECT_EQ(x.grad_norm, y.grad_norm);
  EXPECT_GT(x.valid_tokens, 0);
  EXPECT_GT(x.grad_norm, 0);
}

// Micro-batches with different numbers of valid labels, as drawSamples makes them, in every factoring of the global
// batch.
TEST_P(Models, StepsDoNotDependOnTheFactoring) {
  for (int64_t batchSegments : {8, 2}) {
    ModelRun whole(GetParam(), factsOf(16, 16, batchSegments), ReferenceMode::Exact);
    whole.drawParameters();
    whole.runSteps(2);
    for (int64_t batch : {1, 2, 4, 8}) {
      SCOPED_TRACE("batch size " + std::to_string(batch) + ", segments " + std::to_string(batchSegments));
      ModelRun cut(GetParam(), factsOf(batch, 16, batchSegments), ReferenceMode::Exact);
      cut.drawParameters();
      cut.runSteps(2);
      expectSameSteps(whole, cut);
    }
  }
}

// A global batch that is not a power of two: 3 samples in each of 4 segments.
TEST_P(Models, StepsDoNotDependOnTheFactoringOfOddBatches) {
  ModelRun whole(GetParam(), factsOf(12, 12), ReferenceMode::Exact);
  whole.drawParameters();
  whole.runSteps(1);
  for (int64_t batch : {1, 3, 6}) {
    SCOPED_TRACE("batch size " + std::to_string(batch));
    ModelRun cut(GetParam(), factsOf(batch, 12), ReferenceMode::Exact);
    cut.drawParameters();
    cut.runSteps(1);
    expectSameSteps(whole, cut);
  }
}

TEST_P(Models, FrozenParametersStayAndChangeNoOtherGradient) {
  ModelRun free(GetParam(), factsOf(4, 4), ReferenceMode::Exact);
  const char *frozen = GetParam().type == std::string("gpt2") ? "c_fc.weight" : "up_proj.weight";
  ModelRun partly(GetParam(), factsOf(4, 4), ReferenceMode::Exact, frozen);
  for (ModelRun *run : {&free, &partly}) {
    run->drawParameters();
    run->drawSamples(1);
    run->load(0);
    ASSERT_TRUE(succeeded(run->interpreter().run("train")));
  }
  size_t missing = 0;
  for (train::VariableOp gradient : train::variablesOf(free.module(), train::Role::Gradient)) {
    if (gradient.getSymName().contains(frozen)) {
      EXPECT_FALSE(partly.module().lookupSymbol(gradient.getSymName()));
      ++missing;
    } else {
      EXPECT_TRUE(sameBits(free.value(gradient.getSymName()), partly.value(gradient.getSymName())))
          << gradient.getSymName().str();
    }
  }
  EXPECT_EQ(missing, 2u); // one in each layer
  partly.runSteps(1);
  ModelRun fresh(GetParam(), factsOf(4, 4), ReferenceMode::Exact);
  fresh.drawParameters();
  for (train::VariableOp parameter : partly.parameters())
    EXPECT_EQ(sameBits(partly.value(parameter.getSymName()), fresh.value(parameter.getSymName())),
              parameter.getSymName().contains(frozen))
        << parameter.getSymName().str();
}

// A frozen layer below everything that is trained costs no backward.
TEST(Backward, EndsWhereNothingIsTrained) {
  ModelRun all(smallModels()[1], factsOf(4, 4), ReferenceMode::Exact);
  ModelRun last(smallModels()[1], factsOf(4, 4), ReferenceMode::Exact, "model."); // all but lm_head.weight
  auto backwardOps = [](ModelRun &run) {
    size_t count = 0;
    auto train = run.module().lookupSymbol<train::GraphOp>("train");
    bool backward = false;
    for (mlir::Operation &op : train.getBody().front()) {
      count += backward && mlir::isa<train::GradientOpInterface>(op);
      backward |= mlir::isa<train::BackwardBeginOp>(op);
    }
    return count;
  };
  EXPECT_GT(backwardOps(all), 20u);
  EXPECT_EQ(backwardOps(last), 0u);
}

// Evaluation sees the same model as training: without dropout the losses are equal.
TEST(Evaluation, HasTheLossOfTraining) {
  ModelRun run(smallModels()[1], factsOf(4, 4), ReferenceMode::Fp64);
  run.drawParameters();
  run.drawSamples(1);
  run.load(0);
  ASSERT_TRUE(succeeded(run.interpreter().run("train")));
  double trained = run.lossSum();
  ASSERT_TRUE(succeeded(run.interpreter().run("eval")));
  EXPECT_NEAR(run.interpreter().params().loss_sum, trained, 1e-12 * trained);
  EXPECT_GT(run.interpreter().params().valid_tokens, 0);
}

INSTANTIATE_TEST_SUITE_P(Small, Models, testing::ValuesIn(smallModels()),
                         [](const auto &info) { return info.param.name; });

} // namespace
