#include "passes/grad/Backward.h"
#include "dialects/train/Names.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/grad/ContractSums.h"

using namespace mlir;
using namespace recipe::grad;
using namespace recipe::train;

Backward::Backward(GraphOp graph, const StepFacts &facts, const Activity &activity)
    : graph(graph), facts(facts), activity(activity), builder(graph.getContext()) {}

LogicalResult Backward::run() {
  Block &block = graph.getBody().front();
  SmallVector<Operation *> forward;
  for (Operation &op : block)
    forward.push_back(&op);
  builder.setInsertionPointToEnd(&block);
  BackwardBeginOp::create(builder, namedLoc(graph.getContext(), "backward"));
  for (Operation *op : llvm::reverse(forward))
    if (activity.isActive(op) && failed(visit(op)))
      return failure();
  return success();
}

LogicalResult Backward::visit(Operation *op) {
  SmallVector<Value> resultGradients;
  for (OpResult result : op->getResults())
    resultGradients.push_back(sumOf(result));
  SmallVector<Value> operandGradients;
  if (failed(cast<GradientOpInterface>(op).buildGradient(builder, resultGradients, *this, operandGradients)))
    return failure();
  assert(operandGradients.size() == op->getNumOperands() && "a rule gives one gradient, maybe null, for each operand");
  if (failed(distribute(op, operandGradients)))
    return failure();
  // A rule may have put another op in the place of this one.
  if (isOpTriviallyDead(op))
    op->erase();
  return success();
}

LogicalResult Backward::distribute(Operation *op, ArrayRef<Value> operandGradients) {
  for (OpOperand &operand : llvm::reverse(op->getOpOperands())) {
    Value gradient = operandGradients[operand.getOperandNumber()];
    if (!gradient)
      continue;
    if (activity.parameterUses().contains(&operand)) {
      if (failed(writeGradient(operand, gradient)))
        return failure();
      continue;
    }
    assert(gradient.getType() == operand.get().getType() && "the gradient of an activation has its type");
    contributions[operand.get()].push_back({gradient, isa<ContractOp>(op)});
  }
  return success();
}

LogicalResult Backward::writeGradient(OpOperand &use, Value gradient) {
  if (facts.microbatchesPerLeaf() > 1 && !accumulated.contains(&use))
    return use.getOwner()->emitOpError("has a gradient rule that does not accumulate over micro-batches, got: operand ")
           << use.getOperandNumber();
  types[&use] = cast<RankedTensorType>(gradient.getType());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfter(gradient.getDefiningOp());
  writeVariable(builder, activity.parameterUses().lookup(&use).gradientName(), gradient);
  return success();
}

Value Backward::sumOf(OpResult result) {
  ArrayRef<Contribution> rest = contributions[result];
  if (rest.empty())
    return Value();
  int64_t made = 0;
  Value sum = takeTerm(result, rest, made);
  while (!rest.empty()) {
    Value term = takeTerm(result, rest, made);
    StringRef suffix = "dresult.sum";
    std::string name = made ? (suffix + "." + Twine(made)).str() : suffix.str();
    ++made;
    sum = AddOp::create(builder, derivedLoc(result.getOwner(), name), sum.getType(), sum, term);
  }
  return sum;
}

Value Backward::takeTerm(OpResult result, ArrayRef<Contribution> &rest, int64_t &made) {
  // Only a contraction that a contraction's own rule made stands for a use by itself: others may be the gradient of
  // more values.
  auto contraction = [](const Contribution &c) {
    return c.ofContraction ? c.gradient.getDefiningOp<ContractOp>() : ContractOp();
  };
  SmallVector<ContractOp> parts;
  Value gradient = rest.front().gradient;
  if (ContractOp first = contraction(rest.front()))
    while (!rest.empty()) {
      ContractOp next = contraction(rest.front());
      if (!next || !canJoin(first, next))
        break;
      parts.push_back(next);
      rest = rest.drop_front();
    }
  if (parts.empty())
    rest = rest.drop_front();
  if (parts.size() < 2)
    return gradient;
  std::reverse(parts.begin(), parts.end()); // to the order of use
  std::string name = made ? ("dresult." + Twine(made)).str() : std::string("dresult");
  ++made;
  Value joined = joinContracts(builder, derivedLoc(result.getOwner(), name), parts);
  for (ContractOp part : parts)
    part.erase();
  return joined;
}

Value Backward::accumulatorFor(OpOperand &parameterUse, Type accumulatorType) {
  accumulated.insert(&parameterUse);
  if (facts.microbatchesPerLeaf() == 1 || !activity.parameterUses().contains(&parameterUse))
    return Value();
  return readVariable(builder, activity.parameterUses().lookup(&parameterUse).gradientName(), accumulatorType);
}

Value Backward::accumulatorFor(OpResult lossResult) {
  VariableOp variable = activity.lossVariable(lossResult);
  return variable && facts.microbatchesPerLeaf() > 1 ? readVariable(builder, variable) : Value();
}
