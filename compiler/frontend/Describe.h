//===- Describe.h - a resolved recipe for people and for step.bin -------------------------------------------------===//
#ifndef RECIPE_FRONTEND_DESCRIBE_H
#define RECIPE_FRONTEND_DESCRIBE_H

#include "compiler/frontend/ResolvedRecipe.h"
#include "runtime/abi/step.pb.h"

#include <string>

namespace recipe::frontend {

// The resolved recipe as YAML; behind every value where it came from. It is itself a recipe with the same meaning.
std::string renderResolved(const ResolvedRecipe &resolved);

// Fills step.recipe, step.run_time_keys and what step.manifest says of the recipe (name, max_threads, seq_length,
// batch_size, global_batch, batch_segments, legal_ranks).
void describeRecipe(const ResolvedRecipe &resolved, abi::Step &step);

} // namespace recipe::frontend

#endif // RECIPE_FRONTEND_DESCRIBE_H
