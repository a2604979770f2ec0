#include "runtime/base/AtomicFile.h"

#include "absl/strings/str_cat.h"
#include "runtime/base/File.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace recipe::rt {

// Where the file really lies: a rename would replace the symbolic link (/dev/stdout is one), not what it points to.
static absl::StatusOr<std::string> followLinks(const std::string &path) {
  struct stat info;
  if (::lstat(path.c_str(), &info) != 0)
    return path;
  char *resolved = ::realpath(path.c_str(), nullptr);
  if (!resolved || ::stat(resolved, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::free(resolved);
    return absl::InvalidArgumentError(absl::StrCat(path, ": exists and is not a regular file"));
  }
  std::string real = resolved;
  ::free(resolved);
  return real;
}

absl::StatusOr<AtomicFile> AtomicFile::create(const std::string &name) {
  absl::StatusOr<std::string> real = followLinks(name);
  if (!real.ok())
    return real.status();
  const std::string &path = *real;
  for (int attempt = 0;; ++attempt) {
    std::string temporary = absl::StrCat(path, ".tmp-", ::getpid(), "-", attempt);
    int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0)
      return AtomicFile(path, std::move(temporary), fd);
    if (errno != EEXIST || attempt == 100)
      return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot be created"));
  }
}

AtomicFile::AtomicFile(AtomicFile &&other) noexcept
    : path(std::move(other.path)), temporary(std::move(other.temporary)), fd(std::exchange(other.fd, -1)),
      end(other.end) {}

AtomicFile::~AtomicFile() {
  if (fd < 0)
    return;
  ::close(fd);
  ::unlink(temporary.c_str());
}

absl::Status AtomicFile::writeAt(uint64_t offset, const void *data, size_t size) {
  const char *next = static_cast<const char *>(data);
  while (size > 0) {
    ssize_t written = ::pwrite(fd, next, size, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot be written"));
    next += written;
    offset += static_cast<uint64_t>(written);
    size -= static_cast<size_t>(written);
  }
  return absl::OkStatus();
}

absl::Status AtomicFile::append(const void *data, size_t size) {
  absl::Status status = writeAt(end, data, size);
  if (status.ok())
    end += size;
  return status;
}

absl::Status AtomicFile::commit() {
  if (::fsync(fd) != 0)
    return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot be made durable"));
  if (::rename(temporary.c_str(), path.c_str()) != 0)
    return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot be put in place"));
  ::close(std::exchange(fd, -1));
  // The rename itself is durable only once the folder is.
  size_t slash = path.rfind('/');
  std::string folder = slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
  return syncFolder(folder);
}

} // namespace recipe::rt
