// f32 products as six products of bf16 parts: what the parts are, and how far a sum of such products is from the exact
// one, beside the chain of fmas.
#include "dialects/train/SplitProducts.h"
#include "dialects/train/Policies.h"
#include <gtest/gtest.h>
#include <random>

using namespace recipe::train;

namespace {

using Three = std::array<float, 3>;

float floatOf(uint32_t bits) { return ExactPolicy::bitcastToFloat(bits); }
uint32_t bitsOf(float x) { return ExactPolicy::bitcastToInt(x); }

Three partsOf(float x) {
  volatile float from = x, parts[3]; // keep the operations between the changes of MXCSR
  {
    FlushDenormals flush;
    ExactPolicy p;
    Three three = bf16PartsOf(p, float(from));
    for (size_t i = 0; i < 3; ++i)
      parts[i] = three[i];
  }
  return {parts[0], parts[1], parts[2]};
}

// Without bits: as multiples of the last of 8 significant bits.
float roundedAway(float x) {
  int exponent;
  std::frexp(x, &exponent);
  return x == 0 ? x : float(std::ldexp(std::round(std::ldexp(double(x), 8 - exponent)), exponent - 8));
}

class SplitParts : public testing::Test {
protected:
  std::mt19937_64 random{7};
};

TEST_F(SplitParts, AreWhatRoundingGivesAndMakeUpTheValue) {
  for (int round = 0; round < 3000000; ++round) {
    float x = floatOf((uint32_t(random()) & 0x807fffff) | uint32_t(24 + random() % 230) << 23); // 2^-103 <= |x| < 2^127
    if (round % 3 == 0)
      x = floatOf((bitsOf(x) & 0xffff0000) + uint32_t(0x8000 - 2 + random() % 5)); // ties and their neighbours
    auto [h, m, l] = partsOf(x);
    ASSERT_EQ(bitsOf(h), bitsOf(roundedAway(x))) << std::hexfloat << x;
    ASSERT_EQ(m, roundedAway(x - h)) << std::hexfloat << x;
    ASSERT_EQ(double(h) + double(m) + double(l), double(x)) << std::hexfloat << x;
    for (float part : {h, m, l})
      ASSERT_EQ(bitsOf(part) & 0xffff, 0u) << std::hexfloat << x;
    float unit = std::ldexp(1.0f, std::ilogb(x));
    ASSERT_LE(std::abs(m), 0x1p-8f * unit) << std::hexfloat << x;
    ASSERT_LE(std::abs(l), 0x1p-17f * unit) << std::hexfloat << x;
  }
}

TEST_F(SplitParts, ThatAreNotNormalAreLost) {
  auto [h, m, l] = partsOf(0x1p-110f * (1 + 0x1p-7f + 0x1p-12f + 0x1p-23f));
  EXPECT_EQ(h, 0x1p-110f * (1 + 0x1p-7f));
  EXPECT_EQ(m, 0x1p-122f);
  EXPECT_EQ(l, 0);
  EXPECT_EQ(partsOf(0x1p-103f * (1 + 0x1p-7f + 0x1p-12f + 0x1p-23f))[2], 0x1p-126f);
  EXPECT_EQ(partsOf(0x1p-126f * (1 + 0x1p-7f + 0x1p-12f))[1], 0);
  for (int round = 0; round < 100000; ++round) {
    float x = floatOf((uint32_t(random()) & 0x807fffff) | uint32_t(1 + random() % 24) << 23);
    auto [h, m, l] = partsOf(x);
    ASSERT_LT(std::abs(double(h) + double(m) + double(l) - double(x)), 0x1p-126) << std::hexfloat << x;
  }
}

TEST_F(SplitParts, OfZerosAreZeros) {
  EXPECT_EQ(bitsOf(partsOf(0.0f)[0]), 0u);
  EXPECT_EQ(bitsOf(partsOf(-0.0f)[0]), 0x80000000u);
  for (float zero : {0.0f, -0.0f})
    for (int part : {1, 2})
      EXPECT_EQ(bitsOf(partsOf(zero)[part]), 0u);
}

TEST_F(SplitParts, OfTheLargestValues) {
  float largest = floatOf(0x7f7fffff), fits = floatOf(0x7f7f7fff);
  auto [h, m, l] = partsOf(fits);
  EXPECT_EQ(double(h) + double(m) + double(l), double(fits));
  for (float x : {largest, floatOf(0x7f7f8000), floatOf(0x7f800000)}) {
    Three parts = partsOf(x), negative = partsOf(-x);
    EXPECT_EQ(parts[0], HUGE_VALF);
    EXPECT_EQ(negative[0], -HUGE_VALF);
    EXPECT_TRUE(std::isnan(parts[2]) && std::isnan(negative[2]));
  }
}

TEST_F(SplitParts, OfANaNHaveOne) {
  for (uint32_t payload = 1; payload < 0x800000; payload += 1 + payload % 7)
    for (uint32_t sign : {0u, 0x80000000u}) {
      Three parts = partsOf(floatOf(sign | 0x7f800000 | payload));
      ASSERT_TRUE(std::isnan(parts[0]) || std::isnan(parts[1]) || std::isnan(parts[2])) << std::hex << payload;
    }
  EXPECT_TRUE(std::isnan(partsOf(floatOf(0x7fffffff))[2]));
}

// A product of one term is the three parts of one side times those of the other but for m l, l m and l l.
TEST_F(SplitParts, LeaveOutAtMostAnUlpsHalfOfAProduct) {
  double most = 0;
  for (int round = 0; round < 3000000; ++round) {
    float x = floatOf((uint32_t(random()) & 0x007fffff) | 0x3f800000),
          y = floatOf((uint32_t(random()) & 0x007fffff) | 0x3f800000);
    if (round % 2) { // where the middle parts are largest beside the value
      x = 1 + float(0x7f00 + random() % 0x100) * 0x1p-23f;
      y = 1 + float(0x7f00 + random() % 0x100) * 0x1p-23f;
    }
    auto [xh, xm, xl] = partsOf(x);
    auto [yh, ym, yl] = partsOf(y);
    double left = double(xm) * yl + double(xl) * ym + double(xl) * yl;
    most = std::max(most, std::abs(left) / (double(x) * y));
  }
  EXPECT_LE(most, 0x1p-24);
  EXPECT_GE(most, 0.98 * 0x1p-24);
}

// Sums of products in both ways: errors relative to the sum of magnitudes, in units of 2^-24.
struct Errors {
  double largest = 0, squares = 0;
  int64_t count = 0;
  void add(double value, double exact, double magnitude) {
    double error = std::abs(value - exact) / magnitude * 0x1p24;
    largest = std::max(largest, error), squares += error * error, ++count;
  }
  double root() const { return std::sqrt(squares / double(count)); }
};

struct Sums {
  const char *name;
  int exponents;  // of factors: 2^-exponents .. 2^exponents
  bool cancelled; // the second half of the terms is the first, negated, up to a few of the last bits
};

class SplitAccuracy : public testing::TestWithParam<Sums> {};

TEST_P(SplitAccuracy, IsThatOfFmasOrBetter) {
  constexpr int64_t m = 8, n = 8;
  std::mt19937_64 random{11};
  auto draw = [&] {
    int exponent = int(random() % uint64_t(2 * GetParam().exponents + 1)) - GetParam().exponents;
    float mantissa = floatOf((uint32_t(random()) & 0x807fffff) | 0x3f800000);
    return std::ldexp(mantissa, exponent);
  };
  for (int64_t k : {1, 7, 64, 768, 4096}) {
    Errors six, fma;
    for (int round = 0; round < int(1 + 4096 / k); ++round) {
      std::vector<float> lhs(size_t(m * k)), rhs(size_t(k * n)), sixSums(m * n), fmaSums(m * n);
      for (float &x : lhs)
        x = draw();
      for (float &x : rhs)
        x = draw();
      if (GetParam().cancelled)
        for (int64_t i = k / 2; i < k / 2 * 2; ++i) {
          for (int64_t row = 0; row < m; ++row)
            lhs[size_t(row * k + i)] = -floatOf(bitsOf(lhs[size_t(row * k + i - k / 2)]) + uint32_t(random() % 8));
          std::copy_n(&rhs[size_t((i - k / 2) * n)], n, &rhs[size_t(i * n)]);
        }
      {
        FlushDenormals flush;
        ExactPolicy p;
        continueSplitProduct(p, {}, m, n, 0, k, lhs.data(), k, 1, rhs.data(), sixSums.data());
        continueProduct(p, m, n, 0, k, lhs.data(), k, 1, rhs.data(), fmaSums.data());
      }
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) {
          long double exact = 0, magnitude = 0;
          for (int64_t t = 0; t < k; ++t) {
            long double term = (long double)lhs[size_t(i * k + t)] * rhs[size_t(t * n + j)];
            exact += term, magnitude += std::abs(term);
          }
          six.add(sixSums[size_t(i * n + j)], double(exact), double(magnitude));
          fma.add(fmaSums[size_t(i * n + j)], double(exact), double(magnitude));
        }
    }
    SCOPED_TRACE("k " + std::to_string(k) + ": " + std::to_string(six.root()) + ", largest " +
                 std::to_string(six.largest) + "; fma " + std::to_string(fma.root()) + ", " +
                 std::to_string(fma.largest));
    // One product is off by what is left out and by the rounding of five sums; more products than a few by less.
    EXPECT_LE(six.root(), (k < 64 ? 1.08 : 0.86) * fma.root());
    EXPECT_LE(six.largest, (k < 64 ? 1.6 : 1.0) * fma.largest);
    // Where terms are of one size the sum is rounded 6 times in 32 terms, not 32.
    if (GetParam().exponents == 0 && k >= 64) {
      EXPECT_LE(six.root(), 0.5 * fma.root());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Terms, SplitAccuracy,
                         testing::Values(Sums{"OfOneSize", 0, false}, Sums{"OfManySizes", 20, false},
                                         Sums{"OfSomeSizes", 4, false}, Sums{"CancelledOfOneSize", 0, true},
                                         Sums{"CancelledOfManySizes", 20, true}),
                         [](const auto &info) { return info.param.name; });

} // namespace
