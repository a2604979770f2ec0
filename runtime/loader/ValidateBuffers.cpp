#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/loader/Validate.h"

using namespace recipe::rt;
using recipe::abi::Buffer;

template <typename... T> static absl::Status invalid(const T &...text) {
  return absl::InvalidArgumentError(absl::StrCat(text...));
}

int64_t recipe::rt::elementBytes(abi::DataType type) {
  switch (type) {
  case abi::F32:
  case abi::I32:
    return 4;
  case abi::I64:
  case abi::F64:
    return 8;
  case abi::BF16:
    return 2;
  case abi::U8:
    return 1;
  case abi::DataType_INT_MIN_SENTINEL_DO_NOT_USE_:
  case abi::DataType_INT_MAX_SENTINEL_DO_NOT_USE_:
    break;
  }
  return 0;
}

/// Number of elements of a shape, or -1 if a dimension is negative or the product leaves 2^46.
template <typename Shape> static int64_t elementCount(const Shape &shape) {
  const int64_t limit = int64_t(1) << 46;
  int64_t count = 1;
  for (int64_t extent : shape)
    if (extent < 0)
      return -1;
  for (int64_t extent : shape) {
    if (extent != 0 && count > limit / extent)
      return -1;
    count *= extent;
  }
  return count;
}

static absl::Status checkBuffer(const Buffer &buffer, const RankPlan &plan) {
  const recipe::abi::Certificate::Row &memory = plan.memory;
  if (!recipe::abi::DataType_IsValid(buffer.type()))
    return invalid("unknown data type ", int(buffer.type()));
  if (elementCount(buffer.shape()) < 0)
    return invalid("shape out of range, got [", absl::StrJoin(buffer.shape(), ", "), "]");
  if (buffer.offset() % 64 != 0 || buffer.slot_stride() % 64 != 0)
    return invalid("must be 64-byte aligned, got offset ", buffer.offset(), " and slot stride ", buffer.slot_stride());
  if (buffer.min_nodes() != 0 && buffer.region() != recipe::abi::STATE)
    return invalid("min_nodes is for state buffers, got ", buffer.min_nodes());
  if (buffer.min_nodes() > plan.nodeCount)
    return absl::OkStatus(); // not on this rank
  uint64_t region = 0, extent = buffer.bytes();
  switch (buffer.region()) {
  case recipe::abi::STATE:
    region = memory.state_bytes();
    break;
  case recipe::abi::TRANSIENT:
    region = memory.transient_bytes();
    break;
  case recipe::abi::INPUT:
    region = memory.input_bytes();
    if (buffer.slot_stride() < buffer.bytes() || buffer.slot_stride() > region)
      return invalid("its two slots must not overlap, got slot stride ", buffer.slot_stride(), " and ", buffer.bytes(),
                     " bytes");
    extent += buffer.slot_stride();
    break;
  default: // the enumeration is open: any number can arrive
    return invalid("unknown region ", int(buffer.region()));
  }
  if (buffer.bytes() > region || extent > region || buffer.offset() > region - extent)
    return invalid("must lie inside its region of ", region, " bytes, got offset ", buffer.offset(), " and ", extent,
                   " bytes");
  return absl::OkStatus();
}

/// The buffers that the runtime itself fills.
static absl::Status checkInput(const Buffer &buffer, const recipe::abi::Manifest &manifest) {
  uint64_t needed = uint64_t(manifest.batch_size()) * uint64_t(manifest.seq_length()) * 4;
  if (buffer.type() != recipe::abi::I32 || buffer.region() != recipe::abi::INPUT || buffer.bytes() < needed)
    return invalid("must be an I32 input of batch_size x seq_length, that is ", needed, " bytes, got ", buffer.bytes());
  return absl::OkStatus();
}

absl::Status recipe::rt::validateBuffers(const abi::Step &step, const RankPlan &plan) {
  absl::flat_hash_set<std::string> names;
  for (const Buffer &buffer : step.buffers()) {
    if (buffer.name().empty() || !names.insert(buffer.name()).second)
      return invalid("buffer names must be unique and not empty, got '", buffer.name(), "'");
    absl::Status status = checkBuffer(buffer, plan);
    if (status.ok() &&
        (buffer.name() == "input:tokens" || buffer.name() == "input:labels" || buffer.name() == "input:positions"))
      status = checkInput(buffer, step.manifest());
    if (!status.ok())
      return invalid("buffer '", buffer.name(), "': ", status.message());
  }
  for (const abi::Constant &constant : step.constants()) {
    if (constant.buffer() >= uint32_t(step.buffers_size()))
      return invalid("constant: buffer must be below ", step.buffers_size(), ", got ", constant.buffer());
    const Buffer &buffer = step.buffers(int(constant.buffer()));
    if (buffer.region() != abi::STATE || buffer.min_nodes() != 0 || constant.data().size() != buffer.bytes())
      return invalid("constant '", buffer.name(), "': must fill a state buffer of ", buffer.bytes(), " bytes, got ",
                     constant.data().size());
  }
  return absl::OkStatus();
}

/// The parameter is hf viewed as [outer, extent, inner], elements offset .. offset+size of the middle dimension.
static absl::Status checkSlice(const recipe::abi::Parameter &parameter, int64_t elements) {
  int64_t whole = elementCount(parameter.hf_shape());
  if (whole < 1 || elements < 1)
    return invalid("shapes out of range, got [", absl::StrJoin(parameter.shape(), ", "), "] and [",
                   absl::StrJoin(parameter.hf_shape(), ", "), "]");
  if (parameter.slice_dim() == -1) {
    if (whole != elements)
      return invalid("must have as many elements as the tensor '", parameter.hf_name(), "', got ", elements, " and ",
                     whole);
    return absl::OkStatus();
  }
  if (parameter.slice_dim() < 0 || parameter.slice_dim() >= parameter.hf_shape_size())
    return invalid("slice_dim must be -1 or a dimension of '", parameter.hf_name(), "', got ", parameter.slice_dim());
  int64_t extent = parameter.hf_shape(parameter.slice_dim()), others = whole / extent;
  int64_t size = elements / others;
  if (elements % others != 0 || size > extent || parameter.slice_offset() < 0 ||
      parameter.slice_offset() > extent - size)
    return invalid("must be a slice of '", parameter.hf_name(), "' along dimension ", parameter.slice_dim(), " of ",
                   extent, ", got ", elements, " elements at ", parameter.slice_offset());
  return absl::OkStatus();
}

absl::Status recipe::rt::validateParameters(const abi::Step &step) {
  absl::flat_hash_set<std::string> names;
  uint32_t buffers = uint32_t(step.buffers_size());
  for (const abi::Parameter &parameter : step.parameters()) {
    if (parameter.name().empty() || parameter.hf_name().empty() || !names.insert(parameter.name()).second)
      return invalid("parameter names must be unique and not empty, got '", parameter.name(), "'");
    auto bad = [&](const auto &...text) { return invalid("parameter '", parameter.name(), "': ", text...); };
    if (parameter.buffer() >= buffers)
      return bad("buffer must be below ", buffers, ", got ", parameter.buffer());
    for (uint32_t index : parameter.gradient_buffers())
      if (index >= buffers || step.buffers(int(index)).min_nodes() != 0)
        return bad("gradient buffer must be below ", buffers, " and on every rank, got ", index);
    for (uint32_t index : parameter.optimizer_buffers())
      if (index >= buffers)
        return bad("optimizer buffer must be below ", buffers, ", got ", index);
    int64_t elements = elementCount(parameter.shape());
    // Checkpoints read and write all of them.
    auto holdsValues = [&](uint32_t index) {
      const Buffer &buffer = step.buffers(int(index));
      return buffer.region() == abi::STATE && buffer.min_nodes() == 0 && buffer.type() == abi::F32 && elements >= 0 &&
             uint64_t(elements) * 4 <= buffer.bytes();
    };
    if (!holdsValues(parameter.buffer()))
      return bad("its buffer must be an F32 state buffer of [", absl::StrJoin(parameter.shape(), ", "), "], got ",
                 step.buffers(int(parameter.buffer())).bytes(), " bytes");
    for (uint32_t index : parameter.optimizer_buffers())
      if (!holdsValues(index))
        return bad("optimizer buffer must be an F32 state buffer of [", absl::StrJoin(parameter.shape(), ", "),
                   "], got '", step.buffers(int(index)).name(), "' of ", step.buffers(int(index)).bytes(), " bytes");
    absl::Status slice = checkSlice(parameter, elements);
    if (!slice.ok())
      return bad(slice.message());
  }
  return absl::OkStatus();
}
