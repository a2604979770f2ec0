// The elementwise ops of a region as a program over lanes: what passes/codegen/LaneProgram.h emits.
#ifndef PASSES_SELECT_LANEPROGRAM_H
#define PASSES_SELECT_LANEPROGRAM_H

#include "passes/select/KernelRule.h"

namespace recipe::select {

struct LaneProgram {
  // Fields `inputs`, `program` and `results` of a specification.
  llvm::SmallVector<mlir::NamedAttribute> spec;
  llvm::SmallVector<Argument> inputs, results; // of the region, in the order of `spec`
  llvm::SmallVector<int64_t> scalars;          // of each op, in order
  // Every result over every input of one value per element.
  llvm::SmallVector<std::pair<int64_t, int64_t>> inPlace;
  int64_t channels = 0;         // of inputs with one value per channel; 0: there are none
  int64_t elements = 0;         // of each result
  int64_t flops = 0, bytes = 0; // of the ops; of the inputs and results
};

// The elementwise ops of a region's body; with an anchor, they take its result from registers.
LaneProgram laneProgramOf(mlir::Block &body, mlir::Operation *anchor);

// Applies the program to the last result of a launch, the anchor's, before it is stored: its argument makes room for
// the program's inputs and results, and the specification gets a field `epilogue`.
void addEpilogue(Launch &launch, const LaneProgram &program, mlir::MLIRContext *context);

} // namespace recipe::select
#endif
