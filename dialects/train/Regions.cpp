#include "dialects/train/Regions.h"
#include "dialects/train/Shapes.h"

using namespace mlir;
using namespace recipe::train;

bool recipe::train::isElementwise(Operation *op) {
  return isa<AdamwOp, AddOp, BiasAddOp, CastOp, GeluOp, GeluGradOp, SwigluOp, SwigluGradOp, DropoutOp, FillOp>(op);
}

bool recipe::train::isPerChannel(OpOperand &operand) {
  return isa<BiasAddOp>(operand.getOwner()) && operand.getOperandNumber() == 1;
}

std::optional<unsigned> recipe::train::anchoredResult(Operation *op) {
  // A sum that goes on from an accumulator is written to a variable and to nothing else.
  if (auto contract = dyn_cast<ContractOp>(op); contract && !contract.getAccumulator())
    return 0;
  if (isa<LayerNormOp, LayerNormGradOp, RmsNormOp, RmsNormGradOp, RopeOp, AttentionOp>(op))
    return 0;
  return std::nullopt;
}

Operation *recipe::train::anchorOf(ArrayRef<Operation *> ops) {
  for (Operation *op : ops)
    if (!isElementwise(op))
      return op;
  return nullptr;
}

static std::string mnemonic(Operation *op) { return ("'" + op->getName().getStringRef() + "'").str(); }

static std::string textOf(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

std::string recipe::train::whyNotTogether(ArrayRef<Operation *> ops) {
  if (ops.size() == 1)
    return "";
  Operation *anchor = anchorOf(ops);
  Value whole = ops.front()->getResult(0);
  if (anchor) {
    std::optional<unsigned> taken = anchoredResult(anchor);
    if (!taken)
      return "no kernel goes on from the registers of " + mnemonic(anchor);
    whole = anchor->getResult(*taken);
  }
  for (Operation *op : ops) {
    if (op == anchor)
      continue;
    if (!isElementwise(op))
      return "one region has one op that is not elementwise, got " + mnemonic(anchor) + " and " + mnemonic(op);
    for (Value result : op->getResults())
      if (shapeOf(result) != shapeOf(whole))
        return "the ops of a region work on one shape, got " + textOf(whole.getType()) + " and " +
               textOf(result.getType()) + " of " + mnemonic(op);
    for (OpOperand &operand : op->getOpOperands()) {
      Operation *source = operand.get().getDefiningOp();
      if (source && source == anchor && operand.get() != whole)
        return mnemonic(op) + " takes another result of " + mnemonic(anchor) + " than the one in registers";
      if (isPerChannel(operand) && llvm::is_contained(ops, source))
        return "values per channel come from outside, got those of " + mnemonic(source);
    }
  }
  if (anchor)
    for (Value operand : anchor->getOperands())
      if (Operation *source = operand.getDefiningOp(); source && llvm::is_contained(ops, source))
        return mnemonic(anchor) + " reads its operands from memory, got what " + mnemonic(source) + " gives";
  return "";
}

LogicalResult recipe::train::verifyTogether(KernelOp kernel) {
  SmallVector<Operation *> ops;
  for (Operation &op : kernel.getBody().front().without_terminator())
    ops.push_back(&op);
  if (ops.size() < 2)
    return success();
  if (std::string why = whyNotTogether(ops); !why.empty())
    return kernel.emitOpError() << why;
  Operation *anchor = anchorOf(ops), *yield = kernel.getBody().front().getTerminator();
  if (!anchor)
    return success();
  for (OpResult result : anchor->getResults())
    if (result.getResultNumber() != anchoredResult(anchor) && !llvm::is_contained(yield->getOperands(), result))
      return kernel.emitOpError("a region gives what its anchor stores itself, got none for result ")
             << result.getResultNumber() << " of " << mnemonic(anchor);
  return success();
}
