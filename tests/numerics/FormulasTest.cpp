// The f32 functions of Formulas.h against libm in higher precision, and the generator against published vectors.
#include "dialects/train/Formulas.h"
#include "dialects/train/Policies.h"
#include <gtest/gtest.h>
#include <random>

using namespace recipe::train;

namespace {

float floatOf(uint32_t bits) { return ExactPolicy::bitcastToFloat(bits); }
uint32_t bitsOf(float x) { return ExactPolicy::bitcastToInt(x); }

// |y - exact| in units of the last place that an f32 of the size of `exact` has.
double ulps(double y, double exact) {
  int exponent;
  std::frexp(exact, &exponent);
  return std::fabs(y - exact) / std::ldexp(1.0, std::max(exponent, -125) - 24);
}

// Every exponent of both signs: the ends, and `perExponent` random mantissas.
template <class Visit> void forNormalFloats(int perExponent, Visit visit) {
  std::mt19937 random(7);
  for (uint32_t exponent = 1; exponent < 255; ++exponent)
    for (uint32_t sign : {0u, 1u}) {
      uint32_t base = sign << 31 | exponent << 23;
      visit(floatOf(base));
      visit(floatOf(base | 0x7fffff));
      for (int i = 0; i < perExponent; ++i)
        visit(floatOf(base | (random() & 0x7fffff)));
    }
}

class Formulas : public testing::Test {
protected:
  ExactPolicy p;
  FlushDenormals flush;
};

TEST_F(Formulas, bf16RoundsToNearestEven) {
  auto rounded = [&](uint32_t bits) { return bitsOf(roundToBF16(p, floatOf(bits))); };
  EXPECT_EQ(rounded(0x3f800000), 0x3f800000u);
  EXPECT_EQ(rounded(0x3f807fff), 0x3f800000u);
  EXPECT_EQ(rounded(0x3f808000), 0x3f800000u); // ties
  EXPECT_EQ(rounded(0x3f818000), 0x3f820000u);
  EXPECT_EQ(rounded(0x3f808001), 0x3f810000u);
  EXPECT_EQ(rounded(0xbfffffff), 0xc0000000u); // into the exponent
  EXPECT_EQ(rounded(0x7f7f7fff), 0x7f7f0000u);
  EXPECT_EQ(rounded(0x7f7f8000), 0x7f800000u); // overflow
  EXPECT_EQ(rounded(0xff7fffff), 0xff800000u);
  EXPECT_EQ(rounded(0xff800000), 0xff800000u);
  EXPECT_EQ(rounded(0x7f800001), 0x7fc00000u); // NaN whose upper half is infinity
  EXPECT_EQ(rounded(0xffffffff), 0xffff0000u);
  EXPECT_EQ(rounded(0x80000000), 0x80000000u);
  EXPECT_EQ(rounded(0x007fffff), 0u); // denormals
  EXPECT_EQ(rounded(0x807fffff), 0x80000000u);
  EXPECT_EQ(rounded(0x00800000), 0x00800000u);
  Fp64Policy exact;
  EXPECT_EQ(roundToBF16(exact, 0.1), 0.1);
}

void checkExp(float x) {
  ExactPolicy p;
  float y = expOf(p, x);
  double exact = std::exp(double(x));
  if (exact < 0x1p-126)
    ASSERT_EQ(bitsOf(y), 0u) << x;
  else if (x > 0x1.62e42ep6f)
    ASSERT_EQ(y, INFINITY) << x;
  else
    ASSERT_LE(ulps(y, exact), 0.9) << x;
}

TEST_F(Formulas, expOverTheWholeRange) {
  forNormalFloats(4200, checkExp); // more than 2^21 samples
  std::mt19937 random(1);
  for (int i = 0; i < 1 << 21; ++i) // and where the result varies
    checkExp(-88.0f + 177.0f * float(random() >> 8) * 0x1p-24f);
}

TEST_F(Formulas, expAtItsEdges) {
  EXPECT_EQ(expOf(p, 0.0f), 1.0f);
  EXPECT_EQ(expOf(p, -0.0f), 1.0f);
  EXPECT_EQ(expOf(p, floatOf(1)), 1.0f); // a denormal is zero
  EXPECT_EQ(expOf(p, INFINITY), INFINITY);
  EXPECT_EQ(bitsOf(expOf(p, -INFINITY)), 0u);
  EXPECT_TRUE(std::isnan(expOf(p, NAN)));
  EXPECT_TRUE(std::isnan(expOf(p, -NAN)));
  float largest = floatOf(bitsOf(0x1.62e42ep6f)), smallest = -0x1.5d589ep6f;
  EXPECT_TRUE(std::isfinite(expOf(p, largest)));
  EXPECT_EQ(expOf(p, floatOf(bitsOf(largest) + 1)), INFINITY);
  EXPECT_GE(expOf(p, smallest), 0x1p-126f);
  EXPECT_EQ(bitsOf(expOf(p, floatOf(bitsOf(smallest) + 1))), 0u);
}

TEST_F(Formulas, logOverTheWholeRange) {
  auto check = [&](float x) {
    x = std::fabs(x);
    double exact = std::log(double(x));
    float y = logOf(p, x);
    if (x == 1.0f)
      ASSERT_EQ(y, 0.0f);
    else
      ASSERT_LE(ulps(y, exact), 0.95) << x;
  };
  forNormalFloats(2100, check); // both signs: more than 2^20 samples
  std::mt19937 random(2);
  for (int i = 0; i < 1 << 20; ++i)
    check(0.5f + 1.5f * float(random() >> 8) * 0x1p-24f);
}

TEST_F(Formulas, logAtItsEdges) {
  EXPECT_EQ(bitsOf(logOf(p, 1.0f)), 0u);
  EXPECT_EQ(logOf(p, 0.0f), -INFINITY);
  EXPECT_EQ(logOf(p, -0.0f), -INFINITY);
  EXPECT_EQ(logOf(p, INFINITY), INFINITY);
  EXPECT_TRUE(std::isnan(logOf(p, -1.0f)));
  EXPECT_TRUE(std::isnan(logOf(p, -INFINITY)));
  EXPECT_TRUE(std::isnan(logOf(p, NAN)));
  volatile uint32_t denormal = 5; // hides the value from the compiler, which does not know of DAZ
  EXPECT_EQ(logOf(p, floatOf(denormal)), -INFINITY);
}

TEST_F(Formulas, cos2PiOverTheWholeRange) {
  double twoPi = 6.283185307179586;
  for (uint32_t i = 0; i < 1u << 24; i += 3) { // the draws of normalOf are multiples of 2^-24
    float u = float(i) * 0x1p-24f;
    ASSERT_LE(std::fabs(cos2PiOf(p, u) - std::cos(twoPi * u)), 0x1p-24) << u;
  }
  forNormalFloats(2100, [&](float x) {
    if (x >= 0 && x < 1)
      ASSERT_LE(std::fabs(cos2PiOf(p, x) - std::cos(twoPi * x)), 0x1p-24) << x;
  });
  EXPECT_EQ(cos2PiOf(p, 0.0f), 1.0f);
  EXPECT_EQ(cos2PiOf(p, 0.5f), -1.0f);
  EXPECT_EQ(cos2PiOf(p, 0.25f), 0.0f);
}

TEST_F(Formulas, sigmoidStaysInsideItsLimits) {
  forNormalFloats(200, [&](float z) {
    float y = sigmoidOf(p, z);
    double exact = 1 / (1 + std::exp(-double(z)));
    ASSERT_LE(std::fabs(y - exact), 0x1p-23 * exact + 0x1p-126) << z;
    ASSERT_TRUE(y >= 0 && y <= 1) << z;
  });
}

// Known answers of Random123 (kat_vectors, threefry2x32 with 20 rounds).
TEST_F(Formulas, threefryMatchesPublishedVectors) {
  auto draw = [&](uint32_t k0, uint32_t k1, uint32_t c0, uint32_t c1) {
    Words<ExactPolicy> words = threefry2x32(p, Words<ExactPolicy>{k0, k1}, Words<ExactPolicy>{c0, c1});
    return std::pair<uint32_t, uint32_t>(words.w0, words.w1);
  };
  using Pair = std::pair<uint32_t, uint32_t>;
  EXPECT_EQ(draw(0, 0, 0, 0), Pair(0x6b200159u, 0x99ba4efeu));
  EXPECT_EQ(draw(~0u, ~0u, ~0u, ~0u), Pair(0x1cb996fcu, 0xbb002be7u));
  EXPECT_EQ(draw(0x13198a2eu, 0x03707344u, 0x243f6a88u, 0x85a308d3u), Pair(0xc4923a9cu, 0x483df7a0u));
}

TEST_F(Formulas, countersCarryIntoTheirHighWord) {
  Words<ExactPolicy> next = offsetCounter(p, Words<ExactPolicy>{0xfffffffeu, 7}, 3);
  EXPECT_EQ(next.w0, 1u);
  EXPECT_EQ(next.w1, 8u);
  next = offsetCounter(p, Words<ExactPolicy>{4, 7}, 3);
  EXPECT_EQ(next.w0, 7u);
  EXPECT_EQ(next.w1, 7u);
}

TEST_F(Formulas, normalDrawsHaveTheMomentsOfTheNormalDistribution) {
  Words<ExactPolicy> key = initKey(p, Words<ExactPolicy>{1, 0}, 99);
  double sum = 0, squares = 0, fourth = 0;
  uint32_t n = 1 << 18;
  for (uint32_t e = 0; e < n; ++e) {
    double x = normalOf(p, threefry2x32(p, key, Words<ExactPolicy>{e, 0}), 2.0f);
    ASSERT_TRUE(std::isfinite(x));
    sum += x;
    squares += x * x;
    fourth += x * x * x * x;
  }
  EXPECT_NEAR(sum / n, 0, 5 * 2.0 / std::sqrt(n)); // five standard deviations each
  EXPECT_NEAR(squares / n, 4, 5 * 4 * std::sqrt(2.0 / n));
  EXPECT_NEAR(fourth / n, 48, 5 * 16 * std::sqrt(96.0 / n));
}

TEST_F(Formulas, dropoutKeepsItsShare) {
  for (double probability : {0.0, 0.1, 0.5, 0.9}) {
    Words<ExactPolicy> key = dropoutKey(p, Words<ExactPolicy>{5, 6}, 7, 8);
    uint32_t n = 1 << 18, kept = 0;
    for (uint32_t e = 0; e < n; ++e)
      kept += dropoutKeep(p, key, Words<ExactPolicy>{e, 0}, dropoutThreshold(probability));
    EXPECT_NEAR(kept / double(n), 1 - probability, 5 * std::sqrt(probability * (1 - probability) / n)) << probability;
  }
}

// Rows are a multiple of 32 draws apart, and at least one for each key.
TEST_F(Formulas, rowsOfAttentionShareNoDraw) {
  for (int64_t positions : {1, 16, 31, 32, 33, 1000, 1024}) {
    int64_t stride = attentionDrawStride(positions);
    EXPECT_EQ(stride % 32, 0);
    EXPECT_GE(stride, positions);
    EXPECT_LT(stride, positions + 32);
  }
}

// Both words of a draw are used: each keeps its share, and they keep together as often as independent ones do, as do
// those of neighbouring draws.
TEST_F(Formulas, wordsOfADrawAreIndependent) {
  for (double probability : {0.1, 0.5, 0.9}) {
    Words<ExactPolicy> key = dropoutKey(p, Words<ExactPolicy>{5, 6}, 7, 8);
    uint32_t n = 1 << 18, threshold = dropoutThreshold(probability), first = 0, second = 0, both = 0, neighbours = 0;
    bool before = false;
    for (uint32_t counter = 0; counter < n; ++counter) {
      Words<ExactPolicy> words = threefry2x32(p, key, Words<ExactPolicy>{counter, 0});
      bool keeps0 = wordKeeps(p, words.w0, threshold), keeps1 = wordKeeps(p, words.w1, threshold);
      first += keeps0, second += keeps1, both += keeps0 && keeps1, neighbours += keeps0 && before;
      before = keeps1;
    }
    double q = 1 - probability;
    auto expectShare = [&](uint32_t count, double share) {
      EXPECT_NEAR(count / double(n), share, 5 * std::sqrt(share * (1 - share) / n)) << probability;
    };
    expectShare(first, q);
    expectShare(second, q);
    expectShare(both, q * q);
    expectShare(neighbours, q * q);
  }
}

// A word at the threshold is kept, and no probability below 1 drops all.
TEST_F(Formulas, wordsAreKeptFromTheThresholdOn) {
  EXPECT_TRUE(wordKeeps(p, 0u, dropoutThreshold(0)));
  EXPECT_TRUE(wordKeeps(p, 0x80000000u, dropoutThreshold(0.5)));
  EXPECT_FALSE(wordKeeps(p, 0x7fffffffu, dropoutThreshold(0.5)));
  EXPECT_TRUE(wordKeeps(p, 0xffffffffu, dropoutThreshold(1)));
}

TEST_F(Formulas, emptyRangesDoNotEnterTheLoss) {
  MaxSum<ExactPolicy> empty{-INFINITY, 0.0f}, range{-3.0f, 1.5f};
  for (MaxSum<ExactPolicy> merged : {mergeMaxSum(p, empty, range), mergeMaxSum(p, range, empty)}) {
    EXPECT_EQ(merged.max, -3.0f);
    EXPECT_EQ(merged.sum, 1.5f);
  }
  MaxSum<ExactPolicy> none = mergeMaxSum(p, empty, empty);
  EXPECT_EQ(none.max, -INFINITY);
  EXPECT_EQ(none.sum, 0.0f);
}

// Warm-up of 4 of 10 updates, then down to a tenth.
TEST(Schedule, reachesItsPeakAndItsFloor) {
  auto rate = [](double scheduler, double step, double steps = -1, double ratio = 0.4) {
    Fp64Policy p;
    return scheduleOf(p, ScheduleInputs<Fp64Policy>{step, 0.5, 0.1, scheduler, steps, ratio, 10, 0.9, 0.95})
        .learningRate;
  };
  for (double scheduler : {0.0, 1.0, 2.0}) {
    EXPECT_DOUBLE_EQ(rate(scheduler, 0), 0.125);
    EXPECT_DOUBLE_EQ(rate(scheduler, 3), 0.5);
    EXPECT_DOUBLE_EQ(rate(scheduler, 0, 0), scheduler == 0 ? 0.5 : rate(scheduler, 0, 0, -1));
  }
  EXPECT_DOUBLE_EQ(rate(0, 9), 0.5);
  EXPECT_DOUBLE_EQ(rate(1, 9), 0.05);
  EXPECT_DOUBLE_EQ(rate(2, 9), 0.05);
  EXPECT_DOUBLE_EQ(rate(1, 6), 0.05 + 0.45 * 0.5);
  EXPECT_DOUBLE_EQ(rate(2, 6), 0.05 + 0.45 * 0.5);
  EXPECT_DOUBLE_EQ(rate(2, 25), 0.05); // past the horizon
  EXPECT_DOUBLE_EQ(rate(1, 0, 0), 0.05 + 0.45 * 0.9);
}

TEST(Schedule, biasCorrectionsFollowTheBetas) {
  Fp64Policy p;
  auto values = scheduleOf(p, ScheduleInputs<Fp64Policy>{2, 0.5, 0.1, 2, 0, -1, 10, 0.9, 0.95});
  EXPECT_DOUBLE_EQ(values.biasCorrection1, 1 - 0.9 * 0.9 * 0.9);
  EXPECT_DOUBLE_EQ(values.biasCorrection2, 1 - 0.95 * 0.95 * 0.95);
}

} // namespace
