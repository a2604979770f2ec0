// Short forms for the shape checks of the train verifiers.
#ifndef DIALECTS_TRAIN_SHAPES_H
#define DIALECTS_TRAIN_SHAPES_H

#include "dialects/train/Train.h"

namespace recipe::train {

inline mlir::RankedTensorType tensorType(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}
inline bool isBF16(mlir::Value value) { return tensorType(value).getElementType().isBF16(); }
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) { return tensorType(value).getShape(); }

// Product of all dimensions but the last.
inline int64_t leadingSize(llvm::ArrayRef<int64_t> shape) {
  int64_t n = 1;
  for (int64_t d : shape.drop_back())
    n *= d;
  return n;
}

// [8, C]: the sums by position segment that make up the gradient of a gain or bias [C].
inline mlir::RankedTensorType positionSumsType(mlir::Value vector) {
  return mlir::RankedTensorType::get({kPositionSegments, shapeOf(vector).back()}, tensorType(vector).getElementType());
}

// "'train.x' op RULE, got: tensor<..> and tensor<..>"
inline llvm::LogicalResult expectShape(mlir::Operation *op, llvm::StringRef what, mlir::Value value,
                                       llvm::ArrayRef<int64_t> expected) {
  if (shapeOf(value) == expected)
    return mlir::success();
  auto diag = op->emitOpError() << what << " must have shape [";
  llvm::interleave(expected, [&](int64_t d) { diag << d; }, [&] { diag << ", "; });
  return diag << "], got: " << value.getType();
}

inline llvm::LogicalResult expectRank(mlir::Operation *op, llvm::StringRef what, mlir::Value value, int64_t rank) {
  if (tensorType(value).getRank() == rank)
    return mlir::success();
  return op->emitOpError() << what << " must have rank " << rank << ", got: " << value.getType();
}

} // namespace recipe::train
#endif
