// What a run tells about itself: a line for people, the same as JSON lines for programs, progress on a terminal.
#ifndef RUNTIME_MONITOR_MONITOR_H
#define RUNTIME_MONITOR_MONITOR_H
#include "runtime/base/Memory.h"
#include "runtime/executor/Executor.h"
#include <cstdio>
#include <memory>
#include <string>

namespace recipe::rt {

struct MonitorOptions {
  std::string metricsPath; // JSON lines
  bool append = false;     // lines go behind those that are there, instead of replacing them
  int64_t firstStep = 0;   // updates done before this run
  int64_t lastStep = 0;    // updates done after it
  int64_t logInterval = 10;
  int64_t tokensPerStep = 0;
  bool communicates = false; // with other ranks
  FILE *out = stdout;        // log lines
  FILE *terminal = nullptr;  // progress between log lines; null: none
};

/// One thread. Steps are numbered from 1 here: "step n" is the state after n updates. Rates and waits are means since
/// the last line and leave out evaluation; loss, grad_norm and learning_rate are those of the step itself.
///
/// Log lines that cannot be printed are lost without a word here; the error flag of `out` stays set.
class Monitor {
public:
  static absl::StatusOr<std::unique_ptr<Monitor>> create(const MonitorOptions &options);
  ~Monitor();
  Monitor(const Monitor &) = delete;
  Monitor &operator=(const Monitor &) = delete;

  /// After each step; writes every log_interval-th and the last one.
  void afterStep(const StepResult &result);
  /// After an evaluation of the state after `updates` updates that took `seconds`.
  void afterEvaluation(int64_t updates, const EvaluationResult &result, double seconds);
  /// The first failure to write metrics. They end with the last whole line before it.
  const absl::Status &status() const { return failure; }
  /// Removes the progress line; whoever prints next begins on a clean one.
  void clearProgress();

  uint64_t peakBytes() const { return memory.peakBytes(); }

private:
  Monitor(const MonitorOptions &options, int metrics);
  void writeMetrics(const std::string &line);
  void showProgress(int64_t updates, double loss);

  MonitorOptions options;
  int metrics; // file descriptor
  absl::Status failure;
  PeakMemory memory;
  double lineBegin; // when the current line's steps began; moved on by evaluations
  int64_t stepsInLine = 0;
  double waitInLine = 0, communicationInLine = 0; // milliseconds
  double lastProgress = 0;
  bool progressShown = false;
};

/// "59s", "3m05s", "2h07m", "4d03h".
std::string formatDuration(double seconds);
/// "12.3 MiB".
std::string formatBytes(uint64_t bytes);

} // namespace recipe::rt
#endif
