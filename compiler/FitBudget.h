// How much backward has to compute again for a step to fit into memory.budget.
#ifndef COMPILER_FITBUDGET_H
#define COMPILER_FITBUDGET_H

#include "compiler/Pipeline.h"
#include "passes/Passes.h"

namespace recipe {

// For the module as it is before phase recompute: of the choices that are tried, cheapest first, the one whose arena
// fits; the one that needs least where none does. Without a budget, or where the phases behind fail,
// `recompute: selective`.
RecomputePassOptions fitBudget(const Compilation &compilation);

} // namespace recipe
#endif
