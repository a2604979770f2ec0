// Files of named tensors in the safetensors format: 8 bytes length of the header, the header (JSON, padded with spaces
// to a multiple of 8), then the tensors' bytes without holes. A read file is immutable and safe to use from any thread.
#ifndef RUNTIME_CHECKPOINT_SAFETENSORS_H
#define RUNTIME_CHECKPOINT_SAFETENSORS_H

#include "runtime/base/MappedFile.h"
#include "runtime/base/Status.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace recipe::rt {

/// Bytes in memory that somebody else owns.
struct TensorPiece {
  const void *data = nullptr;
  uint64_t bytes = 0;
};

/// One row-major, little-endian tensor in memory that somebody else owns.
struct TensorView {
  std::string name;
  std::string dtype; // as the format spells it: F32, BF16, I64, ...
  std::vector<int64_t> shape;
  const void *data = nullptr;
  std::vector<TensorPiece> pieces; // to write only: not empty, they follow each other and `data` is not used
};

/// Bytes of the tensor; refuses an unknown dtype, a negative dimension, and what does not fit in 63 bits.
absl::StatusOr<uint64_t> tensorBytes(const TensorView &tensor);

/// Tensors lie in the file in the order given. The file appears whole or not at all. Refuses equal names.
absl::Status writeSafetensors(const std::string &path, const std::vector<TensorView> &tensors,
                              const std::map<std::string, std::string> &metadata = {});

/// The length of the file that writeSafetensors() would write; it refuses what that refuses and reads no data.
absl::StatusOr<uint64_t> safetensorsBytes(const std::vector<TensorView> &tensors,
                                          const std::map<std::string, std::string> &metadata = {});

class SafetensorsFile {
public:
  /// In the order in which they lie. Data may be unaligned in files that others wrote.
  const std::vector<TensorView> &tensors() const { return views; }
  /// Null if there is none of this name.
  const TensorView *find(const std::string &name) const;
  const std::map<std::string, std::string> &metadata() const { return texts; }

private:
  friend absl::StatusOr<SafetensorsFile> readSafetensors(const std::string &path);
  SafetensorsFile(MappedFile map, std::vector<TensorView> views, std::map<std::string, std::string> texts);

  MappedFile map;
  std::vector<TensorView> views;
  std::map<std::string, std::string> texts;
  std::map<std::string, size_t> byName;
};

/// Maps the file and checks all of its header: every tensor lies inside, is as long as dtype and shape say, and the
/// tensors follow each other without hole or overlap to the end.
absl::StatusOr<SafetensorsFile> readSafetensors(const std::string &path);

} // namespace recipe::rt

#endif // RUNTIME_CHECKPOINT_SAFETENSORS_H
