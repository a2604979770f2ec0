// The interpreter's two scalar policies (see Formulas.h for what a policy is) and the floating point state of mode
// `exact`.
//
// Files that instantiate them are compiled with -ffp-contract=off and -mfma.
#ifndef DIALECTS_TRAIN_POLICIES_H
#define DIALECTS_TRAIN_POLICIES_H

#include <cmath>
#include <cstdint>
#include <cstring>
#include <immintrin.h>

namespace recipe::train {

// What the two share: one machine operation per call.
template <class Float> struct ScalarPolicy {
  using F = Float;
  using I = uint32_t;
  using B = bool;

  static F constant(double value) { return static_cast<F>(value); }
  static I constantInt(uint32_t value) { return value; }
  static F add(F a, F b) { return a + b; }
  static F sub(F a, F b) { return a - b; }
  static F mul(F a, F b) { return a * b; }
  static F div(F a, F b) { return a / b; }
  static F neg(F a) { return -a; }
  static F fma(F a, F b, F c) { return std::fma(a, b, c); }
  static F sqrt(F a) { return std::sqrt(a); }
  static B gt(F a, F b) { return a > b; }
  static B ge(F a, F b) { return a >= b; }
  static B lt(F a, F b) { return a < b; }
  static B le(F a, F b) { return a <= b; }
  static B eq(F a, F b) { return a == b; }
  static B notB(B a) { return !a; }
  static F select(B c, F a, F b) { return c ? a : b; }
  static I selectInt(B c, I a, I b) { return c ? a : b; }
  static I addInt(I a, I b) { return a + b; }
  static I subInt(I a, I b) { return a - b; }
  static I andInt(I a, I b) { return a & b; }
  static I orInt(I a, I b) { return a | b; }
  static I xorInt(I a, I b) { return a ^ b; }
  static I shl(I a, unsigned by) { return a << by; }
  static I lshr(I a, unsigned by) { return a >> by; }
  static B ult(I a, I b) { return a < b; }
  static F toFloat(I a) { return static_cast<F>(static_cast<int32_t>(a)); }
};

// f32, bit for bit what compiled kernels compute. Needs FlushDenormals.
struct ExactPolicy : ScalarPolicy<float> {
  static constexpr bool kLibm = false;

  static I bitcastToInt(F a) {
    I bits;
    std::memcpy(&bits, &a, sizeof bits);
    return bits;
  }
  static F bitcastToFloat(I bits) {
    F a;
    std::memcpy(&a, &bits, sizeof a);
    return a;
  }
};

// The same formulas in double precision, functions from libm.
struct Fp64Policy : ScalarPolicy<double> {
  static constexpr bool kLibm = true;

  static F libmExp(F a) { return std::exp(a); }
  static F libmLog(F a) { return std::log(a); }
  static F libmCos2Pi(F a) { return std::cos(6.283185307179586 * a); }
  static F roundEven(F a) { return std::nearbyint(a); }
  static F pow(F a, F b) { return std::pow(a, b); }
  static F cos(F a) { return std::cos(a); }
};

// FTZ and DAZ, as on every thread that runs kernels, for the lifetime of this value.
class FlushDenormals {
public:
  FlushDenormals() : saved(_mm_getcsr()) { _mm_setcsr(saved | 0x8040u); }
  ~FlushDenormals() { _mm_setcsr(saved); }
  FlushDenormals(const FlushDenormals &) = delete;
  FlushDenormals &operator=(const FlushDenormals &) = delete;

private:
  unsigned saved;
};

} // namespace recipe::train
#endif
