// Graphs as sub-programs: which kernels run, in which order, under which predicate, and which share lifetimes.
#ifndef PASSES_PLAN_TIMELINE_H
#define PASSES_PLAN_TIMELINE_H

#include "dialects/step/Step.h"
#include "dialects/train/Train.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace recipe::plan {

// One kernel region of a program; its index in the timeline is its time.
struct Moment {
  train::KernelOp kernel;
  std::string name;   // unique in the program
  size_t program = 0; // index in Timeline::programs
  step::Predicate predicate = step::Predicate::Always;
};

// Programs that run one after the other with values passing between them.
struct Timeline {
  std::vector<std::string> programs;
  std::vector<Moment> moments;
};

// `@segment_begin`, `@train` and `@segment_end` become forward and backward, any other graph a program of its name.
std::vector<Timeline> timelinesOf(mlir::ModuleOp module);

} // namespace recipe::plan
#endif
