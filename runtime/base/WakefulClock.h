// Time in which this process was there to see it.
#ifndef RUNTIME_BASE_WAKEFULCLOCK_H
#define RUNTIME_BASE_WAKEFULCLOCK_H
#include "runtime/base/Clock.h"
#include <algorithm>

namespace recipe::rt {

/// A process that was suspended, or whose machine slept, must not find that everybody else is late. Whoever reads this
/// clock at least every `longest` nanoseconds sees absences shortened to that. One thread at a time.
class WakefulClock {
public:
  explicit WakefulClock(int64_t longest = 500'000'000, int64_t (*clock)() = nowNanoseconds)
      : clock(clock), longest(longest), seen(clock()) {}

  /// Nanoseconds, from 1.
  int64_t now() {
    int64_t before = seen;
    seen = clock();
    return lived += std::min(seen - before, longest);
  }

  /// As of the last call of now().
  int64_t last() const { return lived; }

private:
  int64_t (*clock)();
  int64_t longest;
  int64_t seen, lived = 1;
};

} // namespace recipe::rt
#endif
