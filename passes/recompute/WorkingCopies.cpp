#include "passes/recompute/WorkingCopies.h"
#include "dialects/train/Names.h"
#include "dialects/train/Variables.h"

using namespace mlir;

namespace recipe::recompute {

using namespace train;

static Value parameterIn(GraphOp graph, VariableOp parameter, OpBuilder &builder) {
  for (auto read : graph.getBody().getOps<ReadOp>())
    if (read.getVariable() == parameter.getSymName())
      return read;
  return readVariable(builder, parameter);
}

static Operation *firstUser(Value value) {
  Operation *first = nullptr;
  for (Operation *user : value.getUsers())
    if (!first || user->isBeforeInBlock(first))
      first = user;
  return first;
}

static void roundAtUse(ReadOp copy, VariableOp parameter) {
  if (Operation *user = firstUser(copy)) {
    OpBuilder builder(copy);
    Value weight = parameterIn(copy->getParentOfType<GraphOp>(), parameter, builder);
    if (copy->isBeforeInBlock(weight.getDefiningOp()))
      weight.getDefiningOp()->moveBefore(copy);
    builder.setInsertionPoint(user);
    auto cast = CastOp::create(builder, namedLoc(copy.getContext(), "rounded " + parameter.getSymName()),
                               copy.getType(), weight);
    copy.getResult().replaceAllUsesWith(cast);
  }
  copy.erase();
}

void dropWorkingCopies(ModuleOp module) {
  SymbolTable symbols(module);
  for (VariableOp copy : variablesOf(module, Role::Working)) {
    auto parameter = symbols.lookup<VariableOp>(*copy.getOf());
    for (auto graph : module.getOps<GraphOp>()) {
      for (auto write : llvm::make_early_inc_range(graph.getBody().getOps<WriteOp>()))
        if (write.getVariable() == copy.getSymName()) {
          Operation *rounded = write.getValue().getDefiningOp();
          write.erase();
          if (isOpTriviallyDead(rounded))
            rounded->erase();
        }
      for (auto read : llvm::make_early_inc_range(graph.getBody().getOps<ReadOp>()))
        if (read.getVariable() == copy.getSymName())
          roundAtUse(read, parameter);
    }
    copy.erase();
  }
  if (auto refresh = module.lookupSymbol<GraphOp>("refresh"))
    refresh.erase();
}

} // namespace recipe::recompute
