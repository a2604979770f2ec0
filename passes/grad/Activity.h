// Which part of a forward graph a gradient must pass through.
#ifndef PASSES_GRAD_ACTIVITY_H
#define PASSES_GRAD_ACTIVITY_H

#include "dialects/train/Variables.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace recipe::grad {

// The use of a parameter by an op on the way to the loss; a parameter used k times has uses 0..k-1 in the order of the
// graph.
struct ParameterUse {
  train::VariableOp parameter;
  int64_t number = 0;
  int64_t count = 0;

  // The variable that holds its gradient.
  std::string gradientName() const;
};

class Activity {
public:
  // Emits an error where an op on the way to the loss has no gradient, or where a trainable parameter does not reach
  // it.
  static llvm::FailureOr<Activity> of(mlir::ModuleOp module, train::GraphOp forward);

  // A trainable parameter, or computed from one.
  bool isDependent(mlir::Value value) const { return dependent.contains(value); }
  // Between a trainable parameter and the loss.
  bool isActive(mlir::Operation *op) const { return active.contains(op); }
  // The loss variable that a result is written to, or null.
  train::VariableOp lossVariable(mlir::OpResult result) const { return lossResults.lookup(result); }
  // In the order of the graph.
  const llvm::MapVector<mlir::OpOperand *, ParameterUse> &parameterUses() const { return uses; }

private:
  llvm::LogicalResult findLosses(train::GraphOp forward, const mlir::SymbolTable &symbols);
  void findDependent(train::GraphOp forward, const mlir::SymbolTable &symbols);
  llvm::LogicalResult findActive(train::GraphOp forward);
  llvm::LogicalResult findUses(mlir::ModuleOp module, train::GraphOp forward, const mlir::SymbolTable &symbols);

  llvm::DenseSet<mlir::Value> dependent;
  llvm::DenseSet<mlir::Operation *> active;
  llvm::DenseMap<mlir::Value, train::VariableOp> lossResults;
  llvm::MapVector<mlir::OpOperand *, ParameterUse> uses;
};

} // namespace recipe::grad
#endif
