// How to wait for something that can only be polled.
#ifndef RUNTIME_COMM_BACKOFF_H
#define RUNTIME_COMM_BACKOFF_H
#include "runtime/base/WakefulClock.h"
#include <algorithm>
#include <ctime>
#include <immintrin.h>

namespace recipe::rt {

/// Spins for 50 us after the newest progress, then sleeps for longer and longer, at most 200 us at a time: whoever
/// waits leaves its CPU to whoever it waits for. A suspended process does not wait.
class Backoff {
public:
  /// Something was complete.
  void progress() { since = 0; }
  /// Nothing was.
  void pause() {
    int64_t now = clock.now();
    if (since == 0) {
      since = now;
      sleep = kShortest;
    }
    if (now - since < kSpin) {
      for (int i = 0; i < 8; ++i)
        _mm_pause();
      return;
    }
    timespec duration = {0, long(sleep)};
    nanosleep(&duration, nullptr);
    sleep = std::min(2 * sleep, kLongest);
  }
  /// Since the first pause after progress.
  double idleSeconds() { return since == 0 ? 0 : double(clock.now() - since) * 1e-9; }

private:
  static constexpr int64_t kSpin = 50'000, kShortest = 10'000, kLongest = 200'000;
  WakefulClock clock;
  int64_t since = 0, sleep = kShortest;
};

} // namespace recipe::rt
#endif
