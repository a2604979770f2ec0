// One checkpoint on its way to disk. One thread at a time.
#ifndef RUNTIME_CHECKPOINT_CHECKPOINTSAVE_H
#define RUNTIME_CHECKPOINT_CHECKPOINTSAVE_H
#include "runtime/checkpoint/CheckpointManifest.h"
#include "runtime/checkpoint/CheckpointState.h"
#include "runtime/checkpoint/SafetensorsWriter.h"

namespace recipe::rt {

/// What to save and where.
struct CheckpointRequest {
  std::string folder;          // of all checkpoints of the run; created where needed
  CheckpointManifest manifest; // all but its files
  std::vector<StateFile> state;
  std::string log;        // a file that is to be durable, as it is then, before the checkpoint counts; empty: none
  int64_t keepNewest = 0; // checkpoints that stay, this one among them; 0: all
};

/// Bytes that the checkpoint's files will take, and those of the longest.
struct CheckpointSize {
  uint64_t total = 0;
  uint64_t longest = 0;
};
absl::StatusOr<CheckpointSize> checkpointSize(const std::vector<StateFile> &state);

class CheckpointSave {
public:
  /// Refuses if there is no room, then lays out the files under a temporary name. Reads no tensor's data.
  static absl::StatusOr<CheckpointSave> begin(CheckpointRequest request);

  CheckpointSave(CheckpointSave &&) = default;
  /// Removes what was not finished.
  ~CheckpointSave();

  /// Reads the state; call once. Afterwards its memory may change.
  absl::Status readState();
  /// Makes the checkpoint durable, gives it its name, and only then deletes older ones. Call once.
  absl::Status finish();

  /// Of the finished checkpoint.
  const std::string &path() const { return finished; }

private:
  explicit CheckpointSave(CheckpointRequest request);
  absl::Status createFiles();

  CheckpointRequest request;
  std::string finished, partial; // paths; partial is empty once it is no more
  std::vector<SafetensorsWriter> files;
};

} // namespace recipe::rt
#endif
