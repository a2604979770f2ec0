// The folder of a run's checkpoints: names, order, and what happens to them besides their contents. A checkpoint is
// step-00000123, complete from the moment it has that name; step-00000123.partial is being written and
// step-00000123.removed is being deleted, and both mean nothing when found. The caller holds the run's lock.
#ifndef RUNTIME_CHECKPOINT_CHECKPOINTFOLDER_H
#define RUNTIME_CHECKPOINT_CHECKPOINTFOLDER_H
#include "runtime/base/Status.h"
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace recipe::rt {

/// "step-00000123"; more digits where needed.
std::string checkpointName(int64_t step);

/// The step of which that is the name; -1: not a checkpoint's name.
int64_t stepOfName(const std::string &name);

/// The steps of the folder's checkpoints, ascending; none if there is no folder.
absl::StatusOr<std::vector<int64_t>> listCheckpoints(const std::string &folder);

/// The folder of a run's checkpoints.
std::string checkpointsFolder(const std::string &outputDir);

/// The newest checkpoint of a run.
absl::StatusOr<std::string> newestCheckpoint(const std::string &outputDir);

/// The checkpoint that `path` means: it is one, or the output folder of a run, whose newest one it stands for.
absl::StatusOr<std::string> checkpointAt(const std::string &path);

/// Calls `read` with the checkpoint that `name` means (see checkpointAt). A run that goes on beside may remove it at
/// any moment; then `read` is called once more, with the run's newest one, up to ten times in all. Only whoever names
/// one checkpoint must hear that it is gone.
absl::Status readCheckpoint(const std::string &name, const std::function<absl::Status(const std::string &path)> &read);

/// Removes what a run that was killed left half-written or half-deleted.
absl::Status removeLeftovers(const std::string &folder);

/// Deletes one checkpoint, such that a kill at any moment leaves it whole or not a checkpoint.
absl::Status removeCheckpoint(const std::string &folder, int64_t step);

/// Deletes all but the newest `keep` checkpoints; 0: keeps all.
absl::Status keepNewest(const std::string &folder, int64_t keep);

} // namespace recipe::rt
#endif
