// Reverse-mode differentiation of @forward; the rules are the ops' own (dialects/train/Gradients*.cpp).
#include "dialects/train/Names.h"
#include "passes/Passes.h"
#include "passes/grad/Accumulation.h"
#include "passes/grad/Backward.h"

using namespace mlir;

namespace recipe {
#define GEN_PASS_DEF_GRADPASS
#include "passes/Passes.h.inc"
} // namespace recipe

using namespace recipe;
using namespace recipe::train;

namespace {

// One gradient variable for each use of a trainable parameter: parameters in the order of the module, uses in the order
// of the graph.
SmallVector<VariableOp> declareGradients(ModuleOp module, const grad::Activity &activity,
                                         const grad::Backward &backward) {
  llvm::MapVector<Operation *, SmallVector<std::pair<grad::ParameterUse, RankedTensorType>>> byParameter;
  for (VariableOp parameter : variablesOf(module, Role::Parameter))
    byParameter[parameter];
  for (auto &[operand, use] : activity.parameterUses())
    byParameter[use.parameter].push_back({use, backward.gradientType(operand)});
  SmallVector<VariableOp> gradients;
  for (auto &[parameter, uses] : byParameter)
    for (auto &[use, type] : uses)
      gradients.push_back(
          declareVariable(module, use.gradientName(), type, Role::Gradient, Belongs{use.parameter, use.number}));
  return gradients;
}

class GradPass : public recipe::impl::GradPassBase<GradPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto forward = module.lookupSymbol<GraphOp>("forward");
    FailureOr<StepFacts> facts = StepFacts::fromModule(module);
    if (failed(facts))
      return signalPassFailure();
    if (!forward) {
      module.emitError("the module needs a train.graph @forward");
      return signalPassFailure();
    }
    FailureOr<grad::Activity> activity = grad::Activity::of(module, forward);
    if (failed(activity))
      return signalPassFailure();
    grad::Backward backward(forward, *facts, *activity);
    if (failed(backward.run()))
      return signalPassFailure();
    forward.setSymName("train");
    forward->setLoc(namedLoc(&getContext(), "train"));

    SmallVector<VariableOp> sums = variablesOf(module, Role::Loss);
    llvm::append_range(sums, declareGradients(module, *activity, backward));
    grad::buildSegmentBegin(module, *facts, sums);
    grad::buildSegmentEnd(module, *facts, sums);
  }
};

} // namespace
