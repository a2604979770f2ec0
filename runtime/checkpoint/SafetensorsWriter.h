// A safetensors file in three steps, so that the tensors' memory is needed for the middle one only. One thread at a
// time.
#ifndef RUNTIME_CHECKPOINT_SAFETENSORSWRITER_H
#define RUNTIME_CHECKPOINT_SAFETENSORSWRITER_H
#include "runtime/base/AtomicFile.h"
#include "runtime/base/Sha256.h"
#include "runtime/checkpoint/Safetensors.h"

namespace recipe::rt {

class SafetensorsWriter {
public:
  /// Reads no tensor's data. Tensors lie in the file in the order given. Refuses equal names.
  static absl::StatusOr<SafetensorsWriter> create(const std::string &path, std::vector<TensorView> tensors,
                                                  const std::map<std::string, std::string> &metadata);

  /// Length of the whole file.
  uint64_t bytes() const { return total; }
  /// Writes everything; call once. Afterwards the tensors' memory may change.
  absl::Status write();
  /// Makes the file durable under its name, and gives its hash. Without it nothing is left behind.
  absl::StatusOr<Sha256Digest> commit();

private:
  SafetensorsWriter(AtomicFile file, std::string header, std::vector<TensorView> tensors);
  absl::Status append(const void *data, uint64_t bytes);
  absl::Status flush();

  AtomicFile file;
  std::string header; // with its length before it
  std::vector<TensorView> tensors;
  uint64_t total;
  Sha256 hash;
  std::vector<uint8_t> block; // gathers small pieces
};

} // namespace recipe::rt
#endif
