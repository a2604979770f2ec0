// Rules of variables, graphs' leaves and kernel regions.
#include "dialects/train/Shapes.h"

using namespace mlir;
using namespace recipe::train;

LogicalResult VariableOp::verify() {
  auto type = dyn_cast<RankedTensorType>(getType());
  if (!type || !type.hasStaticShape())
    return emitOpError("a variable has a static tensor type, got: ") << getType();
  if (getRole() == Role::Parameter && !getHfName())
    return emitOpError("a parameter needs 'hf_name'");
  if (std::optional<ArrayRef<int64_t>> slice = getHfSlice()) {
    std::optional<ArrayRef<int64_t>> whole = getHfShape();
    if (slice->size() != 2 || !whole || whole->size() != size_t(type.getRank()))
      return emitOpError("'hf_slice' is [dim, offset] and needs 'hf_shape' of the same rank, got: ") << getHfSliceAttr();
    int64_t dim = (*slice)[0], offset = (*slice)[1];
    for (int64_t d = 0; d < type.getRank(); ++d) {
      bool inside = d == dim ? offset >= 0 && offset + type.getDimSize(d) <= (*whole)[d] : type.getDimSize(d) == (*whole)[d];
      if (!inside)
        return emitOpError("a slice lies inside its tensor, got: ") << type << " at " << getHfSliceAttr() << " of " << getHfShapeAttr();
    }
  }
  return success();
}

static LogicalResult verifyUse(Operation *user, FlatSymbolRefAttr name, Type type, SymbolTableCollection &symbols) {
  auto variable = symbols.lookupNearestSymbolFrom<VariableOp>(user->getParentOp(), name);
  if (!variable)
    return user->emitOpError("names no variable: ") << name;
  auto declared = cast<RankedTensorType>(variable.getType()), used = cast<RankedTensorType>(type);
  if (declared.getShape() != used.getShape() || declared.getElementType() != used.getElementType())
    return user->emitOpError("a variable keeps its type, got: ") << type << " for " << variable.getType();
  return success();
}

LogicalResult ReadOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyUse(*this, getVariableAttr(), getResult().getType(), symbols);
}
LogicalResult WriteOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyUse(*this, getVariableAttr(), getValue().getType(), symbols);
}

LogicalResult KernelOp::verify() {
  Block &block = getBody().front();
  if (block.getNumArguments() != getInputs().size())
    return emitOpError("one block argument per input, got: ") << block.getNumArguments() << " and " << getInputs().size();
  for (auto [argument, input] : llvm::zip(block.getArguments(), getInputs())) {
    auto local = dyn_cast<RankedTensorType>(argument.getType());
    if (!local || local.getEncoding())
      return emitOpError("kernel bodies take local, plain tensors, got: ") << argument.getType();
    if (local.getElementType() != tensorType(input).getElementType())
      return emitOpError("a block argument has its input's element type, got: ") << local << " for " << input.getType();
  }
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield || yield.getValues().size() != getOutputs().size())
    return emitOpError("one yielded value per output, got: ") << (yield ? yield.getValues().size() : 0) << " and " << getOutputs().size();
  return success();
}
