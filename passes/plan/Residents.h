// What has a place for the whole run: variables, constants and the double-buffered inputs.
#ifndef PASSES_PLAN_RESIDENTS_H
#define PASSES_PLAN_RESIDENTS_H

#include "dialects/train/StepFacts.h"
#include "dialects/train/Train.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/plan/Buffers.h"
#include "llvm/ADT/StringMap.h"

namespace recipe::plan {

// The runtime fills one slot while the step reads the other.
inline constexpr int64_t kInputSlots = 2;

struct Residents {
  llvm::StringMap<Storage> variables;   // by symbol; not those that are carried
  llvm::StringMap<std::string> carried; // gradients that live from backward to the end of the update, with their names
  int64_t inputBytes = 0;

  // Bytes of the state region on a rank with so many batch-tree nodes.
  int64_t stateBytes(const Buffers &buffers, int64_t nodes) const;
};

// Gives every variable, input and table of the module its place, and the results of `train.read`, `train.input` and
// tables their storage. A gradient that `@train` only writes has none where an update is one micro-batch. Without
// `evaluatesTables` the constants have no values.
llvm::FailureOr<Residents> placeResidents(mlir::ModuleOp module, const train::StepFacts &facts, bool evaluatesTables,
                                          Buffers &buffers);

} // namespace recipe::plan
#endif
