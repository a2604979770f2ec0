// A correct module is accepted; every module with one collective or one layout wrong is not.
#include "dialects/dist/Dist.h"
#include "dialects/train/Layouts.h"
#include "dialects/train/StepFacts.h"
#include "dialects/train/Train.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "models/Models.h"
#include "passes/Passes.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace recipe;
using dist::AxisAttr;
using dist::DimAttr;
using dist::LayoutAttr;

namespace {

struct Case {
  const char *name, *type, *config;
  int64_t ranks;
  bool fused; // kernel regions formed, as collectives are seen by later phases
};

constexpr const char *kGpt2 = R"({"vocab_size": 24, "n_positions": 8, "n_embd": 8, "n_layer": 1, "n_head": 2,
  "embd_pdrop": 0.1, "attn_pdrop": 0.1, "resid_pdrop": 0.1})";
constexpr const char *kLlama = R"({"vocab_size": 24, "hidden_size": 8, "intermediate_size": 16, "num_hidden_layers": 1,
  "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 8, "attention_bias": true})";

class LayoutMutation : public testing::TestWithParam<Case> {
protected:
  void SetUp() override {
    context.loadDialect<train::TrainDialect, dist::DistDialect, step::StepDialect>();
    // Several micro-batches in a leaf and several leaves on a rank, so that every graph of a step exists.
    train::StepFacts facts;
    facts.batchSize = 2;
    facts.seqLength = 8;
    facts.globalBatch = 16;
    facts.batchSegments = 4;
    std::vector<models::ConfigProblem> problems;
    module = models::buildModel(context, GetParam().type, GetParam().config, facts, problems);
    ASSERT_TRUE(module) << (problems.empty() ? "" : problems[0].text);
    PassManager passes(&context);
    passes.addPass(createGradPass());
    passes.addPass(createUpdatePass());
    passes.addPass(createShardPass({GetParam().ranks}));
    if (GetParam().fused)
      passes.addPass(createFusePass());
    ASSERT_TRUE(succeeded(passes.run(*module)));
    // An axis to aim at wrongly.
    auto mesh = *module->getOps<dist::MeshOp>().begin();
    Builder builder(&context);
    mesh.setAxisNamesAttr(builder.getStrArrayAttr({"data", "tensor"}));
    mesh.setAxisSizes({GetParam().ranks, 2});
    ASSERT_TRUE(accepted());
  }

  bool accepted() {
    ScopedDiagnosticHandler silence(&context, [](Diagnostic &) { return success(); });
    return succeeded(verify(*module)) && succeeded(train::verifyLayouts(*module, /*requireLayouts=*/true));
  }

  void expectRejected(Operation *op, StringRef what) {
    ++mutants;
    if (!accepted())
      return;
    std::string text;
    llvm::raw_string_ostream(text) << *op;
    ADD_FAILURE() << what.str() << " is accepted: " << text;
  }

  AxisAttr axis(StringRef name) { return AxisAttr::get(&context, StringAttr::get(&context, name), 1, 0); }

  SmallVector<dist::AllReduceOp> reductions() {
    SmallVector<dist::AllReduceOp> all;
    module->walk([&](dist::AllReduceOp op) { all.push_back(op); });
    return all;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  int64_t mutants = 0;
};

RankedTensorType withLayout(Type type, LayoutAttr layout) {
  auto tensor = cast<RankedTensorType>(type);
  return RankedTensorType::get(tensor.getShape(), tensor.getElementType(), layout);
}

LayoutAttr withPartial(LayoutAttr layout, ArrayRef<AxisAttr> partial) {
  return LayoutAttr::get(layout.getContext(), layout.getMesh(), layout.getDims(), partial);
}

TEST_P(LayoutMutation, EveryReductionIsNeeded) {
  for (dist::AllReduceOp op : reductions()) {
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : op.getResult().getUses())
      uses.push_back(&use);
    ASSERT_FALSE(uses.empty());
    for (OpOperand *use : uses)
      use->set(op.getInput());
    expectRejected(op, "without the reduction");
    for (OpOperand *use : uses)
      use->set(op.getResult());
  }
  EXPECT_GE(mutants, 17); // a gradient of each parameter, the loss and the count
  EXPECT_TRUE(accepted());
  RecordProperty("mutants", int(mutants));
}

TEST_P(LayoutMutation, NoReductionIsDoubled) {
  for (dist::AllReduceOp op : reductions()) {
    OpBuilder builder(op);
    builder.setInsertionPointAfter(op);
    auto again = dist::AllReduceOp::create(builder, op.getLoc(), op.getResult().getType(), op.getResult());
    op.getResult().replaceAllUsesExcept(again.getResult(), again);
    expectRejected(op, "a second reduction");
    again.getResult().replaceAllUsesWith(op.getResult());
    again.erase();
  }
  EXPECT_GE(mutants, 17);
  EXPECT_TRUE(accepted());
}

// Reduces over an axis that the value is not Partial over: with the types that say so, and with types that claim it is.
TEST_P(LayoutMutation, NoReductionIsOverAnotherAxis) {
  for (dist::AllReduceOp op : reductions()) {
    Value in = op.getInput(), out = op.getResult();
    Type inType = in.getType(), outType = out.getType();
    LayoutAttr partial = dist::layoutOf(inType);
    out.setType(withLayout(outType, withPartial(partial, {axis("tensor")})));
    expectRejected(op, "a result Partial over another axis");
    out.setType(withLayout(outType, partial));
    expectRejected(op, "a result that is still Partial");
    out.setType(outType);
    in.setType(withLayout(inType, withPartial(partial, {axis("tensor")})));
    expectRejected(op, "a reduction over another axis");
    in.setType(withLayout(inType, withPartial(partial, {axis("data"), axis("tensor")})));
    expectRejected(op, "a reduction over more axes");
    in.setType(inType);
  }
  EXPECT_GE(mutants, 4 * 17);
  EXPECT_TRUE(accepted());
}

// Every other layout over the data axis: Partial or not, and split along each dimension that its ranks divide.
SmallVector<LayoutAttr> otherLayouts(LayoutAttr layout, AxisAttr data, int64_t ranks) {
  SmallVector<LayoutAttr> others;
  auto add = [&](ArrayRef<DimAttr> dims, ArrayRef<AxisAttr> partial) {
    auto other = LayoutAttr::get(layout.getContext(), layout.getMesh(), dims, partial);
    if (other != layout)
      others.push_back(other);
  };
  SmallVector<DimAttr> whole;
  for (DimAttr dim : layout.getDims())
    whole.push_back(DimAttr::get(layout.getContext(), {}, dim.getExtent(), 0));
  add(whole, {});
  add(whole, {data});
  for (size_t i = 0; i < whole.size(); ++i) {
    if (whole[i].getExtent() % ranks != 0)
      continue;
    SmallVector<DimAttr> split = whole;
    split[i] = DimAttr::get(layout.getContext(), {data}, whole[i].getExtent(), 0);
    add(split, {});
  }
  return others;
}

TEST_P(LayoutMutation, NoLayoutCanBeAnother) {
  module->walk([&](Operation *op) {
    for (Value value : op->getResults()) {
      Type type = value.getType();
      LayoutAttr layout = dist::layoutOf(type);
      if (!layout)
        continue;
      for (LayoutAttr other : otherLayouts(layout, axis("data"), GetParam().ranks)) {
        value.setType(withLayout(type, other));
        expectRejected(op, "another layout of a value");
      }
      value.setType(type);
    }
    if (auto variable = dyn_cast<train::VariableOp>(op)) {
      auto type = cast<RankedTensorType>(variable.getType());
      for (LayoutAttr other : otherLayouts(dist::layoutOf(type), axis("data"), GetParam().ranks)) {
        variable.setType(withLayout(type, other));
        expectRejected(op, "another layout of a variable");
      }
      variable.setType(type);
    }
  });
  EXPECT_GE(mutants, 500);
  EXPECT_TRUE(accepted());
  RecordProperty("mutants", int(mutants));
}

TEST_P(LayoutMutation, NoLayoutIsMissing) {
  module->walk([&](Operation *op) {
    for (Value value : op->getResults()) {
      Type type = value.getType();
      if (!dist::layoutOf(type))
        continue;
      value.setType(withLayout(type, nullptr));
      expectRejected(op, "a value without layout");
      value.setType(type);
    }
  });
  EXPECT_GE(mutants, 100);
}

INSTANTIATE_TEST_SUITE_P(Models, LayoutMutation,
                         testing::Values(Case{"Gpt2", "gpt2", kGpt2, 2, false},
                                         Case{"Llama", "llama", kLlama, 2, false},
                                         Case{"Gpt2Fused", "gpt2", kGpt2, 2, true},
                                         Case{"LlamaFused", "llama", kLlama, 4, true}),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
