#include "runtime/checkpoint/CheckpointState.h"
#include "absl/strings/str_cat.h"
#include "runtime/checkpoint/HuggingFace.h"
#include <algorithm>

using namespace recipe::rt;
using recipe::abi::Parameter;

/// What optimizer buffers are called before the parameter's name: "adam_m".
static std::string kindOf(const recipe::abi::Step &step, uint32_t buffer) {
  const std::string &name = step.buffers(int(buffer)).name();
  return name.substr(0, name.find(':'));
}

/// The tensors of the optimizer's state number `slot`.
static absl::Status addOptimizerSlot(const recipe::abi::Step &step, int slot,
                                     const std::function<std::byte *(uint32_t)> &address,
                                     std::vector<TensorView> &tensors) {
  std::vector<const Parameter *> owners;
  for (const Parameter &parameter : step.parameters())
    if (slot < parameter.optimizer_buffers_size())
      owners.push_back(&parameter);
  RCP_ASSIGN_OR_RETURN(std::vector<TensorView> added, parameterTensors(owners, [&](const Parameter &parameter) {
                         return address(parameter.optimizer_buffers(slot));
                       }));
  std::string kind = kindOf(step, owners.front()->optimizer_buffers(slot));
  for (TensorView &tensor : added) {
    tensor.name = absl::StrCat(kind, ".", tensor.name);
    tensors.push_back(std::move(tensor));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<StateFile>>
recipe::rt::checkpointState(const abi::Step &step, const std::function<std::byte *(uint32_t)> &address) {
  std::vector<StateFile> files = {{WeightsFileName, WeightsMetadata, {}}, {OptimizerFileName, {}, {}}};
  RCP_ASSIGN_OR_RETURN(files[0].tensors, huggingFaceTensors(step, address));
  int slots = 0;
  for (const Parameter &parameter : step.parameters())
    slots = std::max(slots, parameter.optimizer_buffers_size());
  for (int slot = 0; slot < slots; ++slot)
    RCP_RETURN_IF_ERROR(addOptimizerSlot(step, slot, address, files[1].tensors));
  return files;
}
