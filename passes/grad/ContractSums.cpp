#include "passes/grad/ContractSums.h"

using namespace mlir;
using namespace recipe::grad;
using namespace recipe::train;

static size_t segmentCount(ContractOp op) { return op.getSegments().size() / (2 * op.getLhs().size()); }

bool recipe::grad::canJoin(ContractOp a, ContractOp b) {
  return a.getForm() == b.getForm() && a.getType() == b.getType() && segmentCount(a) == segmentCount(b) &&
         a.getF32Products() == b.getF32Products() && !a.getAccumulator() && !b.getAccumulator();
}

ContractOp recipe::grad::joinContracts(OpBuilder &builder, Location loc, ArrayRef<ContractOp> parts) {
  SmallVector<Value> lhs, rhs;
  for (ContractOp part : parts) {
    llvm::append_range(lhs, part.getLhs());
    llvm::append_range(rhs, part.getRhs());
  }
  // [segment][pair][2]: each part contributes its pairs to every segment.
  ContractOp first = parts.front();
  SmallVector<int64_t> segments;
  for (size_t segment = 0; segment < segmentCount(first); ++segment)
    for (ContractOp part : parts) {
      size_t width = 2 * part.getLhs().size();
      llvm::append_range(segments, part.getSegments().slice(segment * width, width));
    }
  return ContractOp::create(builder, loc, first.getType(), lhs, rhs, Value(), first.getForm(),
                            builder.getDenseI64ArrayAttr(segments), DenseI64ArrayAttr(), BF16OrderAttr(),
                            first.getF32ProductsAttr());
}
