// A file that appears whole or not at all: it is written under a temporary name beside its place, fsynced, and renamed
// by commit(). Destroyed without commit(), it leaves nothing behind. One thread at a time.
#ifndef RUNTIME_BASE_ATOMICFILE_H
#define RUNTIME_BASE_ATOMICFILE_H

#include "absl/status/statusor.h"

#include <cstdint>
#include <string>

namespace recipe::rt {

class AtomicFile {
public:
  /// Follows symbolic links. Refuses a name that exists and is not a regular file.
  static absl::StatusOr<AtomicFile> create(const std::string &name);

  AtomicFile(AtomicFile &&other) noexcept;
  AtomicFile &operator=(AtomicFile &&) = delete;
  ~AtomicFile();

  absl::Status append(const void *data, size_t size);
  /// Overwrites bytes that were appended before.
  absl::Status writeAt(uint64_t offset, const void *data, size_t size);
  /// Makes the file durable under its name. Nothing may be written after.
  absl::Status commit();

private:
  AtomicFile(std::string path, std::string temporary, int fd)
      : path(std::move(path)), temporary(std::move(temporary)), fd(fd) {}

  std::string path;
  std::string temporary;
  int fd;
  uint64_t end = 0;
};

} // namespace recipe::rt

#endif // RUNTIME_BASE_ATOMICFILE_H
