// Scratch of the cross_entropy kernels, in floats: what kernel-select promises and codegen uses. Sixteen rows at a
// time.
#ifndef PASSES_LOSSSCRATCH_H
#define PASSES_LOSSSCRATCH_H

#include <cstdint>

namespace recipe {

struct LossScratch {
  int64_t segments; // of the vocabulary

  static constexpr int64_t kRows = 16;
  int64_t maxima() const { return 0; } // [segment][row]
  int64_t sums() const { return segments * kRows; }
  int64_t labelLogits() const { return 2 * segments * kRows; }
  int64_t rowMaxima() const { return labelLogits() + kRows; }
  int64_t reciprocals() const { return rowMaxima() + kRows; }
  int64_t bytes() const { return (reciprocals() + kRows) * 4; }
};

} // namespace recipe
#endif
