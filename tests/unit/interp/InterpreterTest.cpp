// The interpreter: graphs, kernel regions, collectives on one rank, the order of a step, and comparison of modules.
#include "compiler/interp/SameValues.h"
#include "compiler/interp/StepRun.h"
#include "dialects/dist/Dist.h"
#include "dialects/train/StepFacts.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace recipe;
using namespace recipe::interp;
using train::HostTensor;
using train::ReferenceMode;

namespace {

class InterpreterTest : public testing::Test {
protected:
  InterpreterTest() {
    context.loadDialect<train::TrainDialect, dist::DistDialect>();
    context.getDiagEngine().registerHandler([&](Diagnostic &diagnostic) { message += diagnostic.str() + "\n"; });
  }

  OwningOpRef<ModuleOp> parse(StringRef text) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << message;
    return module;
  }

  static HostTensor floats(ArrayRef<int64_t> shape, std::vector<float> values) {
    HostTensor tensor;
    tensor.shape.assign(shape.begin(), shape.end());
    tensor.f32 = std::move(values);
    return tensor;
  }
  static HostTensor ids(ArrayRef<int64_t> shape, std::vector<int32_t> values) {
    HostTensor tensor;
    tensor.type = HostTensor::Type::I32;
    tensor.shape.assign(shape.begin(), shape.end());
    tensor.i32 = std::move(values);
    return tensor;
  }

  MLIRContext context;
  std::string message;
};

const char *const doubling = R"(
  train.variable @x : tensor<2xf32> output
  train.variable @y : tensor<2xf32> output
  train.graph @double {
    %x = train.read @x : tensor<2xf32>
    %y = train.add %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    train.write @y, %y : tensor<2xf32>
    train.write @x, %y : tensor<2xf32>
  })";

TEST_F(InterpreterTest, runsAGraphInBothModes) {
  OwningOpRef<ModuleOp> module = parse(doubling);
  for (ReferenceMode mode : {ReferenceMode::Fp64, ReferenceMode::Exact}) {
    Interpreter interpreter(*module, mode);
    EXPECT_EQ(interpreter.variable("z"), nullptr);
    ASSERT_TRUE(succeeded(interpreter.setVariable("x", floats({2}, {1, -3}))));
    EXPECT_TRUE(failed(interpreter.setVariable("z", floats({2}, {1, -3}))));
    EXPECT_TRUE(failed(interpreter.setVariable("x", floats({3}, {1, -3, 2}))));
    ASSERT_TRUE(succeeded(interpreter.run("double")) && succeeded(interpreter.run("double"))) << message;
    HostTensor y = inMode(*interpreter.variable("y"), ReferenceMode::Exact);
    EXPECT_EQ(y.f32, (std::vector<float>{4, -12}));
    EXPECT_TRUE(interpreter.hasGraph("double"));
    EXPECT_FALSE(interpreter.hasGraph("x"));
    EXPECT_TRUE(failed(interpreter.run("half")));
  }
  EXPECT_NE(message.find("the module has no graph 'half'"), std::string::npos) << message;
}

const char *const doublingInKernel = R"(
  train.variable @x : tensor<2xf32> output
  train.variable @y : tensor<2xf32> output
  train.graph @double {
    %x = train.read @x : tensor<2xf32>
    %y = train.kernel "k"(%x) : (tensor<2xf32>) -> tensor<2xf32> {
    ^bb0(%a: tensor<2xf32>):
      %b = train.add %a, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      train.yield %b : tensor<2xf32>
    }
    train.write @y, %y : tensor<2xf32>
    train.write @x, %y : tensor<2xf32>
  })";

TEST_F(InterpreterTest, kernelRegionsMeanTheirOps) {
  OwningOpRef<ModuleOp> before = parse(doubling), after = parse(doublingInKernel);
  EXPECT_TRUE(succeeded(sameValues(*before, *after, "double", 1))) << message;
}

TEST_F(InterpreterTest, otherValuesAreFound) {
  OwningOpRef<ModuleOp> before = parse(doubling);
  std::string text = doublingInKernel;
  text.replace(text.find("add %a, %a"), 10, "add %a, %c");
  text.replace(text.find("      %b ="), 0, "      %c = train.gelu %a : (tensor<2xf32>) -> tensor<2xf32>\n");
  OwningOpRef<ModuleOp> after = parse(text);
  EXPECT_TRUE(failed(sameValues(*before, *after, "double", 1)));
  EXPECT_NE(message.find("differs at element 0"), std::string::npos) << message;
}

// Values and dropped writes are found, too.
TEST_F(InterpreterTest, aMissingWriteIsFound) {
  OwningOpRef<ModuleOp> before = parse(doubling);
  std::string text = doubling;
  text.erase(text.find("train.write @x, %y : tensor<2xf32>"), 34);
  OwningOpRef<ModuleOp> after = parse(text);
  EXPECT_TRUE(failed(sameValues(*before, *after, "double", 1)));
}

TEST_F(InterpreterTest, aGraphWithoutEffectCannotBeCompared) {
  OwningOpRef<ModuleOp> module = parse("train.graph @idle { }");
  EXPECT_TRUE(failed(sameValues(*module, *module, "idle", 1)));
  EXPECT_NE(message.find("writes nothing that could be compared"), std::string::npos) << message;
}

const char *const look = R"(
  train.variable @table : tensor<5x2xf32> output
  train.variable @y : tensor<1x3x2xf32> output
  train.graph @look {
    %ids = train.input "tokens" : tensor<1x3xi32>
    %t = train.read @table : tensor<5x2xf32>
    %y = train.embedding %ids, %t : (tensor<1x3xi32>, tensor<5x2xf32>) -> tensor<1x3x2xf32>
    train.write @y, %y : tensor<1x3x2xf32>
  })";

TEST_F(InterpreterTest, inputsAreCheckedWhereTheyAreUsed) {
  OwningOpRef<ModuleOp> module = parse(look);
  Interpreter interpreter(*module, ReferenceMode::Exact);
  ASSERT_TRUE(succeeded(interpreter.setVariable("table", floats({5, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}))));
  EXPECT_TRUE(failed(interpreter.run("look")));
  EXPECT_NE(message.find("has no value"), std::string::npos) << message;
  interpreter.setInput("tokens", ids({3}, {4, 0, 2}));
  EXPECT_TRUE(failed(interpreter.run("look")));
  EXPECT_NE(message.find("takes a value of its shape, got: [3]"), std::string::npos) << message;
  interpreter.setInput("tokens", ids({1, 3}, {4, 0, 5}));
  EXPECT_TRUE(failed(interpreter.run("look")));
  EXPECT_NE(message.find("ids must be rows of the table, got: 5 and 5 rows"), std::string::npos) << message;
  interpreter.setInput("tokens", ids({1, 3}, {4, 0, 2}));
  ASSERT_TRUE(succeeded(interpreter.run("look"))) << message;
  EXPECT_EQ(interpreter.variable("y")->f32, (std::vector<float>{8, 9, 0, 1, 4, 5}));
}

std::string reduced(int ranks) {
  return R"(
  dist.mesh @mesh ["data"] [)" +
         std::to_string(ranks) + R"(]
  train.variable @x : tensor<2xf32> output
  train.graph @sum {
    %x = train.read @x : tensor<2xf32>
    %y = "dist.all_reduce"(%x) : (tensor<2xf32>) -> tensor<2xf32, #dist.layout<@mesh, [#dist.dim<[], 2>]>>
    "train.write"(%y) {variable = @x} : (tensor<2xf32, #dist.layout<@mesh, [#dist.dim<[], 2>]>>) -> ()
  })";
}

TEST_F(InterpreterTest, collectivesAreTheIdentityOnOneRank) {
  for (int ranks : {1, 2}) {
    // Not verified: the collective of a value without layout stands for any of them.
    ParserConfig config(&context, /*verifyAfterParse=*/false);
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(reduced(ranks), config);
    ASSERT_TRUE(module) << message;
    Interpreter interpreter(*module, ReferenceMode::Exact);
    ASSERT_TRUE(succeeded(interpreter.setVariable("x", floats({2}, {1, 2}))));
    EXPECT_EQ(succeeded(interpreter.run("sum")), ranks == 1);
    EXPECT_EQ(interpreter.variable("x")->f32, (std::vector<float>{1, 2}));
  }
  EXPECT_NE(message.find("is interpreted on a mesh of one rank only"), std::string::npos) << message;
}

// Graphs that count their own runs: each adds one to a variable of its own.
std::string counting(StringRef facts, ArrayRef<StringRef> graphs) {
  std::string text = "module attributes {train.step = {" + facts.str() + "}} {\n";
  for (StringRef graph : graphs)
    text += "  train.variable @n_" + graph.str() + " : tensor<1xf32> output\n  train.graph @" + graph.str() +
            " {\n    %n = train.read @n_" + graph.str() +
            " : tensor<1xf32>\n    %one = train.fill {value = 1.0 : f64} : () -> tensor<1xf32>\n" +
            "    %m = train.add %n, %one : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>\n    train.write @n_" +
            graph.str() + ", %m : tensor<1xf32>\n  }\n";
  return text + "}";
}

struct Factoring {
  int batchSize, globalBatch, segments;
  int microbatches, begins, ends; // what a step runs
};

TEST_F(InterpreterTest, aStepRunsEachGraphUnderItsPredicate) {
  for (Factoring f : {Factoring{1, 4, 4, 4, 4, 4}, Factoring{2, 4, 4, 2, 2, 2}, Factoring{4, 4, 4, 1, 1, 0},
                      Factoring{1, 12, 4, 12, 4, 4}, Factoring{3, 12, 4, 4, 4, 4}, Factoring{1, 5, 8, 5, 1, 0}}) {
    std::string facts = "batch_size = " + std::to_string(f.batchSize) +
                        " : i64, seq_length = 3 : i64, global_batch = " + std::to_string(f.globalBatch) +
                        " : i64, batch_segments = " + std::to_string(f.segments) + " : i64, segments = 8 : i64";
    OwningOpRef<ModuleOp> module =
        parse(counting(facts, {"prologue", "segment_begin", "train", "segment_end", "update"}));
    Interpreter interpreter(*module, ReferenceMode::Exact);
    std::vector<int64_t> firstSamples, nodes;
    ASSERT_TRUE(succeeded(runStep(interpreter, 7, [&](int64_t microbatch) {
      EXPECT_EQ(interpreter.params().microbatch, microbatch);
      EXPECT_EQ(interpreter.params().step, 7);
      firstSamples.push_back(interpreter.params().first_sample);
      nodes.push_back(interpreter.params().node);
      return success();
    }))) << message;
    auto runs = [&](const char *graph) { return int(interpreter.variable(std::string("n_") + graph)->f32[0]); };
    EXPECT_EQ(runs("prologue"), 1);
    EXPECT_EQ(runs("train"), f.microbatches);
    EXPECT_EQ(runs("segment_begin"), f.begins);
    EXPECT_EQ(runs("segment_end"), f.ends);
    EXPECT_EQ(runs("update"), 1);
    ASSERT_EQ(int(firstSamples.size()), f.microbatches);
    EXPECT_EQ(firstSamples.back(), f.globalBatch - f.batchSize);
    EXPECT_EQ(nodes.front(), 0);
    EXPECT_EQ(nodes.back() + 1, interpreter.params().node_count);
    EXPECT_EQ(interpreter.params().node_count, f.begins);
  }
}

TEST_F(InterpreterTest, aStepThatNeedsSegmentsSaysSo) {
  OwningOpRef<ModuleOp> module = parse(counting("batch_size = 1 : i64, seq_length = 3 : i64, global_batch = 4 : i64, "
                                                "batch_segments = 4 : i64, segments = 8 : i64",
                                                {"prologue", "train", "update"}));
  Interpreter interpreter(*module, ReferenceMode::Exact);
  EXPECT_TRUE(failed(runStep(interpreter, 0, [](int64_t) { return success(); })));
  EXPECT_NE(message.find("no graph 'segment_end'"), std::string::npos) << message;
}

} // namespace
