// The one block of memory of a run: state | input | transient.
#ifndef RUNTIME_DEVICE_CPU_ARENA_H
#define RUNTIME_DEVICE_CPU_ARENA_H
#include "runtime/abi/step.pb.h"
#include "runtime/base/Status.h"
#include <cstddef>

namespace recipe::rt {

/// Reserved at once, 2 MiB aligned, in huge pages where the kernel has them; all bytes zero. Pages become resident when
/// they are first written.
class Arena {
public:
  /// Region sizes from the certificate's row. Refuses more than this machine has.
  static absl::StatusOr<Arena> create(const abi::Certificate::Row &row);
  Arena(Arena &&other) noexcept;
  Arena &operator=(Arena &&) = delete;
  ~Arena();

  std::byte *region(abi::Region region) const;
  /// Of all regions, rounded up to whole pages.
  size_t bytes() const { return size; }

private:
  Arena() = default;
  void *mapping = nullptr;
  size_t mapped = 0, size = 0;
  std::byte *state = nullptr, *input = nullptr, *transient = nullptr;
};

} // namespace recipe::rt
#endif
