// Runs that are checkpointed, stopped and resumed, and what must be equal afterwards.
#ifndef TESTS_E2E_CHECKPOINTRUN_H
#define TESTS_E2E_CHECKPOINTRUN_H
#include "tests/e2e/Workspace.h"

namespace recipe::test {

/// A workspace with gpt2.bin compiled, and a run of it that nothing interrupts.
struct CheckpointRun {
  /// `updates` is its horizon.
  explicit CheckpointRun(int updates);

  /// reciperun gpt2.bin with the horizon and `options`.
  std::string command(const std::string &options, const std::string &step = "gpt2.bin") const;
  /// The same as the words of a command that runs in any folder.
  std::vector<std::string> words(const std::string &options, const std::string &step = "gpt2.bin") const;
  /// The uninterrupted run, in folder `whole`.
  void runWhole(const std::string &options = "");

  /// Steps of the checkpoints in the output folder.
  std::vector<int64_t> checkpoints(const std::string &outputDir) const;
  /// Relative path of a checkpoint.
  static std::string checkpoint(const std::string &outputDir, int64_t step);
  /// Losses, norms and rates of all updates: equal bits give equal text.
  std::string course(const std::string &outputDir) const;
  /// The manifest without its provenance.
  std::string manifest(const std::string &checkpoint) const;

  /// Both checkpoints hold the same bytes but for their provenance.
  void expectSameCheckpoint(const std::string &a, const std::string &b) const;
  /// The run in the folder ended as the uninterrupted one did, with the same course.
  void expectSameEnd(const std::string &outputDir) const;

  Workspace space;
  int updates;
};

} // namespace recipe::test
#endif
