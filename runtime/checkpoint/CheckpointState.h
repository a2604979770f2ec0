// What a checkpoint holds of a step: parameters and optimizer state as tensors under Hugging Face names, in one file
// each. They say nothing of how the run was laid out.
#ifndef RUNTIME_CHECKPOINT_CHECKPOINTSTATE_H
#define RUNTIME_CHECKPOINT_CHECKPOINTSTATE_H
#include "runtime/abi/step.pb.h"
#include "runtime/checkpoint/Safetensors.h"
#include <functional>

namespace recipe::rt {

inline const char *const WeightsFileName = "model.safetensors";
inline const char *const OptimizerFileName = "optimizer.safetensors";

/// Readers of the format look for this entry.
inline const std::map<std::string, std::string> WeightsMetadata = {{"format", "pt"}};

struct StateFile {
  std::string name; // of the file
  std::map<std::string, std::string> metadata;
  std::vector<TensorView> tensors; // every piece is memory that `address` gave
};

/// The weights, then the optimizer state: adam_m.NAME and adam_v.NAME for the tensor NAME. `address` gives the first
/// byte of buffer number i.
absl::StatusOr<std::vector<StateFile>> checkpointState(const abi::Step &step,
                                                       const std::function<std::byte *(uint32_t)> &address);

} // namespace recipe::rt
#endif
