#include "runtime/base/File.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/AtomicFile.h"
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

using namespace recipe::rt;

static absl::Status readAll(int fd, const std::string &path, std::string &contents) {
  struct stat info;
  if (fstat(fd, &info) != 0)
    return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot be examined"));
  if (!S_ISREG(info.st_mode))
    return absl::InvalidArgumentError(absl::StrCat(path, ": not a regular file"));
  contents.resize(size_t(info.st_size));
  size_t done = 0;
  while (done < contents.size()) {
    ssize_t n = read(fd, &contents[done], contents.size() - done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot be read"));
    if (n == 0)
      break;
    done += size_t(n);
  }
  contents.resize(done);
  return absl::OkStatus();
}

absl::StatusOr<std::string> recipe::rt::readFile(const std::string &path) {
  // O_NONBLOCK: opening a FIFO must be refused, not wait for a writer.
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot be opened"));
  std::string contents;
  absl::Status status = readAll(fd, path, contents);
  close(fd);
  if (!status.ok())
    return status;
  return contents;
}

absl::Status recipe::rt::writeFileAtomically(const std::string &path, const void *data, size_t bytes) {
  RCP_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::create(path));
  RCP_RETURN_IF_ERROR(file.append(data, bytes));
  return file.commit();
}

absl::Status recipe::rt::makeFolders(const std::string &path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error)
    return absl::ErrnoToStatus(error.value(), absl::StrCat(path, ": the folder cannot be created"));
  return absl::OkStatus();
}

absl::Status recipe::rt::syncFile(const std::string &path) {
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0 && errno == ENOENT)
    return absl::OkStatus();
  if (fd < 0)
    return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot be opened"));
  int synced = fsync(fd), error = errno;
  close(fd);
  return synced == 0 ? absl::OkStatus() : absl::ErrnoToStatus(error, absl::StrCat(path, ": cannot be made durable"));
}

absl::Status recipe::rt::syncFolder(const std::string &path) {
  int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot be opened"));
  int synced = fsync(fd), error = errno;
  close(fd);
  // Some file systems cannot sync a folder and say so with EINVAL.
  if (synced != 0 && error != EINVAL)
    return absl::ErrnoToStatus(error, absl::StrCat(path, ": cannot be made durable"));
  return absl::OkStatus();
}
