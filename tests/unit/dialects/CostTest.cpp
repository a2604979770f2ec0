// Floating point operations against numbers worked out by hand.
#include "dialects/dist/Dist.h"
#include "dialects/train/Train.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "models/Models.h"
#include "passes/Passes.h"
#include "gtest/gtest.h"
#include <fstream>
#include <sstream>

using namespace mlir;
using namespace recipe;

namespace {

class Cost : public testing::Test {
protected:
  Cost() { context.loadDialect<train::TrainDialect, dist::DistDialect>(); }

  // The one op that costs, in a graph of `body`.
  train::CostOpInterface op(const std::string &body) {
    module = parseSourceString<ModuleOp>("train.graph @g {\n" + body + "\n}", &context);
    train::CostOpInterface found;
    if (module)
      module->walk([&](train::CostOpInterface op) { found = op; });
    return found;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(Cost, ContractCountsAMultiplyAddAsTwo) {
  // 2 * 3 rows, 8 terms, 5 columns.
  train::CostOpInterface nn = op(R"(
    %x = train.input "x" : tensor<2x3x8xf32>
    %w = train.input "w" : tensor<8x5xf32>
    %y = train.contract %x, %w {form = #train<form nn>, segments = array<i64: 0, 8>,
      operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x3x8xf32>, tensor<8x5xf32>) -> tensor<2x3x5xf32>)");
  ASSERT_TRUE(nn);
  EXPECT_EQ(nn.getFlops(), 480);
  EXPECT_EQ(nn.getBytes(), 4 * (48 + 40 + 30));

  train::CostOpInterface nt = op(R"(
    %x = train.input "x" : tensor<2x3x8xf32>
    %w = train.input "w" : tensor<5x8xf32>
    %y = train.contract %x, %w {form = #train<form nt>, segments = array<i64: 0, 8>,
      operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x3x8xf32>, tensor<5x8xf32>) -> tensor<2x3x5xf32>)");
  ASSERT_TRUE(nt);
  EXPECT_EQ(nt.getFlops(), 480);

  // 8 x 5 results of 6 tokens each.
  train::CostOpInterface tn = op(R"(
    %x = train.input "x" : tensor<2x3x8xf32>
    %d = train.input "d" : tensor<2x3x5xf32>
    %y = train.contract %x, %d {form = #train<form tn>, segments = array<i64: 0, 6>,
      operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x3x8xf32>, tensor<2x3x5xf32>) -> tensor<8x5xf32>)");
  ASSERT_TRUE(tn);
  EXPECT_EQ(tn.getFlops(), 480);
}

TEST_F(Cost, ContractAddsItsPairs) {
  // 6 rows and 5 columns of 8 + 4 terms.
  train::CostOpInterface sum = op(R"(
    %x = train.input "x" : tensor<2x3x8xf32>
    %z = train.input "z" : tensor<2x3x4xf32>
    %v = train.input "v" : tensor<8x5xf32>
    %w = train.input "w" : tensor<4x5xf32>
    %y = train.contract %x, %z, %v, %w {form = #train<form nn>, segments = array<i64: 0, 8, 0, 4>,
      operandSegmentSizes = array<i32: 2, 2, 0>}
      : (tensor<2x3x8xf32>, tensor<2x3x4xf32>, tensor<8x5xf32>, tensor<4x5xf32>) -> tensor<2x3x5xf32>)");
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum.getFlops(), 720);
}

TEST_F(Cost, AttentionCountsUnmaskedPairs) {
  // 2 samples, 4 heads of 2 channels, 3 positions: 2 * 4 * (1 + 2 + 3) pairs; a pair costs a dot product and a weighted
  // sum of 2 * 2 operations each, and 12 for the softmax.
  train::CostOpInterface forward = op(R"(
    %q = train.input "q" : tensor<2x3x8xf32>
    %k = train.input "k" : tensor<2x3x4xf32>
    %o, %m, %s = train.attention %q, %k, %k {heads = 4 : i64, kv_heads = 2 : i64, scale = 0.5 : f64,
      dropout = 0.0 : f64, dropout_id = 0 : i64}
      : (tensor<2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> (tensor<2x3x8xf32>, tensor<2x4x3xf32>, tensor<2x4x3xf32>))");
  ASSERT_TRUE(forward);
  EXPECT_EQ(forward.getFlops(), 48 * (4 + 4 + 12));

  // Five products of 2 * 2 operations for each pair (scores again, dp, dq, dk, dv) and 15 for the softmax.
  train::CostOpInterface backward = op(R"(
    %q = train.input "q" : tensor<2x3x8xf32>
    %k = train.input "k" : tensor<2x3x4xf32>
    %m = train.input "m" : tensor<2x4x3xf32>
    %dq, %dk, %dv = train.attention_grad %q, %q, %k, %k, %q, %m, %m {heads = 4 : i64, kv_heads = 2 : i64,
      scale = 0.5 : f64, dropout = 0.0 : f64, dropout_id = 0 : i64}
      : (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x8xf32>, tensor<2x4x3xf32>, tensor<2x4x3xf32>)
      -> (tensor<2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>))");
  ASSERT_TRUE(backward);
  EXPECT_EQ(backward.getFlops(), 48 * (5 * 4 + 15));
}

TEST_F(Cost, LossCountsEveryLogit) {
  // 6 tokens, 9 logits of 8 terms each.
  train::CostOpInterface forward = op(R"(
    %x = train.input "x" : tensor<2x3x8xf32>
    %w = train.input "w" : tensor<9x8xf32>
    %l = train.input "l" : tensor<2x3xi32>
    %s, %n = train.linear_cross_entropy %x, %w, %l {vocab_segments = 8 : i64, batch_nodes = 1 : i64}
      : (tensor<2x3x8xf32>, tensor<9x8xf32>, tensor<2x3xi32>) -> (tensor<8xf32>, tensor<8xf32>))");
  ASSERT_TRUE(forward);
  EXPECT_EQ(forward.getFlops(), 54 * (2 * 8 + 12));
}

// GPT-2 124M: L layers of C channels, H heads of E, V tokens, T positions. Matrices have N = 12 L C^2 + V C elements; a
// token costs 6 N for them, forward and backward; 14 E + 27 for each of H (T + 1) / 2 pairs a layer; 24 for each logit;
// and what norms, biases, gelu, dropout, residual and embedding additions need for each channel.
TEST_F(Cost, Gpt2IsSixNPlusAttention) {
  constexpr double L = 12, C = 768, H = 12, E = 64, V = 50257, T = 1024;
  std::ifstream file(RECIPEC_SOURCE_DIR "/recipes/configs/gpt2.json");
  std::stringstream config;
  config << file.rdbuf();
  train::StepFacts facts;
  facts.batchSize = 4;
  facts.seqLength = int64_t(T);
  facts.globalBatch = 32;
  std::vector<models::ConfigProblem> problems;
  module = models::buildModel(context, "gpt2", config.str(), facts, problems);
  ASSERT_TRUE(module);
  PassManager passes(&context);
  passes.addPass(createGradPass());
  ASSERT_TRUE(succeeded(passes.run(*module)));
  double flops = 0, matrices = 0, attention = 0;
  module->lookupSymbol<train::GraphOp>("train").walk([&](train::CostOpInterface op) {
    double each = op.getFlops() / (double(facts.batchSize) * T);
    flops += each;
    if (isa<train::ContractOp>(op))
      matrices += each;
    if (isa<train::AttentionOp, train::AttentionGradOp>(op))
      attention += each;
  });
  EXPECT_EQ(matrices, 6 * 12 * L * C * C);
  EXPECT_EQ(attention, L * H * (T + 1) / 2 * (14 * E + 27));
  // A layer: two norms 2 (7 + 14), biases 9 + 9, gelu 4 (27 + 35), residual additions 2, their gradients' 2, dropout 4.
  // Once: position addition, dropout 2, gradients of both embeddings 2, the last norm 21.
  double channels = (L * (42 + 18 + 248 + 2 + 2 + 4) + 26) * C;
  double n = 12 * L * C * C + V * C;
  EXPECT_EQ(flops, 6 * n + attention + 24 * V + channels);
  EXPECT_NEAR(flops / (6 * n + attention), 1, 0.01);
}

} // namespace
