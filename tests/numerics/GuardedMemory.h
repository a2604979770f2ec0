// Memory that ends where a page without access begins, and starts after another: an access outside faults. Filled with
// NaN patterns.
#ifndef TESTS_NUMERICS_GUARDEDMEMORY_H
#define TESTS_NUMERICS_GUARDEDMEMORY_H

#include <cassert>
#include <cstddef>
#include <cstring>
#include <sys/mman.h>
#include <utility>

namespace recipe::test {

class GuardedMemory {
public:
  // `bytes` a multiple of 4; aligned to what divides it, up to 64.
  explicit GuardedMemory(size_t bytes) : mapped((bytes + kPage - 1) / kPage * kPage + 2 * kPage) {
    base = static_cast<char *>(mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    assert(base != MAP_FAILED);
    size_t inside = mapped - 2 * kPage;
    if (inside)
      mprotect(base + kPage, inside, PROT_READ | PROT_WRITE);
    begin = base + kPage + inside - bytes;
    std::memset(base + kPage, 0xff, inside);
  }
  GuardedMemory(GuardedMemory &&other) noexcept
      : mapped(other.mapped), base(std::exchange(other.base, nullptr)), begin(other.begin) {}
  GuardedMemory &operator=(GuardedMemory &&) = delete;
  ~GuardedMemory() {
    if (base)
      munmap(base, mapped);
  }
  char *data() const { return begin; }

private:
  static constexpr size_t kPage = 4096;
  size_t mapped;
  char *base, *begin;
};

} // namespace recipe::test
#endif
