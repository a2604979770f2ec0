// The floating-point environment of kernels.
#ifndef RUNTIME_DEVICE_CPU_FLOATINGPOINT_H
#define RUNTIME_DEVICE_CPU_FLOATINGPOINT_H
#include <xmmintrin.h>

namespace recipe::rt {

/// MXCSR of a kernel: round to nearest even, exceptions masked, FTZ (bit 15) and DAZ (bit 6) set.
inline constexpr unsigned kKernelMxcsr = 0x1f80 | 0x8040;

/// Gives the calling thread the kernels' environment for as long as it lives.
class KernelFloatingPoint {
public:
  KernelFloatingPoint() : saved(_mm_getcsr()) { _mm_setcsr(kKernelMxcsr); }
  ~KernelFloatingPoint() { _mm_setcsr(saved); }
  KernelFloatingPoint(const KernelFloatingPoint &) = delete;
  KernelFloatingPoint &operator=(const KernelFloatingPoint &) = delete;

private:
  unsigned saved;
};

} // namespace recipe::rt
#endif
