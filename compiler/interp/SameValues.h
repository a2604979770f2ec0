// Do two modules mean the same? One graph of each is run on equal random inputs, variables and step scalars, and
// everything it leaves behind is compared bit for bit. The oracle of pass tests.
#ifndef COMPILER_INTERP_SAMEVALUES_H
#define COMPILER_INTERP_SAMEVALUES_H

#include "compiler/interp/Interpreter.h"

namespace recipe::interp {

// Fails with a diagnostic at the first variable or step scalar that differs, when a graph cannot be run, or when it
// leaves nothing behind. Compares the variables that `before` has; `after` must have them too. Mode fp64 is for passes
// that change what is rounded.
llvm::LogicalResult sameValues(mlir::ModuleOp before, mlir::ModuleOp after, llvm::StringRef graph, uint64_t seed,
                               train::ReferenceMode mode = train::ReferenceMode::Exact);

} // namespace recipe::interp
#endif
