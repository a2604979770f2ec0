// Gradients whose norm shows in which order the three bins of squares are added at the end (docs/numerics.md).
#ifndef TESTS_NUMERICS_BINORDER_H
#define TESTS_NUMERICS_BINORDER_H

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

namespace recipe::test {

inline std::array<double, 3> binsOf(const std::vector<float> &gradients) {
  double largest = 0;
  for (float g : gradients)
    largest = std::max(largest, std::abs(double(g)));
  int exponent;
  std::frexp(largest * largest, &exponent);
  std::array<double, 3> bins{};
  for (float g : gradients) {
    double rest = double(g) * g;
    for (int k = 0; k < 3; ++k) {
      double constant = std::ldexp(1.5, 52 + exponent - 20 * (k + 1)), q = (rest + constant) - constant;
      bins[k] += q;
      rest -= q;
    }
  }
  return bins;
}

struct BinOrder {
  std::vector<float> gradients;
  double norm; // sqrt((bin 2 + bin 1) + bin 0); every other order of the additions gives another number
};

// The sum of bin 0 must be long before the additions round at all: about one draw in a hundred shows the order.
inline BinOrder findBinOrder() {
  std::mt19937 engine(1);
  for (;;) {
    BinOrder found{std::vector<float>(size_t(1) << 15), 0};
    for (float &g : found.gradients)
      g = 0.9f + float(engine() >> 8) * 0x1p-28f;
    auto [b0, b1, b2] = binsOf(found.gradients);
    found.norm = std::sqrt((b2 + b1) + b0);
    if (found.norm != std::sqrt((b1 + b0) + b2) && found.norm != std::sqrt((b2 + b0) + b1))
      return found;
  }
}

} // namespace recipe::test
#endif
