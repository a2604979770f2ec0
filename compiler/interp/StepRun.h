// One training step on the interpreter, as the executor runs it on one rank: prologue, micro-batches, update.
#ifndef COMPILER_INTERP_STEPRUN_H
#define COMPILER_INTERP_STEPRUN_H

#include "compiler/interp/Interpreter.h"

namespace recipe::interp {

// Sets the inputs of one micro-batch; the index counts from 0 within the step.
using LoadMicrobatch = llvm::function_ref<llvm::LogicalResult(int64_t microbatch)>;

// Makes what follows from parameters, after @init or when they were set from outside: graph @refresh, if there is one.
llvm::LogicalResult refresh(Interpreter &interpreter);

// Runs step `step` (0, 1, ...) of the module's `train.step` sizes. Reads seed and run_values from params(), which the
// caller has set, and leaves the step's results there. Graph @init and
// refresh() are the caller's to run, once.
llvm::LogicalResult runStep(Interpreter &interpreter, int64_t step, LoadMicrobatch load);

} // namespace recipe::interp
#endif
