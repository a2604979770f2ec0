// The step dialect: kernels, launches, and (after plan) buffers and programs.
#ifndef DIALECTS_STEP_STEP_H
#define DIALECTS_STEP_STEP_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"

#include "dialects/step/StepDialect.h.inc"
#include "dialects/step/StepEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/step/StepAttrs.h.inc"

#define GET_OP_CLASSES
#include "dialects/step/StepOps.h.inc"

namespace recipe::step {
// The attribute by which kernel selection gives a dist.all_reduce the kernel that adds two parts of its sum.
inline constexpr llvm::StringLiteral kCombineName = "step.combine";

// The proof of C1 to C5 (see step.arena) from layouts and instructions alone; part of the verifier of step.arena.
llvm::LogicalResult verifyCollectives(mlir::ModuleOp module);
} // namespace recipe::step

#endif
