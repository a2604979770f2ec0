//===- RunValues.h - the run-time keys that the compiled prologue reads -------------------------------------------===//
//
// Slots of rcp_step_params_v1.run_values. A step.bin says which key is in which slot (RunTimeKey.slot), so the runtime
// needs none of this; the phase that builds the prologue does.
//
//   lr, minLrRatio    as in the recipe
//   scheduler         index of Optim.Scheduler: 0 constant, 1 linear, 2 cosine
//   warmupSteps       updates; negative: not set, then warmupRatio * max_steps counts
//   warmupRatio       share of max_steps; negative: not set
//   maxSteps          updates
//
// Of warmupSteps and warmupRatio exactly one is set.
//
//===-------------------------------------------------------------------------------------------------------------===//
#ifndef RECIPE_FRONTEND_RUNVALUES_H
#define RECIPE_FRONTEND_RUNVALUES_H

#include "dialects/train/RunValues.h"
#include <cstdint>
#include <string>

namespace recipe::frontend {

enum class RunValue : int32_t {
  lr = train::LearningRate,
  minLrRatio = train::MinLrRatio,
  scheduler = train::Scheduler,
  warmupSteps = train::WarmupSteps,
  warmupRatio = train::WarmupRatio,
  maxSteps = train::MaxSteps
};

// What a slot holds whose key is not set.
constexpr double runValueNotSet = -1.0;

// The slot of a dotted key, -1 if the runtime itself consumes the key.
int32_t runValueSlot(const std::string &key);

} // namespace recipe::frontend

#endif // RECIPE_FRONTEND_RUNVALUES_H
