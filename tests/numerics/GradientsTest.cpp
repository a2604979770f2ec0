// Every gradient rule against central differences of the op's own meaning, in fp64.
#include "dialects/train/Segments.h"
#include "dialects/train/Shapes.h"
#include "tests/numerics/OpGraph.h"
#include <gtest/gtest.h>
#include <set>

using namespace mlir;
using namespace recipe;
using namespace recipe::test;

namespace {

// Everything needs a gradient, and accumulators start anew.
class AllGradients : public train::GradientContext {
public:
  explicit AllGradients(int64_t batchNodes) : nodes(batchNodes) {}
  bool needsGradient(Value value) const override { return train::tensorType(value).getElementType().isF32(); }
  int64_t batchNodes() const override { return nodes; }
  Value accumulatorFor(OpOperand &, Type) override { return Value(); }
  Value accumulatorFor(OpResult) override { return Value(); }

private:
  int64_t nodes;
};

// Builds the op under test from inputs of an OpGraph.
using Build = llvm::function_ref<Operation *(OpGraph &)>;

struct GradientCheck {
  Values inputs;
  int64_t batchNodes = 1;
  double weight = 0; // gradient of result 0; 0: random
  rcp_step_params_v1 params{};
};

std::string resultName(unsigned i) { return "result" + std::to_string(i); }
std::string gradientName(unsigned i) { return "gradient" + std::to_string(i); }

// Names of the op's operands, as read from variables.
std::string operandName(Operation *op, unsigned i) {
  return op->getOperand(i).getDefiningOp<train::ReadOp>().getVariable().str();
}

double objective(OpGraph &ops, const GradientCheck &check, const Values &inputs, const HostTensor &weights) {
  Values results = run(ops, "forward", ReferenceMode::Fp64, inputs, check.params);
  const HostTensor &result = results[resultName(0)];
  double sum = 0;
  for (int64_t i = 0, n = result.size(); i < n; ++i)
    sum += result.f64[i] * weights.f64[i];
  return sum;
}

// Central differences at h, h/2 and h/4, extrapolated twice: the error is of order h^6.
double difference(OpGraph &ops, const GradientCheck &check, Values inputs, const std::string &name, int64_t element,
                  const HostTensor &weights) {
  double x = inputs[name].f64[element], slopes[3];
  for (int level = 0; level < 3; ++level) {
    double h = 0.01 / (1 << level);
    inputs[name].f64[element] = x + h;
    double above = objective(ops, check, inputs, weights);
    inputs[name].f64[element] = x - h;
    slopes[level] = (above - objective(ops, check, inputs, weights)) / (2 * h);
  }
  double first = (4 * slopes[1] - slopes[0]) / 3, second = (4 * slopes[2] - slopes[1]) / 3;
  return (16 * second - first) / 15;
}

// The gradient of one element; gains and biases have it by position segment.
double gradientAt(const HostTensor &gradient, const HostTensor &operand, int64_t element) {
  if (gradient.size() == operand.size())
    return gradient.f64[element];
  double sum = 0;
  for (int64_t segment = 0; segment < train::kPositionSegments; ++segment)
    sum += gradient.f64[segment * operand.size() + element];
  return sum;
}

// `name` is the op that build must make.
void checkGradients(StringRef name, const GradientCheck &check, Build build) {
  OpGraph ops;
  Operation *forward = build(ops);
  ASSERT_EQ(forward->getName().getStringRef(), name);
  auto resultType = cast<RankedTensorType>(forward->getResult(0).getType());
  ops.output(resultName(0), forward->getResult(0));

  ops.beginGraph("backward");
  Operation *op = build(ops);
  ASSERT_TRUE(cast<train::GradientOpInterface>(op).hasGradient());
  SmallVector<Value> resultGradients(op->getNumResults());
  resultGradients[0] = ops.input("weights", resultType.getShape());
  AllGradients context(check.batchNodes);
  SmallVector<Value> gradients;
  ASSERT_TRUE(
      succeeded(cast<train::GradientOpInterface>(op).buildGradient(ops.builder, resultGradients, context, gradients)));
  ASSERT_EQ(gradients.size(), op->getNumOperands());
  for (auto [i, gradient] : llvm::enumerate(gradients))
    if (gradient)
      ops.output(gradientName(i), gradient);

  Draws draws(3);
  Values inputs = check.inputs;
  HostTensor weights =
      check.weight != 0 ? filled(resultType.getShape(), check.weight) : draws.tensor(resultType.getShape());
  Values withWeights = inputs;
  withWeights["weights"] = weights;
  Values results = run(ops, "backward", ReferenceMode::Fp64, withWeights, check.params);
  ASSERT_TRUE(llvm::any_of(gradients, [](Value gradient) { return bool(gradient); }));
  for (auto [i, gradient] : llvm::enumerate(gradients)) {
    if (!gradient)
      continue;
    std::string operand = operandName(op, i);
    for (int64_t element = 0, n = inputs[operand].size(); element < n; ++element) {
      double expected = difference(ops, check, inputs, operand, element, weights);
      double got = gradientAt(results[gradientName(i)], inputs[operand], element);
      ASSERT_NEAR(got, expected, 1e-7 * std::max(1.0, std::fabs(got))) << operand << "[" << element << "]";
    }
  }
}

// For each number of batch nodes; four samples.
const int64_t nodeCounts[] = {1, 4};

void embedding(StringRef op) {
  for (int64_t nodes : nodeCounts) {
    Draws draws(1);
    GradientCheck check{{{"ids", draws.ids({4, 3}, 7)}, {"table", draws.tensor({7, 5})}}, nodes};
    checkGradients(op, check, [](OpGraph &ops) -> Operation * {
      return train::EmbeddingOp::create(ops.builder, ops.loc, ops.f32({4, 3, 5}), ops.input("ids", {4, 3}, true),
                                        ops.input("table", {7, 5}));
    });
  }
}

void add(StringRef op) {
  Draws draws(1);
  GradientCheck check{{{"lhs", draws.tensor({2, 3, 5})}, {"rhs", draws.tensor({2, 3, 5})}}};
  checkGradients(op, check, [](OpGraph &ops) -> Operation * {
    return train::AddOp::create(ops.builder, ops.loc, ops.f32({2, 3, 5}), ops.input("lhs", {2, 3, 5}),
                                ops.input("rhs", {2, 3, 5}));
  });
}

void biasAdd(StringRef op) {
  for (int64_t nodes : nodeCounts)
    for (int64_t positions : {3, 11}) { // fewer than the position segments, and a short last one
      Draws draws(1);
      GradientCheck check{{{"x", draws.tensor({4, positions, 3})}, {"bias", draws.tensor({3})}}, nodes};
      checkGradients(op, check, [&](OpGraph &ops) -> Operation * {
        return train::BiasAddOp::create(ops.builder, ops.loc, ops.f32({4, positions, 3}),
                                        ops.input("x", {4, positions, 3}), ops.input("bias", {3}));
      });
    }
}

struct ContractShape {
  train::ContractForm form;
  SmallVector<int64_t> contracted; // K of each pair
  SmallVector<int64_t> segments;
  SmallVector<int64_t> outSegments; // empty: absent
};

void contract(StringRef op) {
  using train::ContractForm;
  ContractShape shapes[] = {
      {ContractForm::NN, {7}, {0, 7}, {}},
      {ContractForm::NT, {9}, {0, 4, 4, 4, 4, 6, 6, 9}, {0, 3, 3, 5}},
      {ContractForm::NN, {6, 3}, {0, 2, 0, 1, 2, 6, 1, 3}, {0, 2, 2, 4, 4, 5, 5, 5}},
      {ContractForm::NT, {2, 5, 4}, {0, 2, 0, 5, 0, 4}, {}},
  };
  for (const ContractShape &shape : shapes)
    for (int64_t nodes : nodeCounts) {
      Draws draws(1);
      GradientCheck check;
      check.batchNodes = nodes;
      bool nn = shape.form == ContractForm::NN;
      auto rhsShape = [&](int64_t k) { return nn ? SmallVector<int64_t>{k, 5} : SmallVector<int64_t>{5, k}; };
      for (auto [pair, k] : llvm::enumerate(shape.contracted)) {
        check.inputs["lhs" + std::to_string(pair)] = draws.tensor({4, 3, k});
        check.inputs["rhs" + std::to_string(pair)] = draws.tensor(rhsShape(k));
      }
      checkGradients(op, check, [&](OpGraph &ops) -> Operation * {
        SmallVector<Value> lhs, rhs;
        for (auto [pair, k] : llvm::enumerate(shape.contracted))
          lhs.push_back(ops.input("lhs" + std::to_string(pair), {4, 3, k}));
        for (auto [pair, k] : llvm::enumerate(shape.contracted))
          rhs.push_back(ops.input("rhs" + std::to_string(pair), rhsShape(k)));
        auto out =
            shape.outSegments.empty() ? DenseI64ArrayAttr() : ops.builder.getDenseI64ArrayAttr(shape.outSegments);
        return train::ContractOp::create(ops.builder, ops.loc, ops.f32({4, 3, 5}), lhs, rhs, Value(), shape.form,
                                         ops.builder.getDenseI64ArrayAttr(shape.segments), out);
      });
    }
}

void layerNorm(StringRef op) {
  for (int64_t nodes : nodeCounts)
    for (int64_t channels : {5, 19}) {
      Draws draws(1);
      GradientCheck check{{{"x", draws.tensor({4, 9, channels})},
                           {"gain", draws.tensor({channels}, 0.5, 1.5)},
                           {"bias", draws.tensor({channels})}},
                          nodes};
      checkGradients(op, check, [&](OpGraph &ops) -> Operation * {
        return train::LayerNormOp::create(ops.builder, ops.loc, ops.f32({4, 9, channels}), ops.f32({4, 9}),
                                          ops.f32({4, 9}), ops.input("x", {4, 9, channels}),
                                          ops.input("gain", {channels}), ops.input("bias", {channels}),
                                          ops.builder.getF64FloatAttr(0.1));
      });
    }
}

void rmsNorm(StringRef op) {
  for (int64_t nodes : nodeCounts)
    for (int64_t channels : {5, 19}) {
      Draws draws(1);
      GradientCheck check{{{"x", draws.tensor({4, 9, channels})}, {"gain", draws.tensor({channels}, 0.5, 1.5)}}, nodes};
      checkGradients(op, check, [&](OpGraph &ops) -> Operation * {
        return train::RmsNormOp::create(ops.builder, ops.loc, ops.f32({4, 9, channels}), ops.f32({4, 9}),
                                        ops.input("x", {4, 9, channels}), ops.input("gain", {channels}),
                                        ops.builder.getF64FloatAttr(0.1));
      });
    }
}

void rope(StringRef op) {
  for (bool inverse : {false, true}) {
    Draws draws(1);
    GradientCheck check{{{"x", draws.tensor({2, 3, 12})},
                         {"cosine", draws.tensor({9, 3})},
                         {"sine", draws.tensor({9, 3})},
                         {"positions", draws.ids({2, 3}, 9)}}};
    checkGradients(op, check, [&](OpGraph &ops) -> Operation * {
      return train::RopeOp::create(ops.builder, ops.loc, ops.f32({2, 3, 12}), ops.input("x", {2, 3, 12}),
                                   ops.input("cosine", {9, 3}), ops.input("sine", {9, 3}),
                                   ops.input("positions", {2, 3}, true), int64_t(2), inverse);
    });
  }
}

void attention(StringRef op) {
  struct Shape {
    int64_t heads, kvHeads;
    double dropout;
  };
  for (Shape shape : {Shape{3, 3, 0}, Shape{4, 2, 0}, Shape{4, 2, 0.3}, Shape{6, 2, 0.3}}) {
    int64_t positions = 7, size = 3, width = shape.heads * size, kvWidth = shape.kvHeads * size;
    Draws draws(1);
    GradientCheck check{{{"q", draws.tensor({2, positions, width}, -2, 2)},
                         {"k", draws.tensor({2, positions, kvWidth}, -2, 2)},
                         {"v", draws.tensor({2, positions, kvWidth})}}};
    check.params.seed = 5;
    check.params.step = 3;
    check.params.first_sample = 4;
    checkGradients(op, check, [&](OpGraph &ops) -> Operation * {
      OpBuilder &b = ops.builder;
      auto rows = ops.f32({2, shape.heads, positions});
      return train::AttentionOp::create(b, ops.loc, ops.f32({2, positions, width}), rows, rows,
                                        ops.input("q", {2, positions, width}), ops.input("k", {2, positions, kvWidth}),
                                        ops.input("v", {2, positions, kvWidth}), b.getI64IntegerAttr(shape.heads),
                                        b.getI64IntegerAttr(shape.kvHeads), b.getF64FloatAttr(0.7),
                                        b.getF64FloatAttr(shape.dropout), b.getI64IntegerAttr(17));
    });
  }
}

void gelu(StringRef op) {
  Draws draws(1);
  GradientCheck check{{{"x", draws.tensor({2, 3, 19}, -5, 5)}}};
  checkGradients(op, check, [](OpGraph &ops) -> Operation * {
    return train::GeluOp::create(ops.builder, ops.loc, ops.f32({2, 3, 19}), ops.input("x", {2, 3, 19}));
  });
}

void swiglu(StringRef op) {
  Draws draws(1);
  GradientCheck check{{{"gate", draws.tensor({2, 3, 19}, -5, 5)}, {"up", draws.tensor({2, 3, 19})}}};
  checkGradients(op, check, [](OpGraph &ops) -> Operation * {
    return train::SwigluOp::create(ops.builder, ops.loc, ops.f32({2, 3, 19}), ops.input("gate", {2, 3, 19}),
                                   ops.input("up", {2, 3, 19}));
  });
}

void dropout(StringRef op) {
  Draws draws(1);
  GradientCheck check{{{"x", draws.tensor({2, 3, 19})}}};
  check.params.seed = 5;
  checkGradients(op, check, [](OpGraph &ops) -> Operation * {
    return train::DropoutOp::create(ops.builder, ops.loc, ops.f32({2, 3, 19}), ops.input("x", {2, 3, 19}),
                                    ops.builder.getF64FloatAttr(0.4), ops.builder.getI64IntegerAttr(11));
  });
}

void linearCrossEntropy(StringRef op) {
  for (int64_t nodes : nodeCounts)
    for (int64_t segments : {1, 8}) { // 37 rows: segments of 16, 16, 5 and five empty ones
      Draws draws(1);
      GradientCheck check{{{"x", draws.tensor({4, 3, 5}, -2, 2)},
                           {"weight", draws.tensor({37, 5})},
                           {"labels", draws.ids({4, 3}, 37, 4)}},
                          nodes,
                          1.0};
      checkGradients(op, check, [&](OpGraph &ops) -> Operation * {
        return train::LinearCrossEntropyOp::create(ops.builder, ops.loc, ops.f32({8}), ops.f32({8}),
                                                   ops.input("x", {4, 3, 5}), ops.input("weight", {37, 5}),
                                                   ops.input("labels", {4, 3}, true), segments, nodes);
      });
    }
}

struct OpWithGradient {
  const char *op;
  void (*check)(StringRef op);
};
const OpWithGradient withGradient[] = {
    {"train.add", add},
    {"train.attention", attention},
    {"train.bias_add", biasAdd},
    {"train.contract", contract},
    {"train.dropout", dropout},
    {"train.embedding", embedding},
    {"train.gelu", gelu},
    {"train.layer_norm", layerNorm},
    {"train.linear_cross_entropy", linearCrossEntropy},
    {"train.rms_norm", rmsNorm},
    {"train.rope", rope},
    {"train.swiglu", swiglu},
};

class Gradients : public testing::TestWithParam<OpWithGradient> {};
TEST_P(Gradients, matchDifferences) { GetParam().check(GetParam().op); }
INSTANTIATE_TEST_SUITE_P(Ops, Gradients, testing::ValuesIn(withGradient),
                         [](const auto &info) { return StringRef(info.param.op).drop_front(6).str(); });

const char *const withoutGradient[] = {
    "train.cast",         "train.adamw",           "train.attention_grad",
    "train.bias_grad",    "train.embedding_grad",  "train.eval_loss",
    "train.fill",         "train.gelu_grad",       "train.grad_norm",
    "train.init_normal",  "train.layer_norm_grad", "train.linear_cross_entropy_grad",
    "train.position_sum", "train.rms_norm_grad",   "train.rope_table",
    "train.schedule",     "train.step_loss",       "train.swiglu_grad",
    "train.tree_merge",
};

TEST(GradientRules, opsWithoutOneSaySo) {
  OpGraph ops;
  for (const char *name : withoutGradient) {
    Operation *op = Operation::create(OperationState(ops.loc, name));
    EXPECT_FALSE(cast<train::GradientOpInterface>(op).hasGradient()) << name;
    op->destroy();
  }
}

TEST(GradientRules, contractionsOverTokensHaveNone) {
  OpGraph ops;
  auto op = train::ContractOp::create(ops.builder, ops.loc, ops.f32({3, 5}), ops.input("lhs", {2, 4, 3}),
                                      ops.input("rhs", {2, 4, 5}), Value(), train::ContractForm::TN,
                                      ops.builder.getDenseI64ArrayAttr({0, 8}), DenseI64ArrayAttr());
  EXPECT_FALSE(op.hasGradient());
}

TEST(GradientRules, noOpIsForgotten) {
  OpGraph ops;
  std::set<std::string> known;
  for (const OpWithGradient &entry : withGradient)
    known.insert(entry.op);
  known.insert(std::begin(withoutGradient), std::end(withoutGradient));
  std::set<std::string> registered;
  for (RegisteredOperationName name : ops.context.getRegisteredOperationsByDialect("train"))
    if (name.hasInterface<train::GradientOpInterface>())
      registered.insert(name.getStringRef().str());
  EXPECT_EQ(known, registered);
}

} // namespace
