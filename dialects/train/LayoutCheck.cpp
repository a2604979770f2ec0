// Walks a module and holds every op to its layout rule.
#include "dialects/dist/Dist.h"
#include "dialects/train/Layouts.h"
#include "dialects/train/Shapes.h"

using namespace mlir;
using namespace recipe;
using namespace recipe::train;
using dist::LayoutAttr;

namespace {

class LayoutCheck {
public:
  LayoutCheck(ModuleOp module, bool required) : module(module), symbols(module), required(required) {}

  LogicalResult run() {
    for (auto variable : module.getOps<VariableOp>())
      if (failed(checkType(variable, variable.getType())))
        return failure();
    WalkResult result = module.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (failed(checkOp(op)))
        return WalkResult::interrupt();
      return isa<KernelOp>(op) ? WalkResult::skip() : WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

private:
  ModuleOp module;
  SymbolTable symbols;
  bool required;

  LogicalResult checkType(Operation *op, Type type);
  LogicalResult checkOp(Operation *op);
  LogicalResult checkVariable(Operation *op, StringRef name, Type type);
  LogicalResult checkRule(Operation *op);
  LogicalResult checkLeaf(Operation *op, Value value);
  LogicalResult checkKernel(KernelOp kernel);
  LogicalResult checkLocalShape(KernelOp kernel, Type local, Type outer);
};

} // namespace

LogicalResult LayoutCheck::checkType(Operation *op, Type type) {
  if (!isa<RankedTensorType>(type))
    return success();
  LayoutAttr layout = dist::layoutOf(type);
  if (!layout)
    return required ? op->emitOpError("D8: every tensor has a layout after shard, got: ") << type : success();
  auto mesh = symbols.lookup<dist::MeshOp>(layout.getMesh().getValue());
  if (!mesh)
    return op->emitOpError("D5: no mesh ") << layout.getMesh();
  return dist::verifyAgainstMesh(layout, mesh, [&] { return op->emitOpError(); });
}

// D10.
LogicalResult LayoutCheck::checkVariable(Operation *op, StringRef name, Type type) {
  auto variable = symbols.lookup<VariableOp>(name);
  if (!variable || dist::layoutOf(variable.getType()) == dist::layoutOf(type))
    return success();
  return op->emitOpError("D10: a variable is read and written as it is laid out, got: ")
         << type << " for " << variable.getType();
}

// D11: the sum over ranks of what each rank fills in is the value only when it is zero.
LogicalResult LayoutCheck::checkLeaf(Operation *op, Value value) {
  LayoutAttr layout = dist::layoutOf(value.getType());
  auto fill = dyn_cast<FillOp>(op);
  if (!layout || !layout.isPartial() || (fill && fill.getValue().isZero()))
    return success();
  return op->emitOpError("D11: a value that is made on each rank is Partial only when it is zero, got: ") << layout;
}

LogicalResult LayoutCheck::checkOp(Operation *op) {
  for (Type type : op->getResultTypes())
    if (failed(checkType(op, type)))
      return failure();
  LayoutAttr first;
  bool mixed = false;
  for (TypeRange types : {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (Type type : types)
      if (LayoutAttr layout = dist::layoutOf(type)) {
        if (first && first.getMesh() != layout.getMesh())
          return op->emitOpError("D5: the tensors of an op lie on one mesh, got: ") << first << " and " << layout;
        first = first ? first : layout;
      } else {
        mixed |= isa<RankedTensorType>(type);
      }
  if (!first)
    return success();
  if (mixed)
    return op->emitOpError("D8: tensors with and without layout in one op");
  StringRef dialect = op->getName().getDialectNamespace();
  if (dialect != "train" && dialect != "dist" && dialect != "step")
    return op->emitOpError("D9: only ops of train, dist and step take tensors with a layout, got: ") << first;
  if (auto read = dyn_cast<ReadOp>(op))
    return checkVariable(op, read.getVariable(), read.getResult().getType());
  if (auto write = dyn_cast<WriteOp>(op))
    return checkVariable(op, write.getVariable(), write.getValue().getType());
  if (isa<InputOp>(op))
    return checkLeaf(op, op->getResult(0));
  if (auto kernel = dyn_cast<KernelOp>(op))
    return checkKernel(kernel);
  return checkRule(op);
}

LogicalResult LayoutCheck::checkRule(Operation *op) {
  auto rule = dyn_cast<LayoutRuleOpInterface>(op);
  if (!rule)
    return success();
  SmallVector<Attribute> operands, results;
  for (Type type : op->getOperandTypes())
    operands.push_back(dist::layoutOf(type));
  if (failed(rule.inferLayouts(operands, results)))
    return failure();
  for (auto [value, expected] : llvm::zip_equal(op->getResults(), results)) {
    if (!expected && failed(checkLeaf(op, value)))
      return failure();
    if (expected && dist::layoutOf(value.getType()) != expected)
      return op->emitOpError("the layout of result ")
             << value.getResultNumber() << " follows from the operands', got: " << dist::layoutOf(value.getType())
             << " != " << expected;
  }
  return success();
}

LogicalResult LayoutCheck::checkLocalShape(KernelOp kernel, Type local, Type outer) {
  LayoutAttr layout = dist::layoutOf(outer);
  auto mesh = symbols.lookup<dist::MeshOp>(layout.getMesh().getValue());
  if (!mesh)
    return kernel.emitOpError("D5: no mesh ") << layout.getMesh();
  if (cast<RankedTensorType>(local).getShape() == ArrayRef<int64_t>(dist::localShape(layout, mesh)))
    return success();
  return kernel.emitOpError("kernel bodies take local tensors, got: ") << local << " of " << outer;
}

// Types inside a region are local and plain, so layouts are carried beside them. A rule takes extents from types: those
// of layouts inside are set to zero before anything is compared.
LogicalResult LayoutCheck::checkKernel(KernelOp kernel) {
  llvm::DenseMap<Value, LayoutAttr> layouts;
  auto anyType = kernel->getNumOperands() ? kernel->getOperand(0).getType() : kernel->getResult(0).getType();
  FlatSymbolRefAttr mesh = dist::layoutOf(anyType).getMesh();
  for (auto [argument, input] : llvm::zip(kernel.getBody().getArguments(), kernel.getInputs())) {
    layouts[argument] = dist::splitOnly(dist::layoutOf(input.getType()));
    if (failed(checkLocalShape(kernel, argument.getType(), input.getType())))
      return failure();
  }
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    auto rule = dyn_cast<LayoutRuleOpInterface>(op);
    if (!rule)
      return op.emitOpError("D9: only ops with a layout rule lie in kernel regions");
    SmallVector<Attribute> operands, results;
    for (Value operand : op.getOperands()) {
      LayoutAttr &layout = layouts[operand];
      // A value made inside the region and used there is whole on each rank.
      if (!layout)
        layout = dist::splitOnly(LayoutAttr::replicated(mesh, shapeOf(operand)));
      operands.push_back(layout);
    }
    if (failed(rule.inferLayouts(operands, results)))
      return failure();
    for (auto [value, layout] : llvm::zip_equal(op.getResults(), results))
      if (layout)
        layouts[value] = dist::splitOnly(cast<LayoutAttr>(layout));
  }
  for (auto [value, output] : llvm::zip(kernel.getBody().front().getTerminator()->getOperands(), kernel.getOutputs())) {
    LayoutAttr expected = layouts.lookup(value), got = dist::layoutOf(output.getType());
    if (failed(checkLocalShape(kernel, value.getType(), output.getType())))
      return failure();
    if (!expected && failed(checkLeaf(value.getDefiningOp(), output)))
      return failure();
    if (expected && dist::splitOnly(got) != expected)
      return kernel.emitOpError("the layout of output ")
             << output.getResultNumber() << " follows from the inputs', got: " << got << " != " << expected;
  }
  return success();
}

LogicalResult recipe::train::verifyLayouts(ModuleOp module, bool requireLayouts) {
  return LayoutCheck(module, requireLayouts).run();
}
