// Whole files and folders. A failure is the user's to solve: it names the path and the reason.
#ifndef RUNTIME_BASE_FILE_H
#define RUNTIME_BASE_FILE_H
#include "runtime/base/Status.h"
#include <cstddef>
#include <cstdint>
#include <string>

namespace recipe::rt {

absl::StatusOr<std::string> readFile(const std::string &path);

/// The old contents or the new survive a crash, never a part (see AtomicFile).
absl::Status writeFileAtomically(const std::string &path, const void *data, size_t bytes);

/// Creates the folder and its parents; fine if it exists.
absl::Status makeFolders(const std::string &path);

/// Makes what was written to a file so far durable, by whomever; fine if there is no such file.
absl::Status syncFile(const std::string &path);

/// Makes the names in a folder durable: what was created, renamed or removed there survives a loss of power.
absl::Status syncFolder(const std::string &path);

} // namespace recipe::rt
#endif
