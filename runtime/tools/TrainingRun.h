// What `reciperun` does between its command line and its exit code.
#ifndef RUNTIME_TOOLS_TRAININGRUN_H
#define RUNTIME_TOOLS_TRAININGRUN_H
#include "runtime/base/Status.h"
#include "runtime/loader/RunTimeKeys.h"
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace recipe::rt {

class RankProcess;

struct RunOptions {
  std::string stepPath;
  std::vector<std::string> overrides;   // --set key=value
  int64_t steps = -1;                   // updates after which the run ends; -1: optim.max_steps
  int64_t nodes = 1;                    // data-parallel ranks
  int threads = 0;                      // 0: one for each CPU, at most target.max_threads
  std::optional<std::string> outputDir; // instead of experiment.output_dir
  bool overwrite = false;               // replace the results of an earlier run
  std::string resume;                   // "latest", a checkpoint or a run's output folder; empty: from the beginning
  bool allowChanges = false;            // resume although settings that shape training differ
  bool restarted = false;               // by the launcher: resume from what there is of this run
  RankProcess *ranks = nullptr;         // of several; null: the only rank
  double timeoutSeconds = 600;          // for what ranks wait for of each other
  bool profile = false;                 // time per kernel to `err` at the end
  FILE *out = stdout;
  FILE *err = stderr;
  bool terminal = false;               // `err` is one: show progress
  std::function<bool()> stopRequested; // asked after each step; may be empty
  std::function<void()> onBegin;       // on rank 0, once the output folder holds nothing but this run; may be empty
};

/// Refuses what every rank would refuse for reasons in the step and the settings alone.
absl::StatusOr<RunTimeKeys> checkStep(const RunOptions &options);

/// Trains, evaluates, writes the weights. All ranks of a run call it; rank 0 writes. Whatever it writes to `out` and
/// `err` is rank 0's to say. True if it was stopped before its last step. Log lines that `out` does not take end no
/// run; its error flag tells.
absl::StatusOr<bool> runTraining(const RunOptions &options);

/// What the file says of itself: manifest, memory, recipe.
absl::Status printManifest(const std::string &stepPath, FILE *out);

} // namespace recipe::rt
#endif
