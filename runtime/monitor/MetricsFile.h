// The lines of metrics.jsonl that an earlier run wrote.
#ifndef RUNTIME_MONITOR_METRICSFILE_H
#define RUNTIME_MONITOR_METRICSFILE_H
#include "runtime/base/Status.h"
#include <cstdint>
#include <string>

namespace recipe::rt {

/// Keeps the lines of updates up to `step`; those after it will be written once more. A last line that was cut off goes
/// as well. The last update that has a line, 0 if none has. Fine if there is no such file; refuses, without a change, a
/// line that is none of ours.
absl::StatusOr<int64_t> keepMetricsUntil(const std::string &path, int64_t step);

} // namespace recipe::rt
#endif
