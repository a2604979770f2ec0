// A file that one process at a time holds. It ends with its holder, however that ends; what a killed process left
// behind is no hindrance to the next one. One thread at a time.
#ifndef RUNTIME_BASE_LOCKFILE_H
#define RUNTIME_BASE_LOCKFILE_H
#include "runtime/base/Status.h"
#include <string>

namespace recipe::rt {

class LockFile {
public:
  /// Refuses at once, naming the process, if another one holds it. The file system must know flock().
  static absl::StatusOr<LockFile> acquire(const std::string &path);

  LockFile(LockFile &&other) noexcept;
  LockFile &operator=(LockFile &&) = delete;
  /// Removes the file.
  ~LockFile();

private:
  LockFile(std::string path, int fd) : path(std::move(path)), fd(fd) {}

  std::string path;
  int fd;
};

} // namespace recipe::rt
#endif
