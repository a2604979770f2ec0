// A read-only memory-mapped regular file. Immutable after open(), so safe to read from any thread. The file must not be
// cut short while it is mapped: the kernel answers a read past its end with SIGBUS.
#ifndef RUNTIME_BASE_MAPPEDFILE_H
#define RUNTIME_BASE_MAPPEDFILE_H

#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include <cstdint>
#include <string>

namespace recipe::rt {

class MappedFile {
public:
  static absl::StatusOr<MappedFile> open(const std::string &path);

  MappedFile(MappedFile &&other) noexcept;
  MappedFile &operator=(MappedFile &&other) noexcept;
  ~MappedFile();

  absl::Span<const uint8_t> bytes() const { return {data, size}; }

private:
  MappedFile(const uint8_t *data, size_t size) : data(data), size(size) {}

  const uint8_t *data;
  size_t size;
};

} // namespace recipe::rt

#endif // RUNTIME_BASE_MAPPEDFILE_H
