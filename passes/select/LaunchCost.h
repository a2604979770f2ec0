// The cost that a launch reports.
#ifndef PASSES_SELECT_LAUNCHCOST_H
#define PASSES_SELECT_LAUNCHCOST_H

#include "passes/select/KernelRule.h"

namespace recipe::select {

// The whole cost of `op`, for an op that is one launch.
inline void addCost(Launch &launch, mlir::Operation *op) {
  auto cost = mlir::cast<train::CostOpInterface>(op);
  launch.flops += int64_t(cost.getFlops());
  launch.bytes += int64_t(cost.getBytes());
}

} // namespace recipe::select
#endif
