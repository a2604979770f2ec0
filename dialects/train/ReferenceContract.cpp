// Reference meaning of contract.
#include "dialects/train/ProductTerms.h"
#include "dialects/train/ReferenceTensors.h"

using namespace mlir;
using namespace recipe::train;

namespace {

template <class F> struct Matrix {
  const F *values;
  int64_t row, column; // strides
};

} // namespace

LogicalResult ContractOp::evaluate(ReferenceContext &context, Operands operands, Results results) {
  ContractForm form = getForm();
  size_t pairs = getLhs().size();
  ArrayRef<int64_t> ranges = getSegments();
  size_t segments = ranges.size() / (2 * pairs);
  const HostTensor *accumulator = operandOf(*this, operands, 2);
  int64_t m = leadingSize(shapeOf(getResult())), n = shapeOf(getResult()).back();
  ProductTerms terms(*this, getLhs()[0], getTermsPerSample());
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
        terms.continueWith(p, m, n, range[0], range[1], left.values, left.row, left.column, rhs[pair].data(),
                           acc.data());
      }
      chains.push_back(std::move(acc));
    }
    std::vector<F> sum = treeSum(p, std::move(chains));
    std::copy(sum.begin(), sum.end(), allocate<P>(results[0], getResult()));
  });
}
