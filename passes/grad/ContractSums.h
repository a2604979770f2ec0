// Sums of contractions that are one contraction (docs/numerics.md).
#ifndef PASSES_GRAD_CONTRACTSUMS_H
#define PASSES_GRAD_CONTRACTSUMS_H

#include "dialects/train/Train.h"

namespace recipe::grad {

// True when the sum of both is one contraction: one form, one result type, as many segments, products
// computed alike, no accumulator.
bool canJoin(train::ContractOp a, train::ContractOp b);

// One contraction with the pairs of all `parts`, in order. The parts are not erased.
train::ContractOp joinContracts(mlir::OpBuilder &builder, mlir::Location loc, llvm::ArrayRef<train::ContractOp> parts);

} // namespace recipe::grad
#endif
