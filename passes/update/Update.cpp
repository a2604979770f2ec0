// What happens once per step and once per run: the update, the initial state, the schedule; and where evaluation
// reports its loss.
#include "dialects/train/Names.h"
#include "dialects/train/Variables.h"
#include "passes/Passes.h"

using namespace mlir;

namespace recipe {
#define GEN_PASS_DEF_UPDATEPASS
#include "passes/Passes.h.inc"
} // namespace recipe

using namespace recipe;
using namespace recipe::train;

namespace {

struct Trained {
  VariableOp parameter;
  SmallVector<VariableOp> gradients; // one for each use, in order
  VariableOp m, v;
};

class UpdatePass : public recipe::impl::UpdatePassBase<UpdatePass> {
public:
  using UpdatePassBase::UpdatePassBase;

private:
  void runOnOperation() override;
  FailureOr<SmallVector<Trained>> collect(ModuleOp module);
  LogicalResult buildUpdate(ModuleOp module, ArrayRef<Trained> trained);
  LogicalResult buildInit(ModuleOp module, ArrayRef<Trained> trained);
  void buildPrologue(ModuleOp module);
  LogicalResult finishEval(ModuleOp module);

  Location loc(const Twine &name) { return namedLoc(&getContext(), name); }
  Value totalGradient(OpBuilder &builder, const Trained &one);
  void buildAdamw(OpBuilder &builder, const Trained &one, Value gradient);
  void buildFill(OpBuilder &builder, VariableOp variable, double value);
};

} // namespace

// The variable of a role, for messages and look-ups: the sums of losses come first, then those of valid tokens.
static LogicalResult findLossSums(ModuleOp module, VariableOp &loss, VariableOp &count) {
  loss = dyn_cast_or_null<VariableOp>(module.lookupSymbol("loss"));
  count = dyn_cast_or_null<VariableOp>(module.lookupSymbol("count"));
  if (loss && count)
    return success();
  return module.emitError("the module needs the variables @loss and @count");
}

FailureOr<SmallVector<Trained>> UpdatePass::collect(ModuleOp module) {
  SmallVector<Trained> trained;
  llvm::StringMap<size_t> index;
  for (VariableOp parameter : variablesOf(module, Role::Parameter))
    if (isTrainable(parameter)) {
      index[parameter.getSymName()] = trained.size();
      trained.push_back({parameter, {}, {}, {}});
    }
  for (VariableOp gradient : variablesOf(module, Role::Gradient)) {
    auto found = index.find(gradient.getOf().value_or(""));
    if (found == index.end())
      return gradient.emitOpError("a gradient belongs to a trainable parameter, got: ") << gradient.getOfAttr(),
             failure();
    SmallVector<VariableOp> &uses = trained[found->second].gradients;
    if (gradient.getUse() != uint64_t(uses.size()))
      return gradient.emitOpError("gradients of a parameter are declared in the order of use, got: ")
                 << gradient.getUseAttr() << " at place " << uses.size(),
             failure();
    uses.push_back(gradient);
  }
  for (Trained &one : trained) {
    if (one.gradients.empty())
      return one.parameter.emitOpError("is trainable, but has no gradient: ") << one.parameter.getSymName(), failure();
    auto type = cast<RankedTensorType>(one.parameter.getType());
    StringRef name = one.parameter.getSymName();
    one.m = declareVariable(module, ("adam_m:" + name).str(), type, Role::AdamM, Belongs{one.parameter, std::nullopt});
    one.v = declareVariable(module, ("adam_v:" + name).str(), type, Role::AdamV, Belongs{one.parameter, std::nullopt});
  }
  return trained;
}

// Each use fully reduced, then added in the order of use.
Value UpdatePass::totalGradient(OpBuilder &builder, const Trained &one) {
  Value total;
  for (auto [number, variable] : llvm::enumerate(one.gradients)) {
    VariableOp gradient = variable;
    Value use = readVariable(builder, gradient);
    Type type = const_cast<Trained &>(one).parameter.getType();
    if (use.getType() != type)
      use = PositionSumOp::create(builder, loc("position_sum " + gradient.getSymName()), type, use);
    total = total ? Value(AddOp::create(builder, loc("sum " + gradient.getSymName()), type, total, use)) : use;
  }
  return total;
}

void UpdatePass::buildAdamw(OpBuilder &builder, const Trained &one, Value gradient) {
  VariableOp parameter = one.parameter, m = one.m, v = one.v;
  auto number = [&](double value) { return builder.getF64FloatAttr(value); };
  Type type = parameter.getType();
  auto op = AdamwOp::create(builder, loc("adamw " + parameter.getSymName()), type, type, type,
                            readVariable(builder, parameter), readVariable(builder, m), readVariable(builder, v),
                            gradient, number(beta1), number(beta2), number(eps),
                            number(parameter.getDecay().value_or(false) ? double(weightDecay) : 0.0));
  writeVariable(builder, parameter.getSymName(), op.getParameterResult());
  writeVariable(builder, m.getSymName(), op.getMResult());
  writeVariable(builder, v.getSymName(), op.getVResult());
}

LogicalResult UpdatePass::buildUpdate(ModuleOp module, ArrayRef<Trained> trained) {
  VariableOp loss, count;
  if (failed(findLossSums(module, loss, count)))
    return failure();
  OpBuilder builder(module.getContext());
  declareGraph(builder, module, "update");
  StepLossOp::create(builder, loc("step_loss"), readVariable(builder, loss), readVariable(builder, count));
  SmallVector<Value> gradients;
  for (const Trained &one : trained)
    gradients.push_back(totalGradient(builder, one));
  GradNormOp::create(builder, loc("grad_norm"), gradients, builder.getF64FloatAttr(clip));
  for (auto [one, gradient] : llvm::zip(trained, gradients))
    buildAdamw(builder, one, gradient);
  return success();
}

void UpdatePass::buildFill(OpBuilder &builder, VariableOp variable, double value) {
  Value filled =
      FillOp::create(builder, loc("init " + variable.getSymName()), variable.getType(), builder.getF64FloatAttr(value));
  writeVariable(builder, variable.getSymName(), filled);
}

LogicalResult UpdatePass::buildInit(ModuleOp module, ArrayRef<Trained> trained) {
  OpBuilder builder(module.getContext());
  declareGraph(builder, module, "init");
  for (VariableOp parameter : variablesOf(module, Role::Parameter)) {
    DictionaryAttr init = parameter.getInitAttr();
    StringRef name = parameter.getSymName();
    if (!init)
      return parameter.emitOpError("a parameter needs 'init', got none for ") << name;
    if (auto constant = init.getAs<FloatAttr>("constant")) {
      buildFill(builder, parameter, constant.getValueAsDouble());
      continue;
    }
    Value drawn = InitNormalOp::create(builder, loc("init " + name), parameter.getType(),
                                       init.getAs<FloatAttr>("normal"), builder.getI64IntegerAttr(nameHash(name)));
    writeVariable(builder, name, drawn);
  }
  for (const Trained &one : trained) {
    buildFill(builder, one.m, 0);
    buildFill(builder, one.v, 0);
  }
  return success();
}

void UpdatePass::buildPrologue(ModuleOp module) {
  OpBuilder builder(module.getContext());
  declareGraph(builder, module, "prologue");
  ScheduleOp::create(builder, loc("schedule"), builder.getF64FloatAttr(beta1), builder.getF64FloatAttr(beta2));
}

// Evaluation reports its sums as step scalars and leaves the sums of training alone. It sums tokens, so that nothing
// depends on the samples of a batch.
LogicalResult UpdatePass::finishEval(ModuleOp module) {
  auto eval = module.lookupSymbol<GraphOp>("eval");
  if (!eval)
    return success();
  Value loss, count;
  for (auto write : llvm::make_early_inc_range(eval.getOps<WriteOp>())) {
    Value &sums = write.getVariable() == "loss" ? loss : count;
    if (write.getVariable() != "loss" && write.getVariable() != "count")
      return write.emitOpError("evaluation writes its loss only, got: ") << write.getVariableAttr();
    sums = write.getValue();
    write.erase();
  }
  if (!loss || !count)
    return eval.emitOpError("evaluation writes @loss and @count");
  OpBuilder builder = OpBuilder::atBlockEnd(&eval.getBody().front());
  auto op = loss.getDefiningOp<LinearCrossEntropyOp>();
  if (!op || count.getDefiningOp() != op)
    return eval.emitOpError("evaluation writes @loss and @count of one train.linear_cross_entropy");
  auto ofTokens = cast<RankedTensorType>(op.getLabels().getType()).clone(builder.getF32Type());
  loss.setType(ofTokens), count.setType(ofTokens);
  EvalLossOp::create(builder, loc("eval_loss"), loss, count);
  return success();
}

void UpdatePass::runOnOperation() {
  ModuleOp module = getOperation();
  FailureOr<SmallVector<Trained>> trained = collect(module);
  if (failed(trained) || failed(buildUpdate(module, *trained)) || failed(buildInit(module, *trained)) ||
      failed(finishEval(module)))
    return signalPassFailure();
  buildPrologue(module);
}
