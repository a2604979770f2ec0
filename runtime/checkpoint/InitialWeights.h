// The parameters of a step from a Hugging Face folder: model.init_from.
#ifndef RUNTIME_CHECKPOINT_INITIALWEIGHTS_H
#define RUNTIME_CHECKPOINT_INITIALWEIGHTS_H
#include "runtime/abi/step.pb.h"
#include "runtime/checkpoint/WeightFolder.h"
#include <functional>

namespace recipe::rt {

/// Weights that fit the step: each of its tensors is there in its shape, and nothing else that holds weights. Immutable
/// once open.
class InitialWeights {
public:
  /// Refuses with all problems, one a line: tensors that are missing, unknown, of another shape or number format, or
  /// not finite, tied ones that differ, and a config.json under which the same weights mean something else.
  static absl::StatusOr<InitialWeights> open(const abi::Step &step, const std::string &folder);

  /// The values of one of the step's parameters, row-major, as fp32.
  void read(const abi::Parameter &parameter, float *out) const;
  /// Writes those of all parameters to where `address` says that their buffers begin.
  void load(const abi::Step &step, const std::function<std::byte *(uint32_t)> &address) const;

private:
  explicit InitialWeights(WeightFolder folder) : folder(std::move(folder)) {}

  WeightFolder folder;
  std::map<std::string, WeightFolder::Tensor> sources; // by the Hugging Face name in the step
};

/// `count` numbers of a tensor from element `first` on, as fp32. dtype: F32, BF16 or F16.
void readElements(const TensorView &tensor, int64_t first, int64_t count, float *out);

} // namespace recipe::rt
#endif
