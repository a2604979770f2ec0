#include "runtime/checkpoint/HuggingFace.h"
#include "absl/strings/str_cat.h"
#include <algorithm>
#include <map>

using namespace recipe::rt;
using recipe::abi::Parameter;

using AddressOf = std::function<const std::byte *(const Parameter &)>;

namespace {

/// A tensor viewed as [outer, extent, inner], cut along the middle.
struct Slice {
  const Parameter *parameter;
  int64_t begin, size;
};

} // namespace

static int64_t product(const google::protobuf::RepeatedField<int64_t> &shape, int begin, int end) {
  int64_t count = 1;
  for (int i = begin; i < end; ++i)
    count *= shape[i];
  return count;
}

static absl::Status bad(const Parameter &parameter, const std::string &text) {
  return absl::InvalidArgumentError(absl::StrCat("tensor '", parameter.hf_name(), "': ", text));
}

/// All of the tensor in one piece.
static absl::Status addWhole(const std::vector<const Parameter *> &parts, const AddressOf &address,
                             TensorView &tensor) {
  if (parts.size() != 1)
    return bad(*parts[0], absl::StrCat("must be one parameter or slices, got '", parts[0]->name(), "' and '",
                                       parts[1]->name(), "'"));
  tensor.data = address(*parts[0]);
  return absl::OkStatus();
}

static absl::Status addSlices(const std::vector<const Parameter *> &parts, const AddressOf &address,
                              TensorView &tensor) {
  const Parameter &first = *parts[0];
  const auto &shape = first.hf_shape();
  int dim = first.slice_dim();
  int64_t outer = product(shape, 0, dim), inner = product(shape, dim + 1, shape.size());
  std::vector<Slice> slices;
  for (const Parameter *part : parts) {
    if (part->slice_dim() != dim ||
        !std::equal(shape.begin(), shape.end(), part->hf_shape().begin(), part->hf_shape().end()))
      return bad(first, absl::StrCat("its slices must agree on shape and dimension, got '", first.name(), "' and '",
                                     part->name(), "'"));
    slices.push_back({part, part->slice_offset(), product(part->shape(), 0, part->shape_size()) / (outer * inner)});
  }
  std::sort(slices.begin(), slices.end(), [](const Slice &a, const Slice &b) { return a.begin < b.begin; });
  int64_t end = 0;
  for (const Slice &slice : slices) {
    if (slice.begin != end)
      return bad(first,
                 absl::StrCat("slices must cover it once, got a hole or an overlap at ", std::min(end, slice.begin)));
    end += slice.size;
  }
  if (end != shape[dim])
    return bad(first, absl::StrCat("slices must cover it once, got ", end, " of ", shape[dim]));
  for (int64_t row = 0; row < outer; ++row)
    for (const Slice &slice : slices) {
      uint64_t bytes = uint64_t(slice.size * inner) * 4;
      const std::byte *first = address(*slice.parameter);
      tensor.pieces.push_back({first ? first + uint64_t(row) * bytes : nullptr, bytes});
    }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<TensorView>>
recipe::rt::parameterTensors(const std::vector<const abi::Parameter *> &parameters, const AddressOf &address) {
  std::vector<std::vector<const Parameter *>> groups;
  std::map<std::string, size_t> groupOf;
  for (const Parameter *parameter : parameters) {
    auto [found, isNew] = groupOf.emplace(parameter->hf_name(), groups.size());
    if (isNew)
      groups.emplace_back();
    groups[found->second].push_back(parameter);
  }
  std::vector<TensorView> tensors;
  for (const std::vector<const Parameter *> &parts : groups) {
    const Parameter &first = *parts[0];
    TensorView tensor;
    tensor.name = first.hf_name();
    tensor.dtype = "F32";
    tensor.shape.assign(first.hf_shape().begin(), first.hf_shape().end());
    RCP_RETURN_IF_ERROR(first.slice_dim() < 0 ? addWhole(parts, address, tensor) : addSlices(parts, address, tensor));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

absl::StatusOr<std::vector<TensorView>>
recipe::rt::huggingFaceTensors(const abi::Step &step, const std::function<const std::byte *(uint32_t)> &address) {
  std::vector<const Parameter *> all;
  for (const Parameter &parameter : step.parameters())
    all.push_back(&parameter);
  return parameterTensors(all, [&](const Parameter &parameter) { return address(parameter.buffer()); });
}
