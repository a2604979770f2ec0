#include "runtime/base/InputFile.h"
#include "absl/strings/str_cat.h"
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace recipe::rt;

absl::StatusOr<InputFile> InputFile::open(const std::string &path) {
  // O_NONBLOCK: opening a FIFO must be refused, not wait for a writer.
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot be opened"));
  InputFile file(path, fd, 0);
  struct stat info;
  if (fstat(fd, &info) != 0)
    return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot be examined"));
  if (!S_ISREG(info.st_mode))
    return absl::InvalidArgumentError(absl::StrCat(path, ": not a regular file"));
  file.length = uint64_t(info.st_size);
  return file;
}

InputFile::InputFile(InputFile &&other) noexcept
    : path(std::move(other.path)), fd(std::exchange(other.fd, -1)), length(other.length) {}

InputFile::~InputFile() {
  if (fd >= 0)
    ::close(fd);
}

absl::Status InputFile::read(uint64_t offset, void *to, size_t bytes) const {
  auto *next = static_cast<char *>(to);
  while (bytes > 0) {
    ssize_t got = ::pread(fd, next, bytes, off_t(offset));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot be read"));
    if (got == 0)
      return absl::DataLossError(absl::StrCat(path, ": was cut short while it was read"));
    next += got;
    offset += uint64_t(got);
    bytes -= size_t(got);
  }
  return absl::OkStatus();
}
