// A checkpoint's weights as a folder that other programs load.
#ifndef RUNTIME_CHECKPOINT_EXPORTWEIGHTS_H
#define RUNTIME_CHECKPOINT_EXPORTWEIGHTS_H
#include "runtime/checkpoint/CheckpointManifest.h"

namespace recipe::rt {

/// config.json of a Hugging Face model: `modelConfig` (a JSON object), with what transformers needs besides: model_type
/// as `modelType` and the number format of our files. Ends with a newline.
absl::StatusOr<std::string> exportedConfig(const std::string &modelConfig, const std::string &modelType);

/// Writes config.json and model.safetensors of the checkpoint to `folder`, which appears whole or not at all; its
/// parent must be there. Refuses a folder that exists, unless it is empty, and weights that are not those of the
/// manifest.
absl::Status exportWeights(const std::string &checkpoint, const CheckpointManifest &manifest,
                           const std::string &folder);

} // namespace recipe::rt
#endif
