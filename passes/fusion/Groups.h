// Which ops of a graph lie together in a region.
//
// A region runs where its last op stands. That is legal when nobody needs a result of it before: then no order of
// regions can be circular, whatever else is joined. Only the write to a variable waits: nothing in the graph reads it
// after that.
#ifndef PASSES_FUSION_GROUPS_H
#define PASSES_FUSION_GROUPS_H

#include "dialects/train/Train.h"
#include "llvm/ADT/DenseMap.h"
#include <string>
#include <vector>

namespace recipe::fusion {

using Group = llvm::SmallVector<mlir::Operation *>; // in program order

// Compute ops owe a precision class; tables become constants and never run.
bool belongsInKernel(mlir::Operation &op);

class Groups {
public:
  // Every op that belongs in a kernel is a group of its own.
  explicit Groups(train::GraphOp graph);

  // Joins the groups of the ops; returns why that is not possible, or nothing.
  std::string join(llvm::ArrayRef<mlir::Operation *> ops);

  // All groups, by the place of their last op.
  std::vector<Group> inOrder() const;
  const Group &of(mlir::Operation *op) const { return groups[number.lookup(op)]; }

private:
  std::string whyNot(const Group &together) const;
  // An op that changes the step's scalars between the group's first op and its last; null: none.
  mlir::Operation *scalarsChange(const Group &together) const;
  int64_t placeOf(mlir::Operation *op) const { return place.lookup(op); }
  // Where the op runs: in its group, or where it stands.
  int64_t runsAt(mlir::Operation *op) const;

  llvm::DenseMap<mlir::Operation *, int64_t> place;
  llvm::DenseMap<mlir::Operation *, size_t> number; // of an op's group
  std::vector<Group> groups;                        // empty where one was joined to another
  int64_t backward = -1;                            // place of train.backward_begin
};

} // namespace recipe::fusion
#endif
