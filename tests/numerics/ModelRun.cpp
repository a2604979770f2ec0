#include "tests/numerics/ModelRun.h"
#include "compiler/interp/StepRun.h"
#include "dialects/train/RunValues.h"
#include "dialects/train/Variables.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace recipe;
using namespace recipe::test;

static constexpr int32_t kVocabulary = 37;

static const SmallModel all[] = {
    {"gpt2", "gpt2",
     R"({"vocab_size": 37, "n_positions": 16, "n_embd": 12, "n_layer": 2, "n_head": 3, "n_inner": 35,
         "embd_pdrop": 0.1, "attn_pdrop": 0.2, "resid_pdrop": 0.1})"},
    {"llama", "llama",
     R"({"vocab_size": 37, "hidden_size": 12, "intermediate_size": 35, "num_hidden_layers": 2, "num_attention_heads": 4,
         "num_key_value_heads": 2, "head_dim": 6, "max_position_embeddings": 16, "attention_bias": true, "mlp_bias": true})"},
    {"tied_llama", "llama",
     R"({"vocab_size": 37, "hidden_size": 12, "intermediate_size": 19, "num_hidden_layers": 2, "num_attention_heads": 6,
         "num_key_value_heads": 2, "head_dim": 2, "max_position_embeddings": 16, "tie_word_embeddings": true,
         "rope_scaling": {"type": "linear", "factor": 2.0}, "attention_dropout": 0.1})"},
};

ArrayRef<SmallModel> recipe::test::smallModels() { return all; }

ModelRun::ModelRun(const SmallModel &model, const train::StepFacts &facts, ReferenceMode mode, StringRef frozen,
                   Precision precision)
    : facts(facts) {
  context.loadDialect<train::TrainDialect>();
  std::vector<recipe::models::ConfigProblem> problems;
  owner = recipe::models::buildModel(context, model.type, model.config, facts, problems);
  EXPECT_TRUE(owner) << (problems.empty() ? "" : problems[0].text);
  for (train::VariableOp parameter : parameters())
    if (!frozen.empty() && parameter.getSymName().contains(frozen))
      parameter.setTrainable(false);
  PassManager passes(&context);
  passes.addPass(createGradPass());
  passes.addPass(createUpdatePass());
  if (precision != FP32) {
    PrecisionPassOptions options;
    options.casts = precision != BF16X6;
    options.blocks = precision == BF16Blocks;
    options.bf16x6 = precision == BF16X6;
    passes.addPass(createPrecisionPass(options));
  }
  EXPECT_TRUE(succeeded(passes.run(*owner)));
  runner = std::make_unique<interp::Interpreter>(*owner, mode);
  rcp_step_params_v1 &params = runner->params();
  params.seed = 11;
  params.run_values[train::LearningRate] = 0.01;
  params.run_values[train::WarmupSteps] = 0;
  params.run_values[train::MaxSteps] = 100;
}

SmallVector<train::VariableOp> ModelRun::parameters() { return train::variablesOf(*owner, train::Role::Parameter); }

void ModelRun::drawParameters() {
  Draws draws(1);
  for (train::VariableOp parameter : parameters()) {
    auto type = cast<RankedTensorType>(parameter.getType());
    bool gain = parameter.getInit()->getAs<FloatAttr>("constant") && parameter.getSymName().ends_with(".weight");
    HostTensor value = gain ? draws.tensor(type.getShape(), 0.5, 1.5) : draws.tensor(type.getShape(), -0.4, 0.4);
    EXPECT_TRUE(succeeded(runner->setVariable(parameter.getSymName(), value)));
  }
}

void ModelRun::drawSamples(uint64_t seed) {
  Draws draws(seed);
  tokens = draws.ids({facts.globalBatch, facts.seqLength}, kVocabulary);
  labels = draws.ids({facts.globalBatch, facts.seqLength}, kVocabulary, 5);
  std::fill_n(labels.i32.begin() + (facts.globalBatch / 2) * facts.seqLength, facts.seqLength, -1);
}

void ModelRun::load(int64_t microbatch) {
  int64_t first = microbatch * facts.batchSize;
  HostTensor positions = rows(tokens, 0, facts.batchSize);
  for (int64_t i = 0; i < positions.size(); ++i)
    positions.i32[i] = int32_t(i % facts.seqLength);
  runner->params().first_sample = first;
  runner->setInput("tokens", rows(tokens, first, first + facts.batchSize));
  runner->setInput("labels", rows(labels, first, first + facts.batchSize));
  runner->setInput("positions", positions);
}

void ModelRun::runSteps(int64_t steps) {
  for (int64_t step = 0; step < steps; ++step) {
    drawSamples(100 + uint64_t(step));
    runStep(step);
  }
}

void ModelRun::runStep(int64_t step) {
  auto loader = [&](int64_t microbatch) {
    load(microbatch);
    return success();
  };
  if (step == 0)
    ASSERT_TRUE(succeeded(interp::refresh(*runner)));
  ASSERT_TRUE(succeeded(interp::runStep(*runner, step, loader)));
}

double ModelRun::lossSum() {
  HostTensor loss = value("loss");
  double sum = 0;
  for (int64_t i = 0; i < loss.size(); ++i)
    sum += at(loss, i);
  return sum;
}

HostTensor ModelRun::gradient(train::VariableOp parameter) {
  HostTensor total = zeros(cast<RankedTensorType>(parameter.getType()).getShape());
  for (train::VariableOp variable : train::variablesOf(*owner, train::Role::Gradient)) {
    if (variable.getOf() != parameter.getSymName())
      continue;
    HostTensor use = value(variable.getSymName());
    for (int64_t i = 0; i < use.size(); ++i)
      total.f64[i % total.size()] += at(use, i); // [8][C] onto [C]
  }
  return total;
}
