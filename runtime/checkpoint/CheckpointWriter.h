// Saves checkpoints while training goes on, without a copy of the state: it does not change before the next update
// begins, and by then its bytes have been read. One thread calls; the work is done on another.
#ifndef RUNTIME_CHECKPOINT_CHECKPOINTWRITER_H
#define RUNTIME_CHECKPOINT_CHECKPOINTWRITER_H
#include "runtime/checkpoint/CheckpointSave.h"
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace recipe::rt {

struct SavedCheckpoint {
  std::string path;
  int64_t step = 0;
  double seconds = 0;        // from start() until it was durable
  double exposedSeconds = 0; // in which the caller waited for it
};

class CheckpointWriter {
public:
  /// `cpus` are the processors that the writing thread may use.
  explicit CheckpointWriter(std::vector<int> cpus) : cpus(std::move(cpus)) {}
  CheckpointWriter(const CheckpointWriter &) = delete;
  CheckpointWriter &operator=(const CheckpointWriter &) = delete;
  /// Lets a checkpoint that is being written become durable.
  ~CheckpointWriter();

  /// Waits for the checkpoint before, and begins to save another one. The state must not change before
  /// waitUntilRead(). Refuses at once what is bound to fail.
  absl::Status start(CheckpointRequest request);
  /// Returns when the state may change again. Its status is the writing's so far.
  absl::Status waitUntilRead();
  /// Returns when the checkpoint, if there is one, is durable.
  absl::Status waitUntilDurable();
  /// The newest checkpoint that became durable since the last call, if any. Does not wait.
  std::optional<SavedCheckpoint> takeSaved();

private:
  enum class Phase { Idle, Reading, Finishing, Durable };
  void work(CheckpointSave save);
  void setPhase(Phase next, absl::Status status);
  absl::Status wait(Phase least);

  std::vector<int> cpus;
  std::thread thread;
  std::mutex mutex;
  std::condition_variable changed;
  Phase phase = Phase::Idle;
  absl::Status result;   // of the checkpoint being written or last written
  SavedCheckpoint saved; // likewise
  double begun = 0;
};

} // namespace recipe::rt
#endif
