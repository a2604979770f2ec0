// What this process occupies.
#ifndef RUNTIME_BASE_MEMORY_H
#define RUNTIME_BASE_MEMORY_H
#include <cstdint>

namespace recipe::rt {

/// RssAnon + RssShmem in bytes: what the process itself made resident, without the pages of mapped files.
uint64_t residentBytes();

/// What one process may make resident here: the physical memory, or the limit of its control group if lower.
uint64_t availableBytes();

/// The largest residentBytes() seen by sample(). Not thread-safe.
class PeakMemory {
public:
  uint64_t sample();
  uint64_t peakBytes() const { return peak; }

private:
  uint64_t peak = 0;
};

} // namespace recipe::rt
#endif
