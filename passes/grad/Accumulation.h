// The graphs between micro-batches: what starts and what completes a node of the batch tree (docs/numerics.md,
// "batch").
#ifndef PASSES_GRAD_ACCUMULATION_H
#define PASSES_GRAD_ACCUMULATION_H

#include "dialects/train/StepFacts.h"
#include "dialects/train/Variables.h"

namespace recipe::grad {

// @segment_begin sets the sums to zero; only when a node takes several micro-batches.
void buildSegmentBegin(mlir::ModuleOp module, const train::StepFacts &facts, llvm::ArrayRef<train::VariableOp> sums);

// @segment_end merges a completed node with the pending ones; only when a rank can have several nodes. Declares the
// pending variables.
void buildSegmentEnd(mlir::ModuleOp module, const train::StepFacts &facts, llvm::ArrayRef<train::VariableOp> sums);

} // namespace recipe::grad
#endif
