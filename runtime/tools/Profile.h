// Where the time of a run went.
#ifndef RUNTIME_TOOLS_PROFILE_H
#define RUNTIME_TOOLS_PROFILE_H
#include "runtime/executor/Executor.h"
#include <cstdio>

namespace recipe::rt {

/// A table of kernels by total time: program, milliseconds, share, launches, GFLOP/s, GB/s, description.
void printProfile(const Executor &executor, FILE *out);

} // namespace recipe::rt
#endif
