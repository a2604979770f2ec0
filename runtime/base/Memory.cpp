#include "runtime/base/Memory.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

using namespace recipe::rt;

uint64_t recipe::rt::residentBytes() {
  FILE *file = std::fopen("/proc/self/status", "re");
  if (!file)
    return 0;
  uint64_t kilobytes = 0;
  char line[256];
  while (std::fgets(line, sizeof line, file)) {
    if (std::strncmp(line, "RssAnon:", 8) == 0)
      kilobytes += std::strtoull(line + 8, nullptr, 10);
    else if (std::strncmp(line, "RssShmem:", 9) == 0)
      kilobytes += std::strtoull(line + 9, nullptr, 10);
  }
  std::fclose(file);
  return kilobytes * 1024;
}

uint64_t recipe::rt::availableBytes() {
  uint64_t physical = uint64_t(sysconf(_SC_PHYS_PAGES)) * uint64_t(sysconf(_SC_PAGESIZE));
  FILE *file = std::fopen("/sys/fs/cgroup/memory.max", "re");
  if (!file)
    return physical;
  char line[64];
  bool read = std::fgets(line, sizeof line, file);
  std::fclose(file);
  uint64_t limit = read ? std::strtoull(line, nullptr, 10) : 0; // "max", hence 0, when there is none
  return limit > 0 ? std::min(physical, limit) : physical;
}

uint64_t PeakMemory::sample() {
  uint64_t now = residentBytes();
  peak = std::max(peak, now);
  return now;
}
