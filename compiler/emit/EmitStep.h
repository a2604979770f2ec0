// The planned module, the native object and the recipe as a step.bin.
#ifndef COMPILER_EMIT_EMITSTEP_H
#define COMPILER_EMIT_EMITSTEP_H

#include "dialects/train/StepFacts.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace recipe {
struct Compilation;

namespace emit {

// Fills compilation.step and compilation.bytes. Returns what is wrong, else nothing.
std::string emitStep(Compilation &compilation);

// Of @train, by the ops' own cost: forward and backward, a multiply-add counted as two.
double flopsPerToken(mlir::ModuleOp module, const train::StepFacts &facts);

// In which order ops of any graph take the terms of bf16 products; empty if none does.
std::string bf16Order(mlir::ModuleOp module);

// Rows of the loss's weight.
int64_t vocabSize(mlir::ModuleOp module);

} // namespace emit
} // namespace recipe
#endif
