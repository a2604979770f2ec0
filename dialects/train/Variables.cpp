#include "dialects/train/Variables.h"
#include "dialects/train/Names.h"

using namespace mlir;
using namespace recipe::train;

VariableOp recipe::train::declareVariable(ModuleOp module, StringRef symbol, RankedTensorType type, Role role,
                                          std::optional<Belongs> belongs) {
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  // From the end, where only a few graphs are: a module has thousands of variables.
  for (Operation &op : llvm::reverse(*module.getBody()))
    if (isa<VariableOp>(op)) {
      builder.setInsertionPointAfter(&op);
      break;
    }
  auto of = belongs ? FlatSymbolRefAttr::get(belongs->parameter.getSymNameAttr()) : FlatSymbolRefAttr();
  auto use = belongs && belongs->use ? builder.getI64IntegerAttr(*belongs->use) : IntegerAttr();
  return VariableOp::create(builder, namedLoc(module.getContext(), symbol), builder.getStringAttr(symbol),
                            TypeAttr::get(type), RoleAttr::get(module.getContext(), role), StringAttr(),
                            DenseI64ArrayAttr(), DenseI64ArrayAttr(), DictionaryAttr(), BoolAttr(), BoolAttr(), of,
                            use);
}

SmallVector<VariableOp> recipe::train::variablesOf(ModuleOp module, Role role) {
  SmallVector<VariableOp> variables;
  for (auto variable : module.getOps<VariableOp>())
    if (variable.getRole() == role)
      variables.push_back(variable);
  return variables;
}

bool recipe::train::isTrainable(VariableOp parameter) {
  return parameter.getRole() == Role::Parameter && parameter.getTrainable().value_or(true);
}

Value recipe::train::readVariable(OpBuilder &builder, StringRef symbol, Type type) {
  return ReadOp::create(builder, namedLoc(builder.getContext(), "read " + symbol), type, symbol);
}

Value recipe::train::readVariable(OpBuilder &builder, VariableOp variable) {
  return readVariable(builder, variable.getSymName(), variable.getType());
}

void recipe::train::writeVariable(OpBuilder &builder, StringRef symbol, Value value) {
  WriteOp::create(builder, namedLoc(builder.getContext(), "write " + symbol), symbol, value);
}

GraphOp recipe::train::declareGraph(OpBuilder &builder, ModuleOp module, StringRef symbol) {
  builder.setInsertionPointToEnd(module.getBody());
  auto graph = GraphOp::create(builder, namedLoc(module.getContext(), symbol), symbol);
  builder.setInsertionPointToStart(&graph.getBody().emplaceBlock());
  return graph;
}
