// Checkpoints from disk. Nothing is believed that its hash does not confirm.
#ifndef RUNTIME_CHECKPOINT_CHECKPOINTLOAD_H
#define RUNTIME_CHECKPOINT_CHECKPOINTLOAD_H
#include "runtime/checkpoint/CheckpointManifest.h"
#include "runtime/checkpoint/CheckpointState.h"

namespace recipe::rt {

/// Of the checkpoint in folder `path`; messages begin with the file's path.
absl::StatusOr<CheckpointManifest> readManifest(const std::string &path);

/// Reads every file of the checkpoint: length, hash, structure. Who removes it meanwhile does no harm once all files
/// are open.
absl::Status verifyCheckpoint(const std::string &path, const CheckpointManifest &manifest);

/// Reads the state into the memory of its tensors, in one pass and without memory of its own. Every tensor must be in
/// the checkpoint with its shape, and no other. After an error the memory holds anything.
absl::Status loadCheckpoint(const std::string &path, const CheckpointManifest &manifest,
                            const std::vector<StateFile> &state);

} // namespace recipe::rt
#endif
