// How the products of an op take their terms, as its operands and attributes say. Internal to the reference meaning of
// ops.
#ifndef DIALECTS_TRAIN_PRODUCTTERMS_H
#define DIALECTS_TRAIN_PRODUCTTERMS_H

#include "dialects/train/Shapes.h"
#include "dialects/train/SplitProducts.h"

namespace recipe::train {

class ProductTerms {
public:
  // `operand`: one of those that are multiplied. Blocks begin anew at multiples of `perSample`.
  template <class Op>
  ProductTerms(Op op, mlir::Value operand, std::optional<int64_t> perSample = std::nullopt)
      : bf16(isBF16(operand)), split(op.getF32Products() == F32Products::BF16X6),
        order{op.getBf16Order() == BF16Order::Blocks, perSample} {}

  // acc [m][n] continues with terms [begin, end) of lhs [m][k] (by its strides) times rhs [k][n].
  template <class P>
  void continueWith(P p, int64_t m, int64_t n, int64_t begin, int64_t end, const typename P::F *lhs, int64_t lhsRow,
                    int64_t lhsColumn, const typename P::F *rhs, typename P::F *acc) const {
    if (bf16)
      continueBF16Product(p, order, m, n, begin, end, lhs, lhsRow, lhsColumn, rhs, acc);
    else if (split)
      continueSplitProduct(p, order.perSample, m, n, begin, end, lhs, lhsRow, lhsColumn, rhs, acc);
    else
      continueProduct(p, m, n, begin, end, lhs, lhsRow, lhsColumn, rhs, acc);
  }

  bool bf16; // operands

private:
  bool split; // f32 ones, in parts
  BF16Terms order;
};

} // namespace recipe::train
#endif
