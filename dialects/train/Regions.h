// What may lie together in one kernel region.
//
// A region is one op, a straight line of elementwise ops, or an anchor and elementwise ops around it: the anchor's
// kernel holds a result in registers before it stores it, and the elementwise ops go on from there. All of them work
// on tensors of one shape, so that one launch covers them.
#ifndef DIALECTS_TRAIN_REGIONS_H
#define DIALECTS_TRAIN_REGIONS_H

#include "mlir/IR/Operation.h"
#include <optional>
#include <string>

namespace recipe::train {
class KernelOp;

// Each element of a result depends only on the elements of the operands at the same place, for operands of one value
// for each channel at the same channel, and on the step's scalars. Such ops write no scalars.
bool isElementwise(mlir::Operation *op);
// Whether an elementwise op takes one value per channel there: its last dimension.
bool isPerChannel(mlir::OpOperand &operand);

// The number of the result that elementwise ops may take over from the registers of the op's kernel; none: the op is
// alone in its region.
std::optional<unsigned> anchoredResult(mlir::Operation *op);

// The anchor of ops that lie together; null when all are elementwise.
mlir::Operation *anchorOf(llvm::ArrayRef<mlir::Operation *> ops);

// Why the ops, in program order, cannot lie in one region; empty when they can.
std::string whyNotTogether(llvm::ArrayRef<mlir::Operation *> ops);

// The rule above for what lies in a kernel, and that the kernel gives every result of an anchor but the one taken over.
llvm::LogicalResult verifyTogether(KernelOp kernel);

} // namespace recipe::train
#endif
