#include "runtime/base/DiskSpace.h"
#include "absl/strings/str_cat.h"
#include <cerrno>
#include <sys/resource.h>
#include <sys/statvfs.h>

using namespace recipe::rt;

absl::Status recipe::rt::checkDiskSpace(const std::string &what, const std::string &folder, uint64_t bytes) {
  struct statvfs disk;
  if (statvfs(folder.c_str(), &disk) != 0)
    return absl::ErrnoToStatus(errno, absl::StrCat(folder, ": cannot be examined"));
  uint64_t available = uint64_t(disk.f_bavail) * disk.f_frsize;
  if (disk.f_blocks > 0 && available < bytes)
    return absl::ResourceExhaustedError(
        absl::StrCat(what, ": the disk must have room for its ", bytes, " bytes, got ", available));
  return absl::OkStatus();
}

absl::Status recipe::rt::checkFileSizeLimit(const std::string &what, uint64_t bytes) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < bytes)
    return absl::ResourceExhaustedError(absl::StrCat(what, ": the limit on the size of files (ulimit -f) must be ",
                                                     "at least its ", bytes, " bytes, got ", limit.rlim_cur));
  return absl::OkStatus();
}
