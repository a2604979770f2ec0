// The ranks that this process has started on this host, as the operating system sees them.
#ifndef RUNTIME_TOOLS_RANKSHERE_H
#define RUNTIME_TOOLS_RANKSHERE_H
#include <cstdint>
#include <string>

namespace recipe::rt {

/// How many of them there are, and how many of these were stopped by a signal.
struct RankCount {
  int64_t present = 0, stopped = 0;
};
RankCount countRanks();

/// Those that do not run: "rank 1 (process 4711): stopped by a signal"; "" if all do, or are on other hosts.
std::string describeIdleRanks();

} // namespace recipe::rt
#endif
