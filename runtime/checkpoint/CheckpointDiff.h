// How two checkpoints differ, in terms of what they mean.
#ifndef RUNTIME_CHECKPOINT_CHECKPOINTDIFF_H
#define RUNTIME_CHECKPOINT_CHECKPOINTDIFF_H
#include "runtime/checkpoint/CheckpointManifest.h"

namespace recipe::rt {

/// One value that two runs do not share; "not set" where one lacks it.
struct Difference {
  std::string name; // model.config.n_embd, optim.lr, ...
  std::string first, second;
};

/// Model, settings and numerics, by name. Step, files and provenance are not looked at.
std::vector<Difference> compareManifests(const CheckpointManifest &first, const CheckpointManifest &second);

/// The tensors of two safetensors files, a line for each that is not in both with the same bits.
absl::StatusOr<std::vector<std::string>> compareTensorFiles(const std::string &first, const std::string &second);

} // namespace recipe::rt
#endif
