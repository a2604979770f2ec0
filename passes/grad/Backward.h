// Appends the backward pass to a forward graph.
#ifndef PASSES_GRAD_BACKWARD_H
#define PASSES_GRAD_BACKWARD_H

#include "dialects/train/StepFacts.h"
#include "passes/grad/Activity.h"

namespace recipe::grad {

class Backward : public train::GradientContext {
public:
  Backward(train::GraphOp graph, const train::StepFacts &facts, const Activity &activity);

  llvm::LogicalResult run();
  // The type of the gradient of a use, after run().
  mlir::RankedTensorType gradientType(mlir::OpOperand *use) const { return types.lookup(use); }

  bool needsGradient(mlir::Value forwardValue) const override { return activity.isDependent(forwardValue); }
  int64_t batchNodes() const override { return facts.batchNodes(); }
  mlir::Value accumulatorFor(mlir::OpOperand &parameterUse, mlir::Type accumulatorType) override;
  mlir::Value accumulatorFor(mlir::OpResult lossResult) override;

private:
  // What one use of an activation adds to its gradient.
  struct Contribution {
    mlir::Value gradient;
    bool ofContraction; // the use; the op itself may be gone
  };

  llvm::LogicalResult visit(mlir::Operation *op);
  // The gradient of a result: the sum of its contributions, or null.
  mlir::Value sumOf(mlir::OpResult result);
  // The first contribution and the contractions behind it that are one with it; takes them off `rest`.
  mlir::Value takeTerm(mlir::OpResult result, llvm::ArrayRef<Contribution> &rest, int64_t &made);
  llvm::LogicalResult distribute(mlir::Operation *op, llvm::ArrayRef<mlir::Value> operandGradients);
  llvm::LogicalResult writeGradient(mlir::OpOperand &use, mlir::Value gradient);

  train::GraphOp graph;
  const train::StepFacts &facts;
  const Activity &activity;
  mlir::OpBuilder builder;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Contribution>> contributions; // in reverse order of use
  llvm::DenseSet<mlir::OpOperand *> accumulated;
  llvm::DenseMap<mlir::OpOperand *, mlir::RankedTensorType> types;
};

} // namespace recipe::grad
#endif
