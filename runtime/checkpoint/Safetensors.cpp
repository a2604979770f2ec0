#include "runtime/checkpoint/Safetensors.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace recipe::rt {

static constexpr struct {
  const char *name;
  uint64_t bytes;
} Dtypes[] = {
    {"F64", 8}, {"I64", 8}, {"U64", 8}, {"F32", 4}, {"I32", 4},     {"U32", 4},     {"F16", 2},  {"BF16", 2},
    {"I16", 2}, {"U16", 2}, {"I8", 1},  {"U8", 1},  {"F8_E4M3", 1}, {"F8_E5M2", 1}, {"BOOL", 1},
};

absl::StatusOr<uint64_t> tensorBytes(const TensorView &tensor) {
  uint64_t bytes = 0;
  for (const auto &dtype : Dtypes)
    if (tensor.dtype == dtype.name)
      bytes = dtype.bytes;
  if (bytes == 0)
    return absl::UnimplementedError(absl::StrCat("tensor \"", tensor.name, "\": unknown dtype \"", tensor.dtype, "\""));
  for (int64_t dimension : tensor.shape)
    if (dimension < 0)
      return absl::InvalidArgumentError(
          absl::StrCat("tensor \"", tensor.name, "\": dimensions must be at least 0, got ", dimension));
  for (int64_t dimension : tensor.shape)
    if (dimension == 0)
      return 0;
  for (int64_t dimension : tensor.shape) {
    if (bytes > INT64_MAX / static_cast<uint64_t>(dimension))
      return absl::InvalidArgumentError(absl::StrCat("tensor \"", tensor.name, "\": the shape [",
                                                     absl::StrJoin(tensor.shape, ", "), "] of ", tensor.dtype,
                                                     " must have at most ", INT64_MAX, " bytes"));
    bytes *= static_cast<uint64_t>(dimension);
  }
  return bytes;
}

} // namespace recipe::rt
