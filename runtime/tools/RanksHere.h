// The ranks that this process has started on this host, as the operating system sees them.
#ifndef RUNTIME_TOOLS_RANKSHERE_H
#define RUNTIME_TOOLS_RANKSHERE_H
#include <cstdint>
#include <string>

namespace recipe::rt {

/// Those of `nodes` ranks that do not run: "rank 1 (process 4711): stopped by a signal, rank 2: no such process"; "" if
/// all do. `allHere`: a rank that is not found is missing, and not on another host.
std::string describeIdleRanks(int64_t nodes, bool allHere);

} // namespace recipe::rt
#endif
