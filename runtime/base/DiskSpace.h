// Whether what is to be written will fit.
#ifndef RUNTIME_BASE_DISKSPACE_H
#define RUNTIME_BASE_DISKSPACE_H
#include "runtime/base/Status.h"
#include <cstdint>
#include <string>

namespace recipe::rt {

/// Refuses if fewer than `bytes` are free where `folder` lies. A file system that does not count is believed to have
/// room. `what` opens the message.
absl::Status checkDiskSpace(const std::string &what, const std::string &folder, uint64_t bytes);

/// Refuses if this process may not write a file of that size.
absl::Status checkFileSizeLimit(const std::string &what, uint64_t bytes);

} // namespace recipe::rt
#endif
