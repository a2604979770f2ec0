#include "runtime/base/MappedFile.h"

#include "absl/strings/str_cat.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace recipe::rt {

absl::StatusOr<MappedFile> MappedFile::open(const std::string &path) {
  // O_NONBLOCK: opening a FIFO must be refused below, not wait for a writer.
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot be opened"));
  struct stat info;
  if (::fstat(fd, &info) != 0) {
    absl::Status status = absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot be examined"));
    ::close(fd);
    return status;
  }
  if (!S_ISREG(info.st_mode)) {
    ::close(fd);
    return absl::InvalidArgumentError(absl::StrCat(path, ": not a regular file"));
  }
  // mmap refuses a length of zero; an empty file needs no mapping.
  if (info.st_size == 0) {
    ::close(fd);
    return MappedFile(nullptr, 0);
  }
  size_t size = static_cast<size_t>(info.st_size);
  void *address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  int error = errno;
  ::close(fd);
  if (address == MAP_FAILED)
    return absl::ErrnoToStatus(error, absl::StrCat(path, ": cannot be mapped"));
  return MappedFile(static_cast<const uint8_t *>(address), size);
}

MappedFile::MappedFile(MappedFile &&other) noexcept
    : data(std::exchange(other.data, nullptr)), size(std::exchange(other.size, 0)) {}

MappedFile &MappedFile::operator=(MappedFile &&other) noexcept {
  std::swap(data, other.data);
  std::swap(size, other.size);
  return *this;
}

MappedFile::~MappedFile() {
  if (data)
    ::munmap(const_cast<uint8_t *>(data), size);
}

} // namespace recipe::rt
