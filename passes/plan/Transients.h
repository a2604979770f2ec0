// Storage of what the kernels of a timeline produce: in the variable that it is written to, in an operand that dies, or
// in a place of the transient region for as long as it lives.
#ifndef PASSES_PLAN_TRANSIENTS_H
#define PASSES_PLAN_TRANSIENTS_H

#include "passes/plan/OffsetAssignment.h"
#include "passes/plan/Residents.h"
#include "passes/plan/Timeline.h"
#include "llvm/ADT/StringMap.h"

namespace recipe::plan {

struct TransientPlan {
  int64_t bytes = 0;                   // of the transient region that this timeline uses
  Peak peak;                           // the most that lives at once: no plan takes less
  llvm::StringMap<int64_t> byCategory; // of the peak
};

// Values written to a variable are produced in its storage: no copies. Fails, naming the variable, where its old value
// is still needed. Carried gradients live from here to the end of the timeline, so that whoever looks at a step's
// gradients after the update finds them.
llvm::FailureOr<TransientPlan> placeTransients(const Timeline &timeline, const Residents &residents, Buffers &buffers);

} // namespace recipe::plan
#endif
