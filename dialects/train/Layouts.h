// Checks the layouts of a whole module; runs after every phase.
#ifndef DIALECTS_TRAIN_LAYOUTS_H
#define DIALECTS_TRAIN_LAYOUTS_H

#include "mlir/IR/BuiltinOps.h"

namespace recipe::train {
// Every layout fits its mesh (D2 to D5), every op's layouts follow its rule (T1 to T6), inside kernel regions too, and
// variables are read and written as they are laid out (D9 to D11). With `requireLayouts` (after shard) a tensor outside
// kernel regions without layout is an error (D8).
llvm::LogicalResult verifyLayouts(mlir::ModuleOp module, bool requireLayouts);
} // namespace recipe::train
#endif
