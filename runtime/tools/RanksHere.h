// The ranks that this process has started on this host, as the operating system sees them.
#ifndef RUNTIME_TOOLS_RANKSHERE_H
#define RUNTIME_TOOLS_RANKSHERE_H
#include <string>

namespace recipe::rt {

/// Those that do not run: "rank 1 (process 4711): stopped by a signal"; "" if all do, or are on other hosts.
std::string describeIdleRanks();

} // namespace recipe::rt
#endif
