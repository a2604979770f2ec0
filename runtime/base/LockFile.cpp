#include "runtime/base/LockFile.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace recipe::rt;

/// "process 123", as the holder wrote it.
static std::string holder(int fd) {
  char text[32];
  ssize_t size = pread(fd, text, sizeof text, 0);
  int64_t id = 0;
  if (size > 0 && absl::SimpleAtoi(absl::string_view(text, size_t(size)), &id))
    return absl::StrCat("process ", id);
  return "another process";
}

/// A file that only has our name is not ours to overwrite.
static absl::Status checkOurs(const std::string &path, int fd) {
  struct stat info;
  if (fstat(fd, &info) != 0)
    return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot be examined"));
  if (!S_ISREG(info.st_mode))
    return absl::InvalidArgumentError(absl::StrCat(path, ": not a regular file"));
  char text[32];
  ssize_t size = pread(fd, text, sizeof text, 0);
  int64_t id = 0;
  if (size != 0 && !(size == info.st_size && absl::SimpleAtoi(absl::string_view(text, size_t(size)), &id)))
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": must be empty or hold a process id, got a file that no run has written"));
  return absl::OkStatus();
}

/// Whether the open file still is the one of this name.
static bool isAt(const std::string &path, int fd) {
  struct stat opened, named;
  return fstat(fd, &opened) == 0 && lstat(path.c_str(), &named) == 0 && opened.st_dev == named.st_dev &&
         opened.st_ino == named.st_ino;
}

static absl::Status lock(const std::string &path, int fd) {
  if (flock(fd, LOCK_EX | LOCK_NB) == 0)
    return absl::OkStatus();
  if (errno == EWOULDBLOCK)
    return absl::FailedPreconditionError(absl::StrCat(path, ": held by ", holder(fd)));
  return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot be locked"));
}

absl::StatusOr<LockFile> LockFile::acquire(const std::string &path) {
  for (;;) {
    int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0666);
    if (fd < 0 && errno == ELOOP)
      return absl::InvalidArgumentError(absl::StrCat(path, ": must not be a symbolic link"));
    if (fd < 0)
      return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot be created"));
    if (absl::Status status = lock(path, fd); !status.ok()) {
      close(fd);
      return status;
    }
    // Its last holder may have removed it after we had opened it.
    if (!isAt(path, fd)) {
      close(fd);
      continue;
    }
    if (absl::Status status = checkOurs(path, fd); !status.ok()) {
      close(fd);
      return status;
    }
    LockFile file(path, fd);
    std::string id = absl::StrCat(getpid(), "\n");
    if (ftruncate(fd, 0) != 0 || pwrite(fd, id.data(), id.size(), 0) != ssize_t(id.size()))
      return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot be written"));
    return file;
  }
}

LockFile::LockFile(LockFile &&other) noexcept : path(std::move(other.path)), fd(std::exchange(other.fd, -1)) {}

LockFile::~LockFile() {
  if (fd < 0)
    return;
  // While it is held: afterwards it could be another's.
  unlink(path.c_str());
  close(fd);
}
