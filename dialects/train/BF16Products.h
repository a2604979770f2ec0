// Products of bf16 operands in the orders of docs/numerics.md, "bf16", on scalars of a policy. In fp64, where nothing
// is rounded, terms are ascending. Internal to the reference meaning of ops.
#ifndef DIALECTS_TRAIN_BF16PRODUCTS_H
#define DIALECTS_TRAIN_BF16PRODUCTS_H

#include "dialects/train/Reductions.h"
#include <optional>

namespace recipe::train {

inline constexpr int64_t kTermsOfBlock = 32;

struct BF16Terms {
  bool blocks = false;              // of 32, else pairs
  std::optional<int64_t> perSample; // blocks begin anew at multiples of it
};

// Terms in pairs, the odd one first.
template <class P>
void continuePairs(P p, int64_t m, int64_t n, int64_t begin, int64_t end, const typename P::F *lhs, int64_t lhsRow,
                   int64_t lhsColumn, const typename P::F *rhs, typename P::F *acc) {
  const std::vector<typename P::F> nothing(n); // the term that fills up an odd range
  for (int64_t k = begin; k < end; k += 2) {
    bool whole = k + 1 < end;
    continueProduct(p, m, n, 0, 1, whole ? lhs + (k + 1) * lhsColumn : nothing.data(), whole ? lhsRow : 0, 0,
                    whole ? rhs + (k + 1) * n : nothing.data(), acc);
    continueProduct(p, m, n, 0, 1, lhs + k * lhsColumn, lhsRow, 0, rhs + k * n, acc);
  }
}

// One block, of at most 32 terms, in two chains: even and odd ones, or with `halves` the first and the last 16.
template <class P>
void addBlock(P p, bool halves, int64_t m, int64_t n, int64_t begin, int64_t end, const typename P::F *lhs,
              int64_t lhsRow, int64_t lhsColumn, const typename P::F *rhs, typename P::F *acc) {
  using F = typename P::F;
  constexpr int64_t kHalf = kTermsOfBlock / 2;
  auto chainOf = [&](int64_t term) { return halves ? term / kHalf : term % 2; };
  bool isShort[2];
  for (int64_t chain = 0; chain < 2; ++chain)
    isShort[chain] = end - begin <= (halves ? kHalf * chain + kHalf - 1 : kTermsOfBlock - 2 + chain);
  std::vector<F> chains[2];
  for (int64_t i = 0; i < m; ++i) {
    for (std::vector<F> &chain : chains)
      chain.assign(size_t(n), F(0));
    for (int64_t k = begin; k < end; ++k)
      continueProduct(p, 1, n, 0, 1, lhs + i * lhsRow + k * lhsColumn, 0, 0, rhs + k * n,
                      chains[chainOf(k - begin)].data());
    // What fills up a short block shows in the sign of zero alone, the first time.
    for (int64_t chain = 0; chain < 2; ++chain)
      if (isShort[chain])
        for (F &value : chains[chain])
          value = p.fma(F(0), F(0), value);
    for (int64_t j = 0; j < n; ++j)
      acc[i * n + j] = p.add(acc[i * n + j], p.add(chains[0][size_t(j)], chains[1][size_t(j)]));
  }
}

// Calls visit(begin, end) for each block of [begin, end); blocks begin anew at multiples of `perSample`.
template <class Visit>
void forEachBlock(int64_t begin, int64_t end, const std::optional<int64_t> &perSample, Visit visit) {
  for (int64_t k = begin, next; k < end; k = next) {
    next = std::min(k + kTermsOfBlock, end);
    if (perSample)
      next = std::min(next, (k / *perSample + 1) * *perSample);
    visit(k, next);
  }
}

// acc [m][n] continues with the terms k in [begin, end) of lhs [m][k] (by its strides) times rhs [k][n].
template <class P>
void continueBF16Product(P p, const BF16Terms &terms, int64_t m, int64_t n, int64_t begin, int64_t end,
                         const typename P::F *lhs, int64_t lhsRow, int64_t lhsColumn, const typename P::F *rhs,
                         typename P::F *acc) {
  if constexpr (P::kLibm) {
    continueProduct(p, m, n, begin, end, lhs, lhsRow, lhsColumn, rhs, acc);
  } else if (!terms.blocks) {
    continuePairs(p, m, n, begin, end, lhs, lhsRow, lhsColumn, rhs, acc);
  } else {
    forEachBlock(begin, end, terms.perSample, [&](int64_t first, int64_t last) {
      addBlock(p, /*halves=*/false, m, n, first, last, lhs, lhsRow, lhsColumn, rhs, acc);
    });
  }
}

} // namespace recipe::train
#endif
