// Where a run goes on: which checkpoint, whether it is this run's, and what of the output folder it leaves behind.
#ifndef RUNTIME_TOOLS_RESUME_H
#define RUNTIME_TOOLS_RESUME_H
#include "runtime/checkpoint/CheckpointManifest.h"
#include <cstdio>
#include <optional>

namespace recipe::rt {

struct ResumeOptions {
  std::string from;          // "latest", a checkpoint, or another run's output folder
  std::string outputDir;     // of this run
  int64_t globalBatch = 1;   // samples per update
  bool overwrite = false;    // checkpoints of this folder that are newer may go
  bool allowChanges = false; // settings that have a say in the bits may differ
  FILE *err = stderr;        // takes what differs, if that is allowed, and whether bits will
};

struct ResumePoint {
  std::string path; // of the checkpoint
  CheckpointManifest manifest;
  bool sameFolder = false; // the checkpoint lies in this run's output folder
};

/// Whether `from` means this run's own output folder, which then holds results that stay.
bool resumesOutputFolder(const std::string &from, const std::string &outputDir);

/// Finds the checkpoint and checks that `now` (see describeRun) may go on from it. Reads its manifest only.
absl::StatusOr<ResumePoint> findResumePoint(const ResumeOptions &options, const CheckpointManifest &now);

/// Removes what the folder holds beyond the update `step`: checkpoints, the newest first, half-written ones, lines of
/// metrics. -1: every checkpoint; the metrics are then for their next writer to replace. The last update that has a
/// line, 0 if none has.
absl::StatusOr<int64_t> forgetBeyond(const std::string &outputDir, int64_t step);

} // namespace recipe::rt
#endif
