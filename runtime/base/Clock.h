// Monotonic time.
#ifndef RUNTIME_BASE_CLOCK_H
#define RUNTIME_BASE_CLOCK_H
#include <cstdint>
#include <ctime>

namespace recipe::rt {

/// Nanoseconds since an arbitrary point; never goes back.
inline int64_t nowNanoseconds() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return int64_t(t.tv_sec) * 1000000000 + t.tv_nsec;
}

inline double nowSeconds() { return double(nowNanoseconds()) * 1e-9; }

} // namespace recipe::rt
#endif
