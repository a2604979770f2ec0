// The instructions that docs/numerics.md describes in the words of f32: vcvtneps2bf16 rounds as roundToBF16 does, and
// vdpbf16ps is two fused multiply-adds, the odd element first, without regard to MXCSR; tdpbf16ps adds a block of
// terms, six of them one of f32 terms.
#include "dialects/train/Formulas.h"
#include "dialects/train/Policies.h"
#include "dialects/train/SplitProducts.h"
#include <gtest/gtest.h>
#include <random>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

using namespace recipe::train;

namespace {

constexpr int kLanes = 16;

float floatOf(uint32_t bits) { return ExactPolicy::bitcastToFloat(bits); }
float widened(uint16_t half) { return floatOf(uint32_t(half) << 16); }
uint32_t bitsOf(float x) { return ExactPolicy::bitcastToInt(x); }
bool same(float a, float b) { return bitsOf(a) == bitsOf(b) || (std::isnan(a) && std::isnan(b)); }

class BF16 : public testing::Test {
protected:
  void SetUp() override {
    if (!__builtin_cpu_supports("avx512bf16"))
      GTEST_SKIP() << "this CPU has no AVX512-BF16";
  }

  std::mt19937_64 random{5};
  ExactPolicy p;
};

// Operands of one instruction.
struct Products {
  uint16_t a[2 * kLanes], b[2 * kLanes];
  float start[kLanes];
};

__attribute__((target("avx512f,avx512bf16"))) void accumulate(const Products &x, float *result) {
  __m512bh a = (__m512bh)_mm512_loadu_si512(x.a), b = (__m512bh)_mm512_loadu_si512(x.b);
  _mm512_storeu_ps(result, _mm512_dpbf16_ps(_mm512_loadu_ps(x.start), a, b));
}

__attribute__((target("avx512f,avx512bf16"))) void narrow(const float *x, uint16_t *result) {
  _mm256_storeu_si256(reinterpret_cast<__m256i *>(result), (__m256i)_mm512_cvtneps_pbh(_mm512_loadu_ps(x)));
}

// With the default MXCSR, which does not flush: the instruction does.
void expectTwoFmas(const Products &x) {
  float actual[kLanes];
  accumulate(x, actual);
  FlushDenormals flush;
  for (int i = 0; i < kLanes; ++i) {
    float sum = std::fma(widened(x.a[2 * i + 1]), widened(x.b[2 * i + 1]), x.start[i]);
    sum = std::fma(widened(x.a[2 * i]), widened(x.b[2 * i]), sum);
    ASSERT_TRUE(same(actual[i], sum)) << std::hexfloat << x.start[i] << " + " << widened(x.a[2 * i + 1]) << " * "
                                      << widened(x.b[2 * i + 1]) << " + " << widened(x.a[2 * i]) << " * "
                                      << widened(x.b[2 * i]) << " gives " << actual[i] << ", not " << sum;
  }
}

template <class Half, class Start> void fill(Products &x, Half half, Start start) {
  for (int i = 0; i < 2 * kLanes; ++i)
    x.a[i] = half(), x.b[i] = half();
  for (int i = 0; i < kLanes; ++i)
    x.start[i] = start(i);
}

TEST_F(BF16, DotIsTwoFmasOnAnyBits) {
  Products x;
  for (int round = 0; round < 100000; ++round) {
    fill(x, [&] { return uint16_t(random()); }, [&](int) { return floatOf(uint32_t(random())); });
    expectTwoFmas(x);
  }
}

TEST_F(BF16, DotIsTwoFmasOnValuesOfOneSize) {
  Products x;
  for (int round = 0; round < 100000; ++round) {
    auto half = [&] { return uint16_t((random() & 0x807f) | (120 + random() % 16) << 7); };
    fill(x, half, [&](int) { return floatOf((random() & 0x807fffff) | (107 + random() % 40) << 23); });
    expectTwoFmas(x);
  }
}

// The odd product cancels the start but for a few units in the last place.
TEST_F(BF16, DotIsTwoFmasWhereSumsCancel) {
  Products x;
  for (int round = 0; round < 100000; ++round) {
    auto half = [&] { return uint16_t((random() & 0x807f) | (100 + random() % 50) << 7); };
    fill(x, half, [&](int i) {
      return floatOf(bitsOf(-(widened(x.a[2 * i + 1]) * widened(x.b[2 * i + 1]))) + uint32_t(random() % 5) - 2);
    });
    expectTwoFmas(x);
  }
}

TEST_F(BF16, DotIsTwoFmasOnSpecialValues) {
  const uint16_t halves[] = {0,      0x8000, 1,      0x8001, 0x007f, 0x0080, 0x8080, 0x3f80,
                             0xbf80, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0, 0x7f81};
  const uint32_t starts[] = {0,          0x80000000, 1,          0x807fffff, 0x00800000, 0x80800000,
                             0x3f800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000};
  Products x;
  for (int round = 0; round < 100000; ++round) {
    fill(
        x, [&] { return halves[random() % std::size(halves)]; },
        [&](int) { return floatOf(starts[random() % std::size(starts)]); });
    expectTwoFmas(x);
  }
}

// Results around the smallest normal number, where what counts as a denormal depends on when a result is rounded.
TEST_F(BF16, DotIsTwoFmasAtTheEdgeOfDenormals) {
  Products x;
  for (int round = 0; round < 100000; ++round) {
    for (int i = 0; i < 2 * kLanes; ++i) {
      int left = 40 + int(random() % 50), right = std::max(1, 127 - 126 - int(random() % 28) - (left - 127));
      uint16_t mantissa = random() % 3 ? 0x807f : 0x8000;
      x.a[i] = uint16_t((random() & mantissa) | left << 7);
      x.b[i] = uint16_t((random() & mantissa) | right << 7);
    }
    for (float &start : x.start)
      start = floatOf((random() & 0x80000000) | (random() % 2 ? 0x00800000 + random() % 4 : random() & 0x00ffffff));
    expectTwoFmas(x);
  }
}

void expectRounded(const float *values) {
  ExactPolicy p;
  uint16_t actual[kLanes];
  narrow(values, actual);
  for (int i = 0; i < kLanes; ++i)
    ASSERT_EQ(bitsOf(roundToBF16(p, values[i])), uint32_t(actual[i]) << 16) << std::hexfloat << values[i];
}

TEST_F(BF16, ConversionRoundsEveryUpperHalfWithTiesAndNeighbours) {
  const uint32_t lows[kLanes] = {0,      1,      2,      0x3fff, 0x4000, 0x7ffe, 0x7fff, 0x8000,
                                 0x8001, 0x8002, 0xbfff, 0xc000, 0xfffe, 0xffff, 0x5555, 0xaaaa};
  float values[kLanes];
  for (uint32_t high = 0; high < 0x10000; ++high) {
    for (int i = 0; i < kLanes; ++i)
      values[i] = floatOf(high << 16 | lows[i]);
    expectRounded(values);
  }
}

TEST_F(BF16, ConversionRoundsAnyBits) {
  float values[kLanes];
  for (int round = 0; round < 1000000; ++round) {
    for (float &value : values)
      value = floatOf(uint32_t(random()));
    expectRounded(values);
  }
}

// Operands of one tdpbf16ps: c [16][16] continues with a [16][32] times b, [16][16] pairs of terms.
struct Tiles {
  uint16_t a[kLanes][2 * kLanes], b[kLanes][2 * kLanes];
  float c[kLanes][kLanes];
};

class BF16Tiles : public testing::Test {
protected:
  void SetUp() override {
    constexpr long kRequestPermission = 0x1023, kTileData = 18;
    if (!__builtin_cpu_supports("amx-bf16") || syscall(SYS_arch_prctl, kRequestPermission, kTileData) != 0)
      GTEST_SKIP() << "this machine has no AMX";
  }

  template <class Half, class Start> void fill(Half half, Start start) {
    for (int i = 0; i < kLanes; ++i) {
      for (int j = 0; j < 2 * kLanes; ++j)
        x.a[i][j] = half(), x.b[i][j] = half();
      for (float &value : x.c[i])
        value = start();
    }
  }
  void expectABlock(int64_t terms = kTermsOfBlock);

  std::mt19937_64 random{5};
  Tiles x;
};

__attribute__((target("amx-tile,amx-bf16"))) void accumulate(const Tiles &x, float *result) {
  struct {
    uint8_t palette = 1, start = 0, reserved[14] = {};
    uint16_t columnBytes[16] = {64, 64, 64};
    uint8_t rows[16] = {16, 16, 16};
  } shapes;
  _tile_loadconfig(&shapes);
  _tile_loadd(0, x.c, 64);
  _tile_loadd(1, x.a, 64);
  _tile_loadd(2, x.b, 64);
  _tile_dpbf16ps(0, 1, 2);
  _tile_stored(0, result, 64);
  _tile_release();
}

// With the default MXCSR, which does not flush: the instruction does. Terms beyond `terms` are zeros in the tiles.
void BF16Tiles::expectABlock(int64_t terms) {
  float actual[kLanes * kLanes], a[kLanes][2 * kLanes], b[2 * kLanes][kLanes];
  for (int i = 0; i < kLanes; ++i)
    for (int k = 0; k < 2 * kLanes; ++k) {
      if (k >= terms)
        x.a[i][k] = x.b[k / 2][2 * i + k % 2] = 0;
      a[i][k] = widened(x.a[i][k]);
      b[k][i] = widened(x.b[k / 2][2 * i + k % 2]);
    }
  accumulate(x, actual);
  FlushDenormals flush;
  float expected[kLanes][kLanes];
  std::memcpy(expected, x.c, sizeof expected);
  continueBF16Product(ExactPolicy(), {/*blocks=*/true, {}}, kLanes, kLanes, 0, terms, a[0], 2 * kLanes, 1, b[0],
                      expected[0]);
  for (int i = 0; i < kLanes; ++i)
    for (int j = 0; j < kLanes; ++j)
      ASSERT_TRUE(same(actual[i * kLanes + j], expected[i][j]))
          << std::hexfloat << "from " << x.c[i][j] << " to " << actual[i * kLanes + j] << ", not " << expected[i][j];
}

TEST_F(BF16Tiles, BlockOfAnyBits) {
  for (int round = 0; round < 2000; ++round) {
    // Not-a-numbers would hide the rest.
    auto half = [&] { return uint16_t(random() % 64 ? (random() & 0xbfff) : random()); };
    fill(half, [&] { return floatOf(uint32_t(random())); });
    expectABlock();
  }
}

TEST_F(BF16Tiles, BlockOfValuesOfOneSize) {
  for (int round = 0; round < 2000; ++round) {
    auto half = [&] { return uint16_t((random() & 0x807f) | (120 + random() % 16) << 7); };
    fill(half, [&] { return floatOf((random() & 0x807fffff) | (107 + random() % 40) << 23); });
    expectABlock();
  }
}

// Few mantissas, so that sums cancel, often to zero.
TEST_F(BF16Tiles, BlockWhereSumsCancel) {
  for (int round = 0; round < 2000; ++round) {
    auto half = [&] { return uint16_t((random() & 0x8003) | (127 + random() % 3) << 7); };
    fill(half, [&] { return floatOf((random() & 0x80600000) | (127 + random() % 4) << 23); });
    expectABlock();
  }
}

TEST_F(BF16Tiles, BlockAtTheEdgeOfDenormals) {
  for (int round = 0; round < 2000; ++round) {
    bool operands = round % 2; // denormal themselves, or their products
    auto half = [&] { return uint16_t((random() & 0x807f) | (operands ? random() % 3 : 58 + random() % 12) << 7); };
    fill(half, [&] { return floatOf(uint32_t(random() & 0x80ffffff) >> random() % 2); });
    expectABlock();
  }
}

// What fills up a short block shows only in the sign of zero, and there in both alike.
TEST_F(BF16Tiles, ShortBlocksEndWithZeros) {
  for (int round = 0; round < 4000; ++round) {
    auto half = [&] { return uint16_t(random() % 3 ? random() & 0x8000 : (random() & 0x807f) | random() % 66 << 7); };
    fill(half, [&] { return floatOf(uint32_t(random() & 0x80000000)); });
    expectABlock(1 + round % kTermsOfBlock);
  }
}

TEST_F(BF16Tiles, BlockOfSpecialValues) {
  const uint16_t halves[] = {0, 0x8000, 1, 0x8001, 0x007f, 0x0080, 0x8080, 0x3f80, 0xbf80, 0x7f7f, 0xff7f, 0x7f80};
  for (int round = 0; round < 2000; ++round) {
    fill([&] { return halves[random() % (std::size(halves) - round % 2)]; },
         [&] { return random() % 9 ? 0.0f : floatOf(uint32_t(random())); });
    expectABlock();
  }
}

// Six blocks of parts, as bf16x6 adds them for one block of f32 terms of these bits; those beyond `terms` are zeros.
// The first 16 terms lie in even places, which the instruction makes one chain of, the others in odd ones.
class SplitTiles : public BF16Tiles {
protected:
  template <class Term, class Start> void expectSixBlocks(Term term, Start start, int64_t terms = kTermsOfBlock) {
    for (int i = 0; i < kLanes; ++i) {
      for (int64_t k = 0; k < kTermsOfBlock; ++k)
        a[i][k] = k < terms ? term() : 0, b[k][i] = k < terms ? term() : 0;
      for (float &value : x.c[i])
        value = start();
    }
    float expected[kLanes][kLanes], actual[kLanes][kLanes];
    std::memcpy(expected, x.c, sizeof expected);
    split();
    for (auto [left, right] : kSplitProducts) {
      std::memcpy(x.a, lhs[left], sizeof x.a);
      std::memcpy(x.b, rhs[right], sizeof x.b);
      accumulate(x, actual[0]);
      std::memcpy(x.c, actual, sizeof x.c);
    }
    FlushDenormals flush;
    continueSplitProduct(ExactPolicy(), {}, kLanes, kLanes, 0, terms, a[0], kTermsOfBlock, 1, b[0], expected[0]);
    for (int i = 0; i < kLanes; ++i)
      for (int j = 0; j < kLanes; ++j)
        ASSERT_TRUE(same(actual[i][j], expected[i][j]))
            << std::hexfloat << actual[i][j] << ", not " << expected[i][j] << " at " << i << ", " << j;
  }

private:
  void split() {
    FlushDenormals flush;
    ExactPolicy p;
    for (int i = 0; i < kLanes; ++i)
      for (int k = 0; k < int(kTermsOfBlock); ++k) {
        std::array<float, 3> left = bf16PartsOf(p, a[i][k]), right = bf16PartsOf(p, b[k][i]);
        int pair = k % kLanes, side = k / kLanes;
        for (size_t part = 0; part < 3; ++part) {
          lhs[part][i][2 * pair + side] = uint16_t(bitsOf(left[part]) >> 16);
          rhs[part][pair][2 * i + side] = uint16_t(bitsOf(right[part]) >> 16);
        }
      }
  }

  float a[kLanes][kTermsOfBlock], b[kTermsOfBlock][kLanes];
  uint16_t lhs[3][kLanes][2 * kLanes], rhs[3][kLanes][2 * kLanes];
};

TEST_F(SplitTiles, BlockOfAnyBits) {
  for (int round = 0; round < 500; ++round) {
    auto term = [&] { return floatOf(uint32_t(random() % 512 ? (random() & 0xbfffffff) : random())); };
    expectSixBlocks(term, [&] { return floatOf(uint32_t(random())); });
  }
}

TEST_F(SplitTiles, BlockOfValuesOfOneSize) {
  for (int round = 0; round < 500; ++round) {
    auto term = [&] { return floatOf(uint32_t((random() & 0x807fffff) | (120 + random() % 16) << 23)); };
    expectSixBlocks(
        term, [&] { return floatOf(uint32_t((random() & 0x807fffff) | (107 + random() % 40) << 23)); },
        1 + round % kTermsOfBlock);
  }
}

// Values, parts or products that are not normal.
TEST_F(SplitTiles, BlockAtTheEdgeOfDenormals) {
  for (int round = 0; round < 1000; ++round) {
    int base = std::array{0, 8, 20, 55}[size_t(round % 4)];
    auto term = [&] { return floatOf(uint32_t((random() & 0x807fffff) | (base + random() % 12) << 23)); };
    expectSixBlocks(
        term, [&] { return floatOf(uint32_t(random() & 0x80ffffff) >> random() % 2); }, 1 + round % kTermsOfBlock);
  }
}

TEST_F(SplitTiles, BlockOfSpecialValues) {
  const uint32_t values[] = {0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x00800000,
                             0x80800000, 0x3f800000, 0xbf808000, 0x3f7f7fff, 0x7f7f7fff, 0x7f7f8000,
                             0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x7fffffff, 0x7f800001};
  for (int round = 0; round < 1000; ++round) {
    size_t count = round % 3 == 0 ? std::size(values) : round % 3 == 1 ? 11 : 10; // all finite, none that overflow
    auto term = [&] { return floatOf(values[random() % 4 ? random() % 2 : random() % count]); };
    expectSixBlocks(term, [&] { return random() % 9 ? 0.0f : floatOf(uint32_t(random())); });
  }
}

} // namespace
