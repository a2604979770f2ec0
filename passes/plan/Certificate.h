// The memory certificate: the arena of each legal number of ranks, by category at the moment when most is live.
#ifndef PASSES_PLAN_CERTIFICATE_H
#define PASSES_PLAN_CERTIFICATE_H

#include "dialects/train/StepFacts.h"
#include "passes/plan/Residents.h"
#include "passes/plan/Transients.h"
#include <string>

namespace recipe::plan {

// What lies behind the values of the transient region.
struct Scratch {
  int64_t offset = 0, stride = 0, threads = 0;
  int64_t communication = 0; // behind that, on more than one rank: what arrives from other ranks
};

// One row for each number of ranks that the global batch can be shared among. `transient` is the timeline that needs
// most.
std::vector<step::RowAttr> certificateRows(mlir::MLIRContext *context, const train::StepFacts &facts,
                                           const Residents &residents, const Buffers &buffers,
                                           const TransientPlan &transient, const Scratch &scratch);

// Drops the rows above the budget (0: none are). Returns what is wrong, with what would be enough, when the row of
// `ranks` is among them or there is none; else nothing.
std::string applyBudget(step::ArenaOp arena, int64_t budget, int64_t ranks);

} // namespace recipe::plan
#endif
