// The words that layout rules are written in. For dialects/train/Layouts*.cpp.
#ifndef DIALECTS_TRAIN_LAYOUTRULE_H
#define DIALECTS_TRAIN_LAYOUTRULE_H

#include "dialects/dist/Dist.h"
#include "dialects/train/Shapes.h"

namespace recipe::train {

// One application of an op's rule. Every `expect` emits an error at the op and fails when the layouts are illegal.
// Constraints T1 to T6, in messages and tests by number:
//   T1 operands that are combined element by element have one layout
//   T2 a Partial operand is rejected (D7)
//   T3 dimensions that correspond in two operands are split alike
//   T4 what an op needs as a whole (rows, tables, vocabularies) is not split
//   T5 an optimizer op has one layout for all its tensors
//   T6 an accumulator has the layout of its result
class LayoutRule {
public:
  using Layout = dist::LayoutAttr;
  using Axes = llvm::ArrayRef<dist::AxisAttr>;

  LayoutRule(mlir::Operation *op, llvm::ArrayRef<mlir::Attribute> operands,
             llvm::SmallVectorImpl<mlir::Attribute> &results)
      : op(op), operands(operands), results(results) {}

  Layout at(unsigned operand) const { return mlir::cast<Layout>(operands[operand]); }
  // Negative dimensions count from the last one.
  static dist::DimAttr dim(Layout layout, int64_t index) {
    return layout.getDims()[index < 0 ? layout.getDims().size() + index : index];
  }
  static Axes axes(Layout layout, int64_t index) { return dim(layout, index).getAxes(); }

  // T2 for the first `count` operands.
  llvm::LogicalResult expectNoPartial(unsigned count) const;
  // T1 (or `number`): operands [first, end) have the layout of operand `first`.
  llvm::LogicalResult expectOneLayout(unsigned first, unsigned end, llvm::StringRef number = "T1") const;
  // T3: dimension `dimA` of operand a and dimension `dimB` of operand b, which have one extent.
  llvm::LogicalResult expectAlike(unsigned a, int64_t dimA, unsigned b, int64_t dimB) const;
  // T3: samples and positions, the first two dimensions of both.
  llvm::LogicalResult expectSameTokens(unsigned a, unsigned b) const;
  // T4: dimension `index` of an operand, all of them without `index`.
  llvm::LogicalResult expectWhole(unsigned operand, llvm::StringRef what,
                                  std::optional<int64_t> index = std::nullopt) const;
  // T6: `operand` has the layout that result `result` was given.
  llvm::LogicalResult expectAccumulator(unsigned operand, unsigned result) const;

  // A dimension of a result that is not split.
  dist::DimAttr whole() const { return dist::DimAttr::get(op->getContext(), {}, 0, 0); }
  // The next result's layout: on the mesh of operand 0, split as `dims` are, with the extents of `value`.
  llvm::LogicalResult give(mlir::Value value, llvm::ArrayRef<dist::DimAttr> dims, Axes partial = {});
  void give(Layout layout) { results.push_back(layout); }
  // Results whose layout the op does not decide.
  void giveAny(unsigned count) { results.append(count, mlir::Attribute()); }

private:
  mlir::Operation *op;
  llvm::ArrayRef<mlir::Attribute> operands;
  llvm::SmallVectorImpl<mlir::Attribute> &results;
};

} // namespace recipe::train
#endif
