// The canonical reductions of docs/numerics.md on scalars of a policy. Internal to the reference meaning of ops.
#ifndef DIALECTS_TRAIN_REDUCTIONS_H
#define DIALECTS_TRAIN_REDUCTIONS_H

#include "dialects/train/Formulas.h"
#include <array>
#include <cstddef>
#include <limits>
#include <vector>

namespace recipe::train {

inline constexpr int64_t kLanes = 16;

template <class P> using Lanes = std::array<typename P::F, kLanes>;

template <class P> typename P::F sumOfLanes(P p, Lanes<P> lanes) {
  for (int64_t w = kLanes / 2; w > 0; w /= 2)
    for (int64_t l = 0; l < w; ++l)
      lanes[l] = p.add(lanes[l], lanes[l + w]);
  return lanes[0];
}

// rowsum of at(0), ..., at(n - 1)
template <class P, class At> typename P::F rowSum(P p, int64_t n, At at) {
  Lanes<P> lanes{};
  for (int64_t i = 0; i < n; ++i)
    lanes[i % kLanes] = p.add(lanes[i % kLanes], at(i));
  return sumOfLanes(p, lanes);
}

// rowdot of (left(0), right(0)), ...
template <class P, class Left, class Right> typename P::F rowDot(P p, int64_t n, Left left, Right right) {
  Lanes<P> lanes{};
  for (int64_t i = 0; i < n; ++i)
    lanes[i % kLanes] = p.fma(left(i), right(i), lanes[i % kLanes]);
  return sumOfLanes(p, lanes);
}

// -inf for n = 0.
template <class P, class At> typename P::F rowMax(P p, int64_t n, At at) {
  Lanes<P> lanes;
  lanes.fill(p.constant(-std::numeric_limits<double>::infinity()));
  for (int64_t i = 0; i < n; ++i)
    lanes[i % kLanes] = maxOf(p, at(i), lanes[i % kLanes]);
  for (int64_t w = kLanes / 2; w > 0; w /= 2)
    for (int64_t l = 0; l < w; ++l)
      lanes[l] = maxOf(p, lanes[l + w], lanes[l]);
  return lanes[0];
}

// The balanced tree of adjacent pairs over `items`, at least one; combine(a, b) gives the pair's value.
template <class Item, class Combine> Item treeOf(std::vector<Item> items, Combine combine) {
  while (items.size() > 1) {
    size_t pairs = items.size() / 2;
    for (size_t i = 0; i < pairs; ++i)
      items[i] = combine(items[2 * i], items[2 * i + 1]);
    if (items.size() % 2)
      items[pairs++] = std::move(items.back());
    items.resize(pairs);
  }
  return std::move(items[0]);
}

template <class P> typename P::F treeSum(P p, const typename P::F *items, int64_t n) {
  return treeOf(std::vector<typename P::F>(items, items + n), [&](auto a, auto b) { return p.add(a, b); });
}

// The same for arrays of equal length, element by element.
template <class P> std::vector<typename P::F> treeSum(P p, std::vector<std::vector<typename P::F>> arrays) {
  using Array = std::vector<typename P::F>;
  return treeOf(std::move(arrays), [&](const Array &a, const Array &b) {
    Array sum(a.size());
    for (size_t i = 0; i < sum.size(); ++i)
      sum[i] = p.add(a[i], b[i]);
    return sum;
  });
}

// acc[i][j] continues its chain: fma(lhs(i, k), rhs[k][j], acc[i][j]) for k = begin .. end - 1. acc is m x n, rhs has n
// columns, lhs(i, k) lies at i * lhsRow + k * lhsColumn.
template <class P>
void continueProduct(P p, int64_t m, int64_t n, int64_t begin, int64_t end, const typename P::F *lhs, int64_t lhsRow,
                     int64_t lhsColumn, const typename P::F *rhs, typename P::F *acc) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t k = begin; k < end; ++k) {
      typename P::F a = lhs[i * lhsRow + k * lhsColumn];
      for (int64_t j = 0; j < n; ++j)
        acc[i * n + j] = p.fma(a, rhs[k * n + j], acc[i * n + j]);
    }
}

// The transpose of a rows x columns matrix.
template <class F> std::vector<F> transposed(const F *matrix, int64_t rows, int64_t columns) {
  std::vector<F> result(rows * columns);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      result[c * rows + r] = matrix[r * columns + c];
  return result;
}

} // namespace recipe::train
#endif
