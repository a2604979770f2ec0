// A regular file to read at chosen places, into the caller's memory. Safe to use from any thread.
#ifndef RUNTIME_BASE_INPUTFILE_H
#define RUNTIME_BASE_INPUTFILE_H
#include "runtime/base/Status.h"
#include <cstddef>
#include <cstdint>
#include <string>

namespace recipe::rt {

class InputFile {
public:
  static absl::StatusOr<InputFile> open(const std::string &path);

  InputFile(InputFile &&other) noexcept;
  InputFile &operator=(InputFile &&) = delete;
  ~InputFile();

  /// Length when it was opened.
  uint64_t bytes() const { return length; }
  /// All of the bytes, or an error.
  absl::Status read(uint64_t offset, void *to, size_t bytes) const;

private:
  InputFile(std::string path, int fd, uint64_t length) : path(std::move(path)), fd(fd), length(length) {}

  std::string path;
  int fd;
  uint64_t length;
};

} // namespace recipe::rt
#endif
