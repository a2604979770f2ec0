// A native object mapped into this process.
#ifndef RUNTIME_LOADER_NATIVELIBRARY_H
#define RUNTIME_LOADER_NATIVELIBRARY_H
#include "runtime/abi/kernel_abi.h"
#include "runtime/base/Status.h"
#include <memory>
#include <string>

namespace recipe::rt {

/// Owns the mapping; kernels are valid as long as it lives.
class NativeLibrary {
public:
  /// Checks the ELF file in `data` (see ElfCheck.h) and maps it without touching the file system.
  static absl::StatusOr<std::unique_ptr<NativeLibrary>> load(const std::string &data);
  ~NativeLibrary();
  NativeLibrary(const NativeLibrary &) = delete;
  NativeLibrary &operator=(const NativeLibrary &) = delete;

  absl::StatusOr<rcp_kernel_v1> kernel(const std::string &symbol) const;

private:
  NativeLibrary(int fd, void *handle) : fd(fd), handle(handle) {}
  int fd;
  void *handle;
};

} // namespace recipe::rt
#endif
