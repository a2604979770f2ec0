#include "runtime/device/cpu/Arena.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/base/Memory.h"
#include <cerrno>
#include <cstdint>
#include <sys/mman.h>
#include <utility>

using namespace recipe::rt;

static const size_t pageBytes = 4096;
static const size_t hugePageBytes = size_t(2) << 20;

static size_t roundUp(size_t value, size_t unit) { return (value + unit - 1) / unit * unit; }

absl::StatusOr<Arena> Arena::create(const abi::Certificate::Row &row) {
  // Regions begin at cache lines: offsets inside them are 64-byte aligned.
  size_t inputAt = roundUp(row.state_bytes(), 64), transientAt = inputAt + roundUp(row.input_bytes(), 64);
  Arena arena;
  arena.size = roundUp(transientAt + row.transient_bytes(), pageBytes);
  uint64_t available = availableBytes();
  if (arena.size > available)
    return absl::ResourceExhaustedError(
        absl::StrFormat("the step needs %.2f GiB of memory, but this machine lends %.2f GiB",
                        double(arena.size) / (1 << 30), double(available) / (1 << 30)));
  arena.mapped = arena.size + hugePageBytes;
  void *mapping =
      mmap(nullptr, arena.mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED)
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot reserve ", arena.mapped, " bytes"));
  arena.mapping = mapping;
  size_t skip = roundUp(reinterpret_cast<uintptr_t>(mapping), hugePageBytes) - reinterpret_cast<uintptr_t>(mapping);
  std::byte *start = static_cast<std::byte *>(mapping) + skip;
  // Advice only: without huge pages everything works, slower.
  madvise(start, arena.size, MADV_HUGEPAGE);
  arena.state = start;
  arena.input = start + inputAt;
  arena.transient = start + transientAt;
  return arena;
}

Arena::Arena(Arena &&other) noexcept
    : mapping(std::exchange(other.mapping, nullptr)), mapped(other.mapped), size(other.size), state(other.state),
      input(other.input), transient(other.transient) {}

Arena::~Arena() {
  if (mapping)
    munmap(mapping, mapped);
}

std::byte *Arena::region(abi::Region region) const {
  switch (region) {
  case abi::STATE:
    return state;
  case abi::INPUT:
    return input;
  case abi::TRANSIENT:
    return transient;
  case abi::Region_INT_MIN_SENTINEL_DO_NOT_USE_:
  case abi::Region_INT_MAX_SENTINEL_DO_NOT_USE_:
    break;
  }
  return nullptr;
}
