// Checks the layout rules of a whole module; runs after every phase.
#ifndef DIALECTS_TRAIN_LAYOUTS_H
#define DIALECTS_TRAIN_LAYOUTS_H

#include "mlir/IR/BuiltinOps.h"

namespace recipe::train {
// Every layout fits its mesh (D2 to D5) and every op's layouts follow its rule. With `requireLayouts` (after shard)
// a tensor outside kernel regions without layout is an error (D8).
llvm::LogicalResult verifyLayouts(mlir::ModuleOp module, bool requireLayouts);
} // namespace recipe::train
#endif
