// Tries what training on several ranks needs of their connections.
#ifndef RUNTIME_TOOLS_SELFTEST_H
#define RUNTIME_TOOLS_SELFTEST_H
#include "runtime/tools/RankProcess.h"
#include <cstdio>

namespace recipe::rt {

/// Sums over ranks have the bits of the tree; how fast they are; a rank that does not answer is noticed. All ranks call
/// it; `out` gets the report. Never true: nothing stops it.
absl::StatusOr<bool> selftest(RankProcess &ranks, double timeoutSeconds, FILE *out);

} // namespace recipe::rt
#endif
