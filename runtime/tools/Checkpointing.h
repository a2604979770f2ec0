// A run's checkpoints: where it goes on, when it saves, what it keeps. One thread. All ranks of a run call the same
// functions in the same order; every rank has the whole state, so rank 0 decides and writes, and every rank reads.
#ifndef RUNTIME_TOOLS_CHECKPOINTING_H
#define RUNTIME_TOOLS_CHECKPOINTING_H
#include "runtime/checkpoint/CheckpointWriter.h"
#include "runtime/comm/Communicator.h"
#include "runtime/executor/Executor.h"
#include "runtime/tools/Resume.h"
#include <cstdio>
#include <functional>

namespace recipe::rt {

struct CheckpointingOptions {
  std::string outputDir;
  std::string resume;                         // --resume; empty: from the beginning
  bool overwrite = false;                     // --overwrite
  bool allowChanges = false;                  // --allow-changes
  std::string dataHash;                       // of the tokens that are trained on
  Communicator *communicator = nullptr;       // of a run on several ranks; null: the only rank
  double timeoutSeconds = 600;                // for what the ranks tell each other
  std::function<bool()> stopRequested;        // ends the wait for room; may be empty
  std::function<absl::Status()> writeWeights; // what stays of a run whose last checkpoint cannot be saved; may be empty
  FILE *out = stdout;
  FILE *err = stderr;
};

/// Refers to an executor that outlives it. Its destructor lets a checkpoint that is being written become durable.
class Checkpointing {
public:
  /// Refuses what would fail when the first checkpoint is due. From here on the executor waits, before each update, for
  /// the checkpoint that is being read.
  static absl::StatusOr<std::unique_ptr<Checkpointing>> create(Executor &executor, const CheckpointingOptions &options);
  ~Checkpointing();

  /// Loads the state to go on from, if any; the updates that it has seen. Changes nothing on disk.
  absl::StatusOr<int64_t> restore();
  /// Whether restore() found the state in the output folder itself, whose metrics then go on.
  bool goesOn() const { return from && from->sameFolder; }
  /// What restore() has loaded; null: nothing.
  const CheckpointManifest *loaded() const { return from ? &from->manifest : nullptr; }
  /// Once nothing can refuse the run any more: removes from the output folder what is beyond the state that training
  /// goes on from, and says where that came from.
  absl::Status settle();

  /// After each update: begins a checkpoint if one is due, tells of one that has become durable. The `last` one may
  /// find no room: end() sees to it.
  absl::Status afterStep(int64_t updates, bool last);
  /// At the end of the run: its last state is on disk when this returns. It waits while the disk has no room for it.
  absl::Status end(int64_t updates);

private:
  Checkpointing(Executor &executor, const CheckpointingOptions &options);
  absl::StatusOr<std::vector<StateFile>> state();
  int64_t keepLast() const { return executor.keys().integer("logging.keep_last", 0); }
  absl::Status checkRoom();
  absl::Status forget();
  absl::Status save(int64_t updates);
  absl::Status saveLast(int64_t updates);
  absl::Status saveWithRoom(int64_t updates);
  absl::Status waitForRoom(int64_t updates);
  absl::Status roomFor(const std::string &what);
  std::string checkpointPath(int64_t updates) const;
  std::string inMemoryOnly() const;
  bool stopRequested() const { return options.stopRequested && options.stopRequested(); }
  void tell();
  bool writes() const { return !options.communicator || options.communicator->rank() == 0; }
  /// The checkpoint that rank 0 goes on from, on all ranks.
  absl::Status choose();
  /// On this rank, the state of the chosen checkpoint.
  absl::Status load();
  /// An error of one rank is an error of all.
  absl::Status agreed(const absl::Status &own);

  Executor &executor;
  CheckpointingOptions options;
  CheckpointManifest identity;
  std::optional<ResumePoint> from;
  int64_t newest = -1;  // updates of the newest checkpoint in the output folder, or on its way to it
  int64_t durable = -1; // of the newest that this run can go on from; -1: none
  CheckpointWriter writer;
};

} // namespace recipe::rt
#endif
