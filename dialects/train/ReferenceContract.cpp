// Reference meaning of contract.
#include "dialects/train/ReferenceTensors.h"

using namespace mlir;
using namespace recipe::train;

namespace {

template <class F> struct Matrix {
  const F *values;
  int64_t row, column; // strides
};

// continueProduct for bf16 operands: terms in pairs, the odd one first. In fp64, where nothing is rounded, ascending.
template <class P>
void continuePairs(P p, int64_t m, int64_t n, int64_t begin, int64_t end, Matrix<typename P::F> lhs,
                   const typename P::F *rhs, typename P::F *acc) {
  if constexpr (P::kLibm) {
    continueProduct(p, m, n, begin, end, lhs.values, lhs.row, lhs.column, rhs, acc);
  } else {
    const std::vector<typename P::F> nothing(n); // the term that fills up an odd range
    for (int64_t k = begin; k < end; k += 2) {
      bool whole = k + 1 < end;
      continueProduct(p, m, n, 0, 1, whole ? lhs.values + (k + 1) * lhs.column : nothing.data(), whole ? lhs.row : 0, 0,
                      whole ? rhs + (k + 1) * n : nothing.data(), acc);
      continueProduct(p, m, n, 0, 1, lhs.values + k * lhs.column, lhs.row, 0, rhs + k * n, acc);
    }
  }
}

} // namespace

LogicalResult ContractOp::evaluate(ReferenceContext &context, Operands operands, Results results) {
  ContractForm form = getForm();
  size_t pairs = getLhs().size();
  ArrayRef<int64_t> ranges = getSegments();
  size_t segments = ranges.size() / (2 * pairs);
  const HostTensor *accumulator = operandOf(*this, operands, 2);
  int64_t m = leadingSize(shapeOf(getResult())), n = shapeOf(getResult()).back();
  return inMode(context, [&](auto p) {
    using P = decltype(p);
    using F = typename P::F;
    std::vector<std::vector<F>> rhs(pairs); // K x N
    for (size_t pair = 0; pair < pairs; ++pair) {
      const HostTensor *tensor = operands[pairs + pair];
      const F *values = valuesOf<P>(tensor);
      rhs[pair] = form == ContractForm::NT ? transposed(values, n, tensor->size() / n)
                                           : std::vector<F>(values, values + tensor->size());
    }
    std::vector<std::vector<F>> chains;
    for (size_t segment = 0; segment < segments; ++segment) {
      std::vector<F> acc = startOf<P>(accumulator, m * n);
      for (size_t pair = 0; pair < pairs; ++pair) {
        int64_t k = operands[pair]->size() / m;
        const int64_t *range = ranges.data() + (segment * pairs + pair) * 2;
        bool tn = form == ContractForm::TN;
        Matrix<F> left{valuesOf<P>(operands[pair]), tn ? 1 : k, tn ? m : 1};
        if (isBF16(getLhs()[pair]))
          continuePairs(p, m, n, range[0], range[1], left, rhs[pair].data(), acc.data());
        else
          continueProduct(p, m, n, range[0], range[1], left.values, left.row, left.column, rhs[pair].data(),
                          acc.data());
      }
      chains.push_back(std::move(acc));
    }
    std::vector<F> sum = treeSum(p, std::move(chains));
    std::copy(sum.begin(), sum.end(), allocate<P>(results[0], getResult()));
  });
}
