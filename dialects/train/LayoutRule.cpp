#include "dialects/train/LayoutRule.h"

using namespace mlir;
using namespace recipe::train;
using recipe::dist::DimAttr;
using recipe::dist::LayoutAttr;

LogicalResult LayoutRule::expectNoPartial(unsigned count) const {
  for (unsigned i = 0; i < count; ++i)
    if (at(i).isPartial())
      return op->emitOpError("T2: a Partial operand must be reduced first, got: operand ") << i << " " << at(i);
  return success();
}

LogicalResult LayoutRule::expectOneLayout(unsigned first, unsigned end, StringRef number) const {
  for (unsigned i = first + 1; i < end; ++i)
    if (at(i) != at(first))
      return op->emitOpError() << number << ": operands must have one layout, got: " << at(first) << " and " << at(i);
  return success();
}

LogicalResult LayoutRule::expectAlike(unsigned a, int64_t dimA, unsigned b, int64_t dimB) const {
  DimAttr left = dim(at(a), dimA), right = dim(at(b), dimB);
  if (left.getAxes() == right.getAxes() && left.getPadding() == right.getPadding())
    return success();
  return op->emitOpError("T3: operands ")
         << a << " and " << b << " must be split alike in dimensions "
         << (dimA < 0 ? at(a).getDims().size() + dimA : dimA) << " and "
         << (dimB < 0 ? at(b).getDims().size() + dimB : dimB) << ", got: " << at(a) << " and " << at(b);
}

LogicalResult LayoutRule::expectSameTokens(unsigned a, unsigned b) const {
  return success(succeeded(expectAlike(a, 0, b, 0)) && succeeded(expectAlike(a, 1, b, 1)));
}

LogicalResult LayoutRule::expectWhole(unsigned operand, StringRef what, std::optional<int64_t> index) const {
  LayoutAttr layout = at(operand);
  for (int64_t d = 0, rank = layout.getDims().size(); d < rank; ++d)
    if ((!index || d == *index || d == rank + *index) && !axes(layout, d).empty())
      return op->emitOpError("T4: ") << what << " must be whole on each rank, got: " << layout;
  return success();
}

LogicalResult LayoutRule::expectAccumulator(unsigned operand, unsigned result) const {
  if (dist::splitOnly(at(operand)) == dist::splitOnly(cast<LayoutAttr>(results[result])))
    return success();
  return op->emitOpError("T6: an accumulator has the layout of its result, got: ")
         << operands[operand] << " for " << results[result];
}

LogicalResult LayoutRule::give(Value value, ArrayRef<DimAttr> dims, Axes partial) {
  SmallVector<DimAttr> sized;
  for (auto [dim, extent] : llvm::zip_equal(dims, shapeOf(value)))
    sized.push_back(
        DimAttr::get(op->getContext(), dim.getAxes(), extent, dim.getExtent() == extent ? dim.getPadding() : 0));
  // Operands that are legal each may use one axis twice together: that is the user's error, not ours.
  auto emitError = [&] { return op->emitOpError("has no legal result: "); };
  auto layout = LayoutAttr::getChecked(llvm::function_ref<InFlightDiagnostic()>(emitError), op->getContext(),
                                       at(0).getMesh(), ArrayRef<DimAttr>(sized), partial);
  results.push_back(layout);
  return success(bool(layout));
}
