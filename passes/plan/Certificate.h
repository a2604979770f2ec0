// The memory certificate: the arena of each legal number of ranks, by category at the moment when most is live.
#ifndef PASSES_PLAN_CERTIFICATE_H
#define PASSES_PLAN_CERTIFICATE_H

#include "dialects/train/StepFacts.h"
#include "passes/plan/Residents.h"
#include "passes/plan/Transients.h"

namespace recipe::plan {

struct Scratch {
  int64_t offset = 0, stride = 0, threads = 0; // in the transient region
};

// One row for each number of ranks that the global batch can be shared among. `transient` is the timeline that needs most.
std::vector<step::RowAttr> certificateRows(mlir::MLIRContext *context, const train::StepFacts &facts, const Residents &residents,
                                           const Buffers &buffers, const TransientPlan &transient, const Scratch &scratch);

// Drops rows above the budget; an error at the module, with what would be enough, when that takes the row of `ranks`.
llvm::LogicalResult applyBudget(mlir::ModuleOp module, std::vector<step::RowAttr> &rows, int64_t budget, int64_t ranks);

} // namespace recipe::plan
#endif
