// The scalar meaning of every elementwise piece of the train ops, written once: a template over a policy P,
// instantiated by the reference interpreter (Policies.h: double, exact f32) and by the code emitter (values of 16
// lanes). The calls made on the policy, in their order, *are* the rounding steps of docs/numerics.md: one call is one
// IEEE operation, nothing is contracted or reassociated. An emitter may evaluate independent calls in any order.
//
// A policy has three value types, which may coincide (so no method is overloaded on them):
//   P::F  a float, P::I  a 32-bit integer word, P::B  a condition
// and these methods (non-static or static; formulas take `P &p` and write p.add(a, b)):
//   F constant(double)          rounded once to P::F
//   I constantInt(uint32_t)
//   F add, sub, mul, div (F, F); F neg(F) flips the sign bit; F fma(a, b, c) = a * b + c rounded once; F sqrt(F)
//   B gt, ge, lt, le, eq (F, F) ordered: false when a side is NaN
//   F select(B, F, F); I selectInt(B, I, I); B notB(B)
//   I bitcastToInt(F); F bitcastToFloat(I)          f32 policies only (never instantiated when kLibm)
//   I addInt, subInt, andInt, orInt, xorInt (I, I) modulo 2^32; I shl, lshr (I, unsigned constant)
//   B ult(I, I)                 unsigned less
//   F toFloat(I)                signed conversion; formulas pass values of at most 2^24, so it is exact
//   static constexpr bool kLibm exp, log, cos2pi are P's libmExp, libmLog, libmCos2Pi, not the f32 sequences; nothing
//   is
//                               rounded to bf16
// Every method exists alike for AVX2 and AVX-512 vectors. All f32 policies run with FTZ and DAZ.
//
// Names by subject:
//   functions    maxOf roundToBF16 bf16PartsOf expOf logOf cos2PiOf sigmoidOf
//   random       threefry2x32 (Threefry.h), dropoutKey, initKey, offsetCounter, wordKeeps, dropoutKeep,
//                attentionDrawStride, applyDropout, normalOf
//   activations  geluOf geluGradOf swigluOf swigluGradOf
//   norms        reciprocalStd layerNormOutput normXhat layerNormDx rmsNormOutput rmsNormXhat rmsNormDx
//   rope         ropeForward ropeInverse
//   attention    softmaxTerm attentionGradProbability attentionGradScore
//   loss         mergeMaxSum tokenLoss logitGradient
//   update       AdamwScalars adamwOf, addToBins, evalTerm, ScheduleInputs scheduleOf (fp64 policies)
#ifndef DIALECTS_TRAIN_FORMULAS_H
#define DIALECTS_TRAIN_FORMULAS_H

#include "dialects/train/Threefry.h"
#include <array>
#include <cstdint>
#include <limits>

namespace recipe::train {

//===- Functions ------------------------------------------------------------------------------------------------===//

// a > b ? a : b; b when either is NaN (the x86 instruction max(a, b)).
template <class P> typename P::F maxOf(P &p, typename P::F a, typename P::F b) { return p.select(p.gt(a, b), a, b); }

// The f32 whose upper half is x as a bf16: rounded to nearest even, denormals to zero of their sign, a NaN quiet. What
// the instruction vcvtneps2bf16 gives, on every bit pattern. fp64 does not round.
template <class P> typename P::F roundToBF16(P &p, typename P::F x) {
  if constexpr (P::kLibm) {
    return x;
  } else {
    using I = typename P::I;
    I bits = p.bitcastToInt(x), magnitude = p.andInt(bits, p.constantInt(0x7fffffffu));
    I tie = p.andInt(p.lshr(bits, 16), p.constantInt(1));
    I rounded = p.addInt(bits, p.addInt(tie, p.constantInt(0x7fffu)));
    rounded =
        p.selectInt(p.ult(magnitude, p.constantInt(0x00800000u)), p.andInt(bits, p.constantInt(0x80000000u)), rounded);
    rounded =
        p.selectInt(p.ult(p.constantInt(0x7f800000u), magnitude), p.orInt(bits, p.constantInt(0x00400000u)), rounded);
    return p.bitcastToFloat(p.andInt(rounded, p.constantInt(0xffff0000u)));
  }
}

// The bf16 values h, m and l that make up x, as f32: h is x rounded to 8 significant bits, ties away from zero, m what
// is left rounded alike, l the rest. Their sum is x where 2^-103 <= |x| < 2^128 (1 - 2^-9), and where x is 0; what lies
// below the normal numbers is lost, one of the three is a NaN where x is infinite, rounds to infinity or is a NaN.
template <class P> std::array<typename P::F, 3> bf16PartsOf(P &p, typename P::F x) {
  auto upperHalf = [&](typename P::I bits) { return p.bitcastToFloat(p.andInt(bits, p.constantInt(0xffff0000u))); };
  auto rounded = [&](typename P::F y) { return upperHalf(p.addInt(p.bitcastToInt(y), p.constantInt(0x8000u))); };
  typename P::F h = rounded(x), r = p.sub(x, h), m = rounded(r);
  return {h, m, upperHalf(p.bitcastToInt(p.sub(r, m)))};
}

// e^x. At most 0.9 ulp from the exact value (tests/numerics). exp(0) = 1; above 88.722839 (the largest x whose result
// is finite): +inf; where the result would not be a normal number: +0; NaN gives NaN. x = n ln 2 + r, |r| <= ln 2 / 2;
// the integer n appears in the low mantissa bits of x log2(e) + 1.5 * 2^23 and is added to the exponent of e^r, which
// cannot carry into the sign inside the two limits.
template <class P> typename P::F expOf(P &p, typename P::F x) {
  if constexpr (P::kLibm) {
    return p.libmExp(x);
  } else {
    using F = typename P::F;
    F magic = p.constant(0x1.8p23);
    F one = p.constant(1.0);
    F shifted = p.fma(x, p.constant(1.4426950408889634), magic);
    F n = p.sub(shifted, magic);
    F r = p.fma(n, p.constant(-0x1.62e4p-1), x);
    r = p.fma(n, p.constant(-0x1.7f7d1cp-20), r);
    F q = p.constant(0x1.6a240ep-10);
    q = p.fma(q, r, p.constant(0x1.1239f8p-7));
    q = p.fma(q, r, p.constant(0x1.5558f2p-5));
    q = p.fma(q, r, p.constant(0x1.555492p-3));
    q = p.fma(q, r, p.constant(0x1.fffffcp-2));
    q = p.fma(q, r, one);
    q = p.fma(q, r, one);
    F scaled = p.bitcastToFloat(p.addInt(p.bitcastToInt(q), p.shl(p.bitcastToInt(shifted), 23)));
    F infinity = p.constant(std::numeric_limits<double>::infinity());
    F upper = p.select(p.le(x, p.constant(0x1.62e42ep6)), scaled, p.add(x, infinity)); // also NaN
    return p.select(p.lt(x, p.constant(-0x1.5d589ep6)), p.constant(0.0), upper);
  }
}

// Natural logarithm. At most 0.95 ulp for normal positive x; log(0) = -inf, log(+inf) = +inf; negative or NaN: NaN.
// x = 2^e m, m in [sqrt(1/2), sqrt(2)), f = m - 1: log x = e ln 2 + f + f^2 (-1/2 + f P(f)). The large terms e * hi
// (exact: hi has 15 bits) and f are added with their rounding error.
template <class P> typename P::F logOf(P &p, typename P::F x) {
  if constexpr (P::kLibm) {
    return p.libmLog(x);
  } else {
    using F = typename P::F;
    using I = typename P::I;
    I sqrtHalf = p.constantInt(0x3f3504f3u);
    I biased = p.addInt(p.bitcastToInt(x), p.constantInt(0x3f800000u - 0x3f3504f3u));
    F e = p.sub(p.toFloat(p.lshr(biased, 23)), p.constant(127.0));
    F m = p.bitcastToFloat(p.addInt(p.andInt(biased, p.constantInt(0x007fffffu)), sqrtHalf));
    F f = p.sub(m, p.constant(1.0));
    F q = p.constant(-0x1.38b59p-4);
    q = p.fma(q, f, p.constant(0x1.055b6cp-3));
    q = p.fma(q, f, p.constant(-0x1.0d854p-3));
    q = p.fma(q, f, p.constant(0x1.22da1cp-3));
    q = p.fma(q, f, p.constant(-0x1.547244p-3));
    q = p.fma(q, f, p.constant(0x1.99a008p-3));
    q = p.fma(q, f, p.constant(-0x1.000226p-2));
    q = p.fma(q, f, p.constant(0x1.555554p-2));
    q = p.fma(q, f, p.constant(-0.5));
    F large = p.mul(e, p.constant(0x1.62e4p-1));
    F sum = p.add(large, f);
    F rest = p.sub(f, p.sub(sum, large));
    F small = p.fma(e, p.constant(0x1.7f7d1cp-20), p.mul(p.mul(f, f), q));
    F result = p.add(sum, p.add(rest, small));
    F infinity = p.constant(std::numeric_limits<double>::infinity());
    F zero = p.constant(0.0);
    result = p.select(p.lt(x, infinity), result, x); // +inf and NaN
    result = p.select(p.lt(x, zero), p.constant(std::numeric_limits<double>::quiet_NaN()), result);
    return p.select(p.eq(x, zero), p.neg(infinity), result);
  }
}

// cos(2 pi u) for u in [0, 1). Absolute error at most 2^-24.
// k = round(4 u), d = u - k / 4 in [-1/8, 1/8] (exact); even k: 1 + z P(z), odd k: sin(2 pi d), z = d^2; sign by k.
template <class P> typename P::F cos2PiOf(P &p, typename P::F u) {
  if constexpr (P::kLibm) {
    return p.libmCos2Pi(u);
  } else {
    using F = typename P::F;
    using I = typename P::I;
    F magic = p.constant(0x1.8p23);
    F shifted = p.fma(u, p.constant(4.0), magic);
    I k = p.bitcastToInt(shifted);
    F d = p.fma(p.sub(shifted, magic), p.constant(-0.25), u);
    F z = p.mul(d, d);
    F c = p.constant(0x1.d9f7bcp5);
    c = p.fma(c, z, p.constant(-0x1.55c664p6));
    c = p.fma(c, z, p.constant(0x1.03c1dep6));
    c = p.fma(c, z, p.constant(-0x1.3bd3ccp4));
    c = p.fma(c, z, p.constant(1.0));
    F s = p.constant(0x1.4b9ebep5);
    s = p.fma(s, z, p.constant(-0x1.32c9fcp6));
    s = p.fma(s, z, p.constant(0x1.466bbap6));
    s = p.fma(s, z, p.constant(-0x1.4abbcep5));
    F twoPi = p.constant(0x1.921fb6p2);
    F head = p.mul(d, twoPi);
    F tail = p.fma(d, p.constant(-0x1.777a5cp-23), p.fma(d, twoPi, p.neg(head)));
    s = p.add(head, p.fma(p.mul(d, z), s, tail));
    F value = p.select(p.ult(p.andInt(k, p.constantInt(1)), p.constantInt(1)), c, s);
    // k = 1 and 2 (mod 4) are negative.
    I sign = p.shl(p.andInt(p.addInt(k, p.constantInt(1)), p.constantInt(2)), 30);
    return p.bitcastToFloat(p.xorInt(p.bitcastToInt(value), sign));
  }
}

template <class P> typename P::F sigmoidOf(P &p, typename P::F z) {
  typename P::F one = p.constant(1.0);
  return p.div(one, p.add(one, expOf(p, p.neg(z))));
}

//===- Randomness -----------------------------------------------------------------------------------------------===//

// (lo, hi) + offset, a 64-bit counter in two words.
template <class P> Words<P> offsetCounter(P &p, Words<P> counter, typename P::I offset) {
  typename P::I lo = p.addInt(counter.w0, offset);
  typename P::I carried = p.addInt(counter.w1, p.constantInt(1));
  return {lo, p.selectInt(p.ult(lo, offset), carried, counter.w1)};
}

// The key of one dropout op in one step: seed and step as (lo, hi) words.
template <class P> Words<P> dropoutKey(P &p, Words<P> seed, typename P::I dropoutId, typename P::I stepLo) {
  return threefry2x32(p, seed, Words<P>{dropoutId, stepLo});
}

// The key of one parameter's initial values.
template <class P> Words<P> initKey(P &p, Words<P> seed, typename P::I nameHash) {
  return threefry2x32(p, seed, Words<P>{nameHash, p.constantInt(0x696e6974u)});
}

// Whether a word of a draw keeps its element; threshold = dropoutThreshold(probability).
template <class P> typename P::B wordKeeps(P &p, typename P::I word, typename P::I threshold) {
  return p.notB(p.ult(word, threshold));
}

template <class P> typename P::B dropoutKeep(P &p, Words<P> key, Words<P> element, typename P::I threshold) {
  return wordKeeps(p, threefry2x32(p, key, element).w0, threshold);
}

// Of attention's weights, keys j and j + kKeysOfWord (bit 4 of j clear) of a row have the two words of one draw, with
// the counter row number * attentionDrawStride(T) + j: different rows share none, whatever T is.
constexpr int64_t kKeysOfWord = 16, kKeysOfDraw = 2 * kKeysOfWord;
inline int64_t attentionDrawStride(int64_t positions) {
  return (positions + kKeysOfDraw - 1) / kKeysOfDraw * kKeysOfDraw;
}

// A draw is kept when its word is at least this.
inline uint32_t dropoutThreshold(double probability) {
  double scaled = probability * 4294967296.0 + 0.5;
  return scaled >= 4294967295.0 ? 4294967295u : uint32_t(scaled);
}

// 1 / (1 - p), to be rounded once by P::constant.
inline double dropoutScale(double probability) { return 1.0 / (1.0 - probability); }

template <class P> typename P::F applyDropout(P &p, typename P::B keep, typename P::F x, typename P::F keepScale) {
  return p.select(keep, p.mul(x, keepScale), p.constant(0.0));
}

// A draw from N(0, stddev) (Box and Muller); an f32 policy in both modes of the interpreter.
template <class P> typename P::F normalOf(P &p, Words<P> words, typename P::F stddev) {
  using F = typename P::F;
  F unit = p.constant(0x1p-24);
  F u1 = p.mul(p.toFloat(p.addInt(p.lshr(words.w0, 8), p.constantInt(1))), unit);
  F u2 = p.mul(p.toFloat(p.lshr(words.w1, 8)), unit);
  F radius = p.sqrt(p.mul(p.constant(-2.0), logOf(p, u1)));
  return p.mul(p.mul(radius, cos2PiOf(p, u2)), stddev);
}

//===- Activations ----------------------------------------------------------------------------------------------===//

// sigmoid(z) of gelu, z = (x K)(1 + 0.044715 x^2) = 2 sqrt(2 / pi) (x + 0.044715 x^3).
template <class P> typename P::F geluGate(P &p, typename P::F x, typename P::F x2) {
  typename P::F k = p.constant(1.5957691216057308);
  return sigmoidOf(p, p.mul(p.mul(x, k), p.fma(x2, p.constant(0.044715), p.constant(1.0))));
}

template <class P> typename P::F geluOf(P &p, typename P::F x) { return p.mul(x, geluGate(p, x, p.mul(x, x))); }

template <class P> typename P::F geluGradOf(P &p, typename P::F dy, typename P::F x) {
  using F = typename P::F;
  F one = p.constant(1.0);
  F x2 = p.mul(x, x);
  F g = geluGate(p, x, x2);
  F z1 = p.mul(p.constant(1.5957691216057308), p.fma(x2, p.constant(0.134145), one));
  return p.mul(dy, p.fma(p.mul(p.mul(x, g), p.sub(one, g)), z1, g));
}

template <class P> typename P::F swigluOf(P &p, typename P::F gate, typename P::F up) {
  return p.mul(p.mul(gate, sigmoidOf(p, gate)), up);
}

template <class P> struct SwigluGradients {
  typename P::F dgate, dup;
};

template <class P> SwigluGradients<P> swigluGradOf(P &p, typename P::F dy, typename P::F gate, typename P::F up) {
  using F = typename P::F;
  F one = p.constant(1.0);
  F g = sigmoidOf(p, gate);
  F dup = p.mul(dy, p.mul(gate, g));
  F dgate = p.mul(p.mul(p.mul(dy, up), g), p.fma(gate, p.sub(one, g), one));
  return {dgate, dup};
}

//===- Norms; the row sums are the caller's ---------------------------------------------------------------------===//

// 1 / sqrt(sumOfSquares / C + eps)
template <class P>
typename P::F reciprocalStd(P &p, typename P::F sumOfSquares, typename P::F channels, typename P::F eps) {
  return p.div(p.constant(1.0), p.sqrt(p.add(p.div(sumOfSquares, channels), eps)));
}

// centered = x - mean
template <class P>
typename P::F layerNormOutput(P &p, typename P::F centered, typename P::F rstd, typename P::F gain,
                              typename P::F bias) {
  return p.fma(p.mul(centered, rstd), gain, bias);
}

template <class P> typename P::F normXhat(P &p, typename P::F x, typename P::F mean, typename P::F rstd) {
  return p.mul(p.sub(x, mean), rstd);
}

// h = dy * gain; c1 = rowsum(h) / C; c2 = rowdot(h, xhat) / C
template <class P>
typename P::F layerNormDx(P &p, typename P::F h, typename P::F xhat, typename P::F c1, typename P::F c2,
                          typename P::F rstd) {
  return p.mul(rstd, p.fma(p.neg(xhat), c2, p.sub(h, c1)));
}

template <class P> typename P::F rmsNormXhat(P &p, typename P::F x, typename P::F rstd) { return p.mul(x, rstd); }

template <class P> typename P::F rmsNormOutput(P &p, typename P::F x, typename P::F rstd, typename P::F gain) {
  return p.mul(p.mul(x, rstd), gain);
}

template <class P>
typename P::F rmsNormDx(P &p, typename P::F h, typename P::F xhat, typename P::F c2, typename P::F rstd) {
  return p.mul(rstd, p.fma(p.neg(xhat), c2, h));
}

//===- Rope; a = x[i], b = x[i + E/2] ---------------------------------------------------------------------------===//

template <class P> struct RopePair {
  typename P::F first, second;
};

template <class P>
RopePair<P> ropeForward(P &p, typename P::F a, typename P::F b, typename P::F cosine, typename P::F sine) {
  return {p.fma(a, cosine, p.neg(p.mul(b, sine))), p.fma(b, cosine, p.mul(a, sine))};
}

template <class P>
RopePair<P> ropeInverse(P &p, typename P::F a, typename P::F b, typename P::F cosine, typename P::F sine) {
  return {p.fma(a, cosine, p.mul(b, sine)), p.fma(b, cosine, p.neg(p.mul(a, sine)))};
}

//===- Attention and loss ---------------------------------------------------------------------------------------===//

// exp(score - rowMax): a term of the row sum.
template <class P> typename P::F softmaxTerm(P &p, typename P::F score, typename P::F rowMax) {
  return expOf(p, p.sub(score, rowMax));
}

// reciprocal = 1 / rowSum
template <class P>
typename P::F attentionGradProbability(P &p, typename P::F score, typename P::F rowMax, typename P::F reciprocal) {
  return p.mul(softmaxTerm(p, score, rowMax), reciprocal);
}

template <class P>
typename P::F attentionGradScore(P &p, typename P::F probability, typename P::F u, typename P::F delta) {
  return p.mul(probability, p.sub(u, delta));
}

template <class P> struct MaxSum {
  typename P::F max, sum;
};

// Merges (max, sum of exp(x - max)) of two vocabulary ranges. An empty range is (-inf, +0.0): only its sum is 0.
template <class P> MaxSum<P> mergeMaxSum(P &p, MaxSum<P> a, MaxSum<P> b) {
  using F = typename P::F;
  F zero = p.constant(0.0);
  F max = maxOf(p, a.max, b.max);
  F sum = p.fma(a.sum, expOf(p, p.sub(a.max, max)), p.mul(b.sum, expOf(p, p.sub(b.max, max))));
  typename P::B aEmpty = p.eq(a.sum, zero), bEmpty = p.eq(b.sum, zero);
  return {p.select(bEmpty, a.max, p.select(aEmpty, b.max, max)), p.select(bEmpty, a.sum, p.select(aEmpty, b.sum, sum))};
}

template <class P> typename P::F tokenLoss(P &p, MaxSum<P> row, typename P::F labelLogit) {
  return p.sub(p.add(row.max, logOf(p, row.sum)), labelLogit);
}

// reciprocal = 1 / row.sum
template <class P>
typename P::F logitGradient(P &p, typename P::F logit, typename P::F rowMax, typename P::F reciprocal,
                            typename P::B isLabel) {
  typename P::F y = p.mul(softmaxTerm(p, logit, rowMax), reciprocal);
  return p.select(isLabel, p.sub(y, p.constant(1.0)), y);
}

//===- Update ---------------------------------------------------------------------------------------------------===//

// All rounded to f32 once from fp64 in f32 policies.
template <class P> struct AdamwScalars {
  typename P::F gradScale, learningRate;
  typename P::F inverse1, inverse2;         // 1 / bias correction
  typename P::F beta1, beta2, rest1, rest2; // rest = 1 - beta
  typename P::F eps, decay;
  bool hasDecay; // decay != 0
};

template <class P> struct AdamwResults {
  typename P::F parameter, m, v;
};

// Without the selection by skip_update, which is one for a whole tensor.
template <class P>
AdamwResults<P> adamwOf(P &p, const AdamwScalars<P> &s, typename P::F parameter, typename P::F m, typename P::F v,
                        typename P::F gradient) {
  using F = typename P::F;
  F g = p.mul(gradient, s.gradScale);
  F mNew = p.fma(s.beta1, m, p.mul(s.rest1, g));
  F vNew = p.fma(s.beta2, v, p.mul(p.mul(s.rest2, g), g));
  F denominator = p.add(p.sqrt(p.mul(vNew, s.inverse2)), s.eps);
  F u = p.div(p.mul(mNew, s.inverse1), denominator);
  if (s.hasDecay)
    u = p.fma(s.decay, parameter, u);
  return {p.fma(p.neg(s.learningRate), u, parameter), mNew, vNew};
}

// The reproducible sum of squares, on fp64 policies. M^2 is the largest square, with exponent field e = bits(M^2) >>
// 52; bin k adds what the bins before it left, rounded to its unit by constants[k], whose bits are binConstantBits(e,
// k).
inline constexpr int kNormBins = 3;

inline uint64_t binConstantBits(uint64_t exponentField, int bin) {
  return ((exponentField + 53 - 20 * uint64_t(bin + 1)) << 52) | (uint64_t(1) << 51);
}

template <class P>
void addToBins(P &p, typename P::F square, const typename P::F (&constants)[kNormBins],
               typename P::F (&bins)[kNormBins]) {
  for (int k = 0; k < kNormBins; ++k) {
    typename P::F q = p.sub(p.add(square, constants[k]), constants[k]);
    bins[k] = p.add(bins[k], q);
    square = p.sub(square, q);
  }
}

// Parts of lhs and of rhs (h, m, l: 0, 1, 2), in the order in which their products are added.
inline constexpr std::array<std::array<int, 2>, 6> kSplitProducts = {{{0, 2}, {0, 1}, {1, 1}, {1, 0}, {2, 0}, {0, 0}}};

// What a token's loss adds to the loss of an evaluation, on fp64 policies: its nearest multiple of 2^-24. Sums of those
// below 2^29 are exact, hence the same in any order.
template <class P> typename P::F evalTerm(P &p, typename P::F loss) {
  typename P::F unit = p.constant(0x1.8p28);
  return p.sub(p.add(loss, unit), unit);
}

// The prologue, on fp64 policies, which also have: F roundEven(F), F pow(F, F), F cos(F).
template <class P> struct ScheduleInputs {
  typename P::F step;                                                                    // updates done
  typename P::F learningRate, minLrRatio, scheduler, warmupSteps, warmupRatio, maxSteps; // the slots of RunValues.h
  typename P::F beta1, beta2;
};

template <class P> struct ScheduleResults {
  typename P::F learningRate, biasCorrection1, biasCorrection2;
};

template <class P> ScheduleResults<P> scheduleOf(P &p, const ScheduleInputs<P> &in) {
  using F = typename P::F;
  F one = p.constant(1.0), zero = p.constant(0.0);
  F done = p.add(in.step, one);
  F warmup = p.select(p.lt(in.warmupSteps, zero), p.roundEven(p.mul(in.warmupRatio, in.maxSteps)), in.warmupSteps);
  F rising = p.div(p.mul(in.learningRate, done), warmup);
  F share = p.div(p.sub(done, warmup), p.sub(in.maxSteps, warmup));
  share = p.select(p.gt(in.maxSteps, warmup), p.select(p.lt(share, one), share, one), one);
  F floor = p.mul(in.minLrRatio, in.learningRate);
  F span = p.sub(in.learningRate, floor);
  F linear = p.add(floor, p.mul(span, p.sub(one, share)));
  F wave = p.add(one, p.cos(p.mul(p.constant(3.141592653589793), share)));
  F cosine = p.add(floor, p.mul(p.mul(span, p.constant(0.5)), wave));
  F falling = p.select(p.eq(in.scheduler, zero), in.learningRate, p.select(p.eq(in.scheduler, one), linear, cosine));
  return {p.select(p.lt(in.step, warmup), rising, falling), p.sub(one, p.pow(in.beta1, done)),
          p.sub(one, p.pow(in.beta2, done))};
}

} // namespace recipe::train
#endif
