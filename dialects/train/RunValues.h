// Slots of rcp_step_params_v1.run_values: the run-time keys that the prologue reads (train.schedule).
//
//   LearningRate, MinLrRatio   as in the recipe
//   Scheduler                  0 constant, 1 linear, 2 cosine
//   WarmupSteps                updates; negative: not set, then WarmupRatio * MaxSteps counts
//   WarmupRatio                share of MaxSteps
//   MaxSteps                   updates
#ifndef DIALECTS_TRAIN_RUNVALUES_H
#define DIALECTS_TRAIN_RUNVALUES_H

namespace recipe::train {

enum RunValueSlot { LearningRate = 0, MinLrRatio = 1, Scheduler = 2, WarmupSteps = 3, WarmupRatio = 4, MaxSteps = 5 };

} // namespace recipe::train
#endif
