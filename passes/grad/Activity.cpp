#include "passes/grad/Activity.h"

using namespace mlir;
using namespace recipe::grad;
using namespace recipe::train;

std::string ParameterUse::gradientName() const {
  std::string name = "grad:" + const_cast<VariableOp &>(parameter).getSymName().str();
  return count == 1 ? name : name + ":" + std::to_string(number);
}

// The parameter that a value reads, or null.
static VariableOp readParameter(Value value, const SymbolTable &symbols) {
  auto read = value.getDefiningOp<ReadOp>();
  auto variable = read ? symbols.lookup<VariableOp>(read.getVariable()) : VariableOp();
  return variable && variable.getRole() == Role::Parameter ? variable : VariableOp();
}

static bool readsTrainable(Operation &read, const SymbolTable &symbols) {
  VariableOp parameter = readParameter(read.getResult(0), symbols);
  return parameter && isTrainable(parameter);
}

llvm::FailureOr<Activity> Activity::of(ModuleOp module, GraphOp forward) {
  SymbolTable symbols(module);
  Activity activity;
  if (failed(activity.findLosses(forward, symbols)))
    return failure();
  activity.findDependent(forward, symbols);
  if (failed(activity.findActive(forward)) || failed(activity.findUses(module, forward, symbols)))
    return failure();
  return activity;
}

LogicalResult Activity::findLosses(GraphOp forward, const SymbolTable &symbols) {
  for (auto write : forward.getOps<WriteOp>()) {
    auto variable = symbols.lookup<VariableOp>(write.getVariable());
    if (!variable || variable.getRole() != Role::Loss)
      continue;
    // Its gradient rule knows that the loss is what is minimised; no other op's does.
    Operation *source = write.getValue().getDefiningOp();
    if (!isa_and_nonnull<LinearCrossEntropyOp>(source))
      return write.emitOpError("a loss variable takes a result of train.linear_cross_entropy, got: ")
             << (source ? source->getName().getStringRef() : StringRef("a block argument"));
    lossResults[write.getValue()] = variable;
  }
  return success();
}

void Activity::findDependent(GraphOp forward, const SymbolTable &symbols) {
  for (Operation &op : forward.getBody().front()) {
    bool depends = isa<ReadOp>(op) ? readsTrainable(op, symbols)
                                   : llvm::any_of(op.getOperands(), [&](Value v) { return isDependent(v); });
    if (depends)
      dependent.insert(op.result_begin(), op.result_end());
  }
}

LogicalResult Activity::findActive(GraphOp forward) {
  DenseSet<Operation *> reaching;
  for (Operation &op : llvm::reverse(forward.getBody().front())) {
    bool reaches = llvm::any_of(op.getResults(), [&](OpResult result) {
      return lossResults.contains(result) ||
             llvm::any_of(result.getUsers(), [&](Operation *u) { return reaching.contains(u); });
    });
    if (!reaches)
      continue;
    reaching.insert(&op);
    if (llvm::none_of(op.getOperands(), [&](Value v) { return isDependent(v); }))
      continue;
    auto differentiable = dyn_cast<GradientOpInterface>(op);
    if (!differentiable || !differentiable.hasGradient())
      return op.emitOpError("lies between a trainable parameter and the loss, but has no gradient");
    active.insert(&op);
  }
  return success();
}

LogicalResult Activity::findUses(ModuleOp module, GraphOp forward, const SymbolTable &symbols) {
  llvm::StringMap<int64_t> counts;
  for (Operation &op : forward.getBody().front())
    if (isActive(&op))
      for (OpOperand &operand : op.getOpOperands())
        if (VariableOp parameter = readParameter(operand.get(), symbols); parameter && isTrainable(parameter))
          uses[&operand] = {parameter, counts[parameter.getSymName()]++, 0};
  for (auto &[operand, use] : uses)
    use.count = counts[use.parameter.getSymName()];
  for (VariableOp parameter : variablesOf(module, Role::Parameter))
    if (isTrainable(parameter) && !counts.contains(parameter.getSymName()))
      return parameter.emitOpError("is trainable, but does not reach the loss: ") << parameter.getSymName();
  return success();
}
