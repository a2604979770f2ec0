// Weights in bf16 that are rounded where they are used, instead of copies that live from update to update.
#ifndef PASSES_RECOMPUTE_WORKINGCOPIES_H
#define PASSES_RECOMPUTE_WORKINGCOPIES_H

#include "mlir/IR/BuiltinOps.h"

namespace recipe::recompute {

// Takes the working variables out of the module: what read one rounds its parameter, just before the first use in that
// graph. The same values.
void dropWorkingCopies(mlir::ModuleOp module);

} // namespace recipe::recompute
#endif
