// What a module must look like between phases, beyond what its ops verify by themselves.
#ifndef COMPILER_PHASECHECKS_H
#define COMPILER_PHASECHECKS_H

#include "mlir/IR/BuiltinOps.h"

namespace recipe {

// Graphs @forward and @eval; every op that computes has a model name.
llvm::LogicalResult checkImported(mlir::ModuleOp module);
// @train has taken the place of @forward and has a backward part.
llvm::LogicalResult checkDifferentiated(mlir::ModuleOp module);
// Every graph of a step is there.
llvm::LogicalResult checkUpdated(mlir::ModuleOp module);
// Values in bf16 are casts and working copies, cast once in a graph and never back; every graph that writes a parameter
// with a working copy writes that, too, @refresh all of them.
llvm::LogicalResult checkPrecision(mlir::ModuleOp module);
// Every tensor has a layout, confirmed by its mesh and by the rules of ops. So it is checked after each later phase
// until plan.
llvm::LogicalResult checkSharded(mlir::ModuleOp module);
// Only tables compute outside kernel regions.
llvm::LogicalResult checkFused(mlir::ModuleOp module);
// Every kernel region has launches.
llvm::LogicalResult checkSelected(mlir::ModuleOp module);
// Nothing is left but the step. The verifier of step.arena has proved the plan; here, the ranks' messages.
llvm::LogicalResult checkPlanned(mlir::ModuleOp module);

} // namespace recipe
#endif
