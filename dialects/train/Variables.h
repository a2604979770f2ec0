// Declaring, reading and writing variables.
#ifndef DIALECTS_TRAIN_VARIABLES_H
#define DIALECTS_TRAIN_VARIABLES_H

#include "dialects/train/Train.h"
#include "mlir/IR/BuiltinOps.h"

namespace recipe::train {

// The parameter (and which of its uses) that a gradient or optimizer variable belongs to.
struct Belongs {
  VariableOp parameter;
  std::optional<int64_t> use;
};

// Adds a variable behind the ones that the module has.
VariableOp declareVariable(mlir::ModuleOp module, llvm::StringRef symbol, mlir::RankedTensorType type, Role role,
                           std::optional<Belongs> belongs = std::nullopt);

// The variables of one role, in the order of the module.
llvm::SmallVector<VariableOp> variablesOf(mlir::ModuleOp module, Role role);

bool isTrainable(VariableOp parameter);

// Named "read <variable>" and "write <variable>".
mlir::Value readVariable(mlir::OpBuilder &builder, llvm::StringRef symbol, mlir::Type type);
mlir::Value readVariable(mlir::OpBuilder &builder, VariableOp variable);
void writeVariable(mlir::OpBuilder &builder, llvm::StringRef symbol, mlir::Value value);

// Adds an empty graph behind everything in the module and moves the builder into it.
GraphOp declareGraph(mlir::OpBuilder &builder, mlir::ModuleOp module, llvm::StringRef symbol);

} // namespace recipe::train
#endif
