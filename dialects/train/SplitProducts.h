// Products of f32 operands as six products of bf16 parts (docs/numerics.md, "bf16x6"), on scalars of a policy. In fp64
// nothing is split and terms are ascending. Internal to the reference meaning of ops.
#ifndef DIALECTS_TRAIN_SPLITPRODUCTS_H
#define DIALECTS_TRAIN_SPLITPRODUCTS_H

#include "dialects/train/BF16Products.h"
#include <array>

namespace recipe::train {

template <class P> using Parts = std::array<std::vector<typename P::F>, 3>;

// The parts of a rows x columns matrix at(row, column), each row by row.
template <class P, class At> Parts<P> partsOf(P p, int64_t rows, int64_t columns, At at) {
  Parts<P> parts;
  for (std::vector<typename P::F> &part : parts)
    part.reserve(size_t(rows * columns));
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column) {
      std::array<typename P::F, 3> values = bf16PartsOf(p, at(row, column));
      for (size_t i = 0; i < parts.size(); ++i)
        parts[i].push_back(values[i]);
    }
  return parts;
}

// acc [m][n] continues with the terms k in [begin, end) of lhs [m][k] (by its strides) times rhs [k][n], in blocks that
// begin anew at multiples of `perSample`.
template <class P>
void continueSplitProduct(P p, const std::optional<int64_t> &perSample, int64_t m, int64_t n, int64_t begin,
                          int64_t end, const typename P::F *lhs, int64_t lhsRow, int64_t lhsColumn,
                          const typename P::F *rhs, typename P::F *acc) {
  if constexpr (P::kLibm) {
    continueProduct(p, m, n, begin, end, lhs, lhsRow, lhsColumn, rhs, acc);
  } else {
    forEachBlock(begin, end, perSample, [&](int64_t first, int64_t last) {
      int64_t terms = last - first;
      Parts<P> left =
          partsOf(p, m, terms, [&](int64_t i, int64_t k) { return lhs[i * lhsRow + (first + k) * lhsColumn]; });
      Parts<P> right = partsOf(p, terms, n, [&](int64_t k, int64_t j) { return rhs[(first + k) * n + j]; });
      for (auto [l, r] : kSplitProducts)
        addBlock(p, /*halves=*/true, m, n, 0, terms, left[size_t(l)].data(), terms, 1, right[size_t(r)].data(), acc);
    });
  }
}

} // namespace recipe::train
#endif
