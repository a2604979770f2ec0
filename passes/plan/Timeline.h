// Graphs as sub-programs: which kernels run and which collectives are issued, in which order, under which predicate,
// and which kernels share lifetimes.
#ifndef PASSES_PLAN_TIMELINE_H
#define PASSES_PLAN_TIMELINE_H

#include "dialects/step/Step.h"
#include "passes/plan/Bundles.h"
#include <string>
#include <vector>

namespace recipe::plan {

// One kernel region of a program, or a collective; its index in the timeline is its time.
struct Moment {
  train::KernelOp kernel;  // null for a collective
  Bundle reductions;       // of a collective
  std::string name;        // unique in the program
  mlir::Location location; // of the model's op
  size_t program = 0;      // index in Timeline::programs
  step::Predicate predicate = step::Predicate::Always;
};

// Programs that run one after the other with values passing between them.
struct Timeline {
  std::vector<std::string> programs;
  std::vector<Moment> moments;
};

// `@segment_begin`, `@train` and `@segment_end` become forward and backward, `@update` follows them in their timeline,
// any other graph is a program of its name. What `@segment_end` does with a sum follows the kernel that completes it,
// and then, in the last micro-batch, the all-reduces of those bundles that are complete. Fails where an all-reduce is
// of what `@train` does not add up.
llvm::FailureOr<std::vector<Timeline>> timelinesOf(mlir::ModuleOp module, llvm::ArrayRef<Bundle> bundles);

} // namespace recipe::plan
#endif
