// manifest.json of a checkpoint: what was trained, how far, and the hash of every file. docs/checkpoints.md describes
// it. Values only, no I/O.
#ifndef RUNTIME_CHECKPOINT_CHECKPOINTMANIFEST_H
#define RUNTIME_CHECKPOINT_CHECKPOINTMANIFEST_H
#include "runtime/base/Status.h"
#include "runtime/checkpoint/NumericsIdentity.h"
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace recipe::rt {

inline constexpr int64_t CheckpointFormatVersion = 1;
inline const char *const ManifestFileName = "manifest.json";

/// A file of the checkpoint, as it must be.
struct CheckpointFile {
  std::string name; // without folder
  uint64_t bytes = 0;
  std::string sha256; // lower-case hexadecimal
};

/// How the checkpoint came about. Nothing here has a say in what training does next, and only this part differs between
/// checkpoints of the same state.
struct CheckpointProvenance {
  std::string run;      // experiment.name
  std::string producer; // the program that wrote it
  std::string compiler; // and the one that compiled the step
  std::string target;   // processor that the step was compiled for
  int64_t nodes = 1;
  int64_t threads = 1;
  std::string written; // UTC, 2026-01-31T12:00:00Z
};

struct CheckpointManifest {
  int64_t step = 0;        // updates done
  int64_t samples = 0;     // of the training stream consumed: where the next update begins
  std::string modelType;   // model.type
  std::string modelConfig; // config.json on one line
  int64_t parameters = 0;
  /// Every setting that has a say in the bits of training, by its recipe key, numbers in their shortest spelling.
  std::map<std::string, std::string> settings;
  NumericsIdentity numerics;
  std::vector<CheckpointFile> files;
  CheckpointProvenance provenance;
};

/// Equal values give equal bytes.
std::string encodeManifest(const CheckpointManifest &manifest);

/// Checks format, version, the manifest's own checksum and every field. Messages do not name the file.
absl::StatusOr<CheckpointManifest> decodeManifest(const std::string &text);

} // namespace recipe::rt
#endif
