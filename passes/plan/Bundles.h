// Which sums over ranks go together: those that lie next to each other, until there is enough for a message.
#ifndef PASSES_PLAN_BUNDLES_H
#define PASSES_PLAN_BUNDLES_H

#include "passes/plan/Residents.h"

namespace recipe::plan {

// All-reduces of variables that follow each other in the arena, in that order.
using Bundle = llvm::SmallVector<dist::AllReduceOp>;

// Each all-reduce of the module is in one bundle. Fails where one is of anything but a variable that nothing else in
// `@update` reads.
llvm::FailureOr<std::vector<Bundle>> bundleReductions(mlir::ModuleOp module, const Residents &residents,
                                                      const Buffers &buffers);

} // namespace recipe::plan
#endif
