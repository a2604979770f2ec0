// Rules of variables, graphs' leaves and kernel regions.
#include "dialects/train/Regions.h"
#include "dialects/train/Shapes.h"

using namespace mlir;
using namespace recipe::train;

// The part [offset, offset + size) of dimension `dim` of the Hugging Face tensor; dim -1: all of it.
static LogicalResult verifySlice(VariableOp op, RankedTensorType type) {
  std::optional<ArrayRef<int64_t>> slice = op.getHfSlice(), whole = op.getHfShape();
  if (!slice && whole && *whole != type.getShape())
    return op.emitOpError("without 'hf_slice' a variable has the shape of its tensor, got: ")
           << type << " and " << op.getHfShapeAttr();
  if (!slice)
    return success();
  if (slice->size() != 2 || !whole || whole->size() != size_t(type.getRank()))
    return op.emitOpError("'hf_slice' is [dim, offset] and needs 'hf_shape' of the same rank, got: ")
           << op.getHfSliceAttr();
  int64_t dim = (*slice)[0], offset = (*slice)[1];
  if (dim < -1 || dim >= type.getRank() || (dim == -1 && offset != 0))
    return op.emitOpError("'hf_slice' is along a dimension of the tensor, or [-1, 0], got: ") << op.getHfSliceAttr();
  for (int64_t d = 0; d < type.getRank(); ++d) {
    int64_t size = type.getDimSize(d), all = (*whole)[d];
    bool inside = d == dim ? offset >= 0 && offset <= all && size <= all - offset : size == all;
    if (!inside)
      return op.emitOpError("a slice lies inside its tensor, got: ")
             << type << " at " << op.getHfSliceAttr() << " of " << op.getHfShapeAttr();
  }
  return success();
}

static LogicalResult verifyInit(VariableOp op) {
  DictionaryAttr init = op.getInitAttr();
  if (!init)
    return success();
  auto normal = init.getAs<FloatAttr>("normal"), constant = init.getAs<FloatAttr>("constant");
  if (init.size() != 1 || (!normal && !constant))
    return op.emitOpError("'init' is {normal = stddev} or {constant = value}, got: ") << init;
  if (normal && !(normal.getValueAsDouble() >= 0))
    return op.emitOpError("the standard deviation of 'init' must not be negative, got: ") << normal;
  return success();
}

LogicalResult VariableOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  if (!type.hasStaticShape())
    return emitOpError("a variable has a static tensor type, got: ") << getType();
  if (getRole() == Role::Parameter && !getHfName())
    return emitOpError("a parameter needs 'hf_name'");
  if (getUse() && !getOf())
    return emitOpError("'use' needs 'of'");
  if ((getRole() == Role::Working) != type.getElementType().isBF16())
    return emitOpError("a variable is bf16 when it is a working copy, got: ")
           << type << " " << stringifyRole(getRole());
  if (getRole() == Role::Working && !getOf())
    return emitOpError("a working copy needs 'of'");
  return success(succeeded(verifySlice(*this, type)) && succeeded(verifyInit(*this)));
}

LogicalResult VariableOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (!getOfAttr())
    return success();
  auto other = symbols.lookupNearestSymbolFrom<VariableOp>((*this)->getParentOp(), getOfAttr());
  if (!other)
    return emitOpError("'of' names no variable: ") << getOfAttr();
  auto type = cast<RankedTensorType>(getType()), whole = dyn_cast<RankedTensorType>(other.getType());
  if (getRole() == Role::Working && whole &&
      (other.getRole() != Role::Parameter || type.getShape() != whole.getShape()))
    return emitOpError("a working copy is of a parameter and has its shape, got: ") << type << " of " << whole;
  return success();
}

static LogicalResult verifyUse(Operation *user, FlatSymbolRefAttr name, Type type, SymbolTableCollection &symbols) {
  auto variable = symbols.lookupNearestSymbolFrom<VariableOp>(user->getParentOp(), name);
  if (!variable)
    return user->emitOpError("names no variable: ") << name;
  // An ill-typed variable reports that itself.
  auto declared = dyn_cast<RankedTensorType>(variable.getType()), used = cast<RankedTensorType>(type);
  if (declared && (declared.getShape() != used.getShape() || declared.getElementType() != used.getElementType()))
    return user->emitOpError("a variable keeps its type, got: ") << type << " for " << variable.getType();
  return success();
}

LogicalResult ReadOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyUse(*this, getVariableAttr(), getResult().getType(), symbols);
}
LogicalResult WriteOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyUse(*this, getVariableAttr(), getValue().getType(), symbols);
}

LogicalResult GraphOp::verifyRegions() {
  llvm::SmallDenseSet<StringRef> written;
  bool backward = false;
  for (Operation &op : getBody().front()) {
    if (auto read = dyn_cast<ReadOp>(op); read && written.contains(read.getVariable()))
      return read.emitOpError("a variable is read before it is written, got: ") << read.getVariableAttr();
    if (auto write = dyn_cast<WriteOp>(op); write && !written.insert(write.getVariable()).second)
      return write.emitOpError("a variable is written once in a graph, got: ") << write.getVariableAttr();
    if (isa<BackwardBeginOp>(op) && std::exchange(backward, true))
      return op.emitOpError("a graph has one backward part");
  }
  return success();
}

// Pairs (result, operand), each at most once: a result may have several operands to choose from.
static LogicalResult verifyInPlace(KernelOp op) {
  ArrayRef<int64_t> pairs = op.getInPlace().value_or(ArrayRef<int64_t>());
  bool good = pairs.size() % 2 == 0;
  for (size_t i = 0; good && i < pairs.size(); i += 2)
    good = pairs[i] >= 0 && pairs[i] < int64_t(op.getOutputs().size()) && pairs[i + 1] >= 0 &&
           pairs[i + 1] < int64_t(op.getInputs().size());
  if (!good)
    return op.emitOpError("'in_place' is pairs of a result and the operand it may overwrite, got: ")
           << op.getInPlaceAttr();
  return success();
}

LogicalResult KernelOp::verifyRegions() {
  Block &block = getBody().front();
  if (block.getNumArguments() != getInputs().size())
    return emitOpError("one block argument per input, got: ")
           << block.getNumArguments() << " and " << getInputs().size();
  // `local` lies inside the region, `outer` is what it is a rank's part of.
  auto verifyLocal = [&](StringRef what, Type local, Type outer) -> LogicalResult {
    auto plain = dyn_cast<RankedTensorType>(local);
    if (!plain || plain.getEncoding())
      return emitOpError("kernel bodies take local, plain tensors, got: ") << local;
    auto whole = cast<RankedTensorType>(outer);
    bool laidOut = bool(whole.getEncoding());
    if (plain.getElementType() != whole.getElementType() || plain.getRank() != whole.getRank() ||
        (!laidOut && plain.getShape() != whole.getShape()))
      return emitOpError() << what << ", got: " << local << " for " << outer;
    return success();
  };
  for (auto [argument, input] : llvm::zip(block.getArguments(), getInputs()))
    if (failed(verifyLocal("a block argument has its input's type", argument.getType(), input.getType())))
      return failure();
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield || yield.getValues().size() != getOutputs().size())
    return emitOpError("one yielded value per output, got: ")
           << (yield ? yield.getValues().size() : 0) << " and " << getOutputs().size();
  for (auto [value, output] : llvm::zip(yield.getValues(), getOutputs()))
    if (failed(verifyLocal("a yielded value has its output's type", value.getType(), output.getType())))
      return failure();
  for (int64_t bytes : getTemps().value_or(ArrayRef<int64_t>()))
    if (bytes < 0)
      return emitOpError("sizes of temporaries must not be negative, got: ") << getTempsAttr();
  return success(succeeded(verifyInPlace(*this)) && succeeded(verifyTogether(*this)));
}
