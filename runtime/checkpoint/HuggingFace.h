// A step's parameters as the tensors of a Hugging Face model.
#ifndef RUNTIME_CHECKPOINT_HUGGINGFACE_H
#define RUNTIME_CHECKPOINT_HUGGINGFACE_H
#include "runtime/abi/step.pb.h"
#include "runtime/checkpoint/Safetensors.h"
#include <functional>

namespace recipe::rt {

/// Views of all tensors in the order in which their first parameter comes; `address` gives the first byte of buffer
/// number i. Tensors that the model keeps as slices come in pieces. Refuses slices that do not make up their tensor.
absl::StatusOr<std::vector<TensorView>> huggingFaceTensors(const abi::Step &step,
                                                           const std::function<const std::byte *(uint32_t)> &address);

/// The same for some of the parameters, and for memory that belongs to a parameter in other ways than its values do.
absl::StatusOr<std::vector<TensorView>>
parameterTensors(const std::vector<const abi::Parameter *> &parameters,
                 const std::function<const std::byte *(const abi::Parameter &)> &address);

} // namespace recipe::rt
#endif
