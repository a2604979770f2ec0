// What `reciperun` does between its command line and its exit code.
#ifndef RUNTIME_TOOLS_TRAININGRUN_H
#define RUNTIME_TOOLS_TRAININGRUN_H
#include "runtime/base/Status.h"
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace recipe::rt {

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
  bool profile = false;                 // time per kernel to `err` at the end
  FILE *out = stdout;
  FILE *err = stderr;
  bool terminal = false;               // `err` is one: show progress
  std::function<bool()> stopRequested; // asked after each step; may be empty
};

/// Trains, evaluates, writes the weights. True if it was stopped before its last step. Log lines that `out` does not
/// take end no run; its error flag tells.
absl::StatusOr<bool> runTraining(const RunOptions &options);

/// What the file says of itself: manifest, memory, recipe.
absl::Status printManifest(const std::string &stepPath, FILE *out);

} // namespace recipe::rt
#endif
