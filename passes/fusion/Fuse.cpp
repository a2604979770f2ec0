// Groups the ops of each graph into kernel regions. So far a group is one op; forming a region does not depend on that.
#include "dialects/train/Names.h"
#include "mlir/IR/IRMapping.h"
#include "passes/LocalTypes.h"
#include "passes/Passes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace recipe {
#define GEN_PASS_DEF_FUSEPASS
#include "passes/Passes.h.inc"

namespace {
using train::GraphOp;
using Group = SmallVector<Operation *>; // in program order

// Compute ops owe a precision class; tables become constants and never run.
bool belongsInKernel(Operation &op) {
  auto compute = dyn_cast<train::PrecisionOpInterface>(op);
  return compute && compute.getPrecisionClass() != train::PrecisionClass::Table;
}

SmallVector<Group> groupsOf(GraphOp graph) {
  SmallVector<Group> groups;
  for (Operation &op : graph.getBody().front())
    if (belongsInKernel(op))
      groups.push_back({&op});
  return groups;
}

void eraseDead(GraphOp graph) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(graph.getBody().front())))
    if (belongsInKernel(op) && op.use_empty() && isMemoryEffectFree(&op))
      op.erase();
}

// Moves the ops of a group into a new region at the place of its last op. Operands of a region of one op correspond to
// the op's operands by number, results to its results; a larger region has the results that are used outside. Inside,
// tensors are local and plain: the layout stays at the boundary.
void formKernel(const Group &group, StringRef name, const LocalTypes &types) {
  llvm::SmallPtrSet<Operation *, 8> members(group.begin(), group.end());
  SmallVector<Value> inputs, results;
  for (Operation *op : group) {
    for (Value operand : op->getOperands())
      if (!members.contains(operand.getDefiningOp()))
        inputs.push_back(operand);
    for (Value result : op->getResults())
      if (group.size() == 1 ||
          llvm::any_of(result.getUsers(), [&](Operation *user) { return !members.contains(user); }))
        results.push_back(result);
  }
  OpBuilder builder(group.back());
  auto kernel = train::KernelOp::create(builder, group.back()->getLoc(), ValueRange(results).getTypes(), inputs, name,
                                        /*launches=*/nullptr, /*temps=*/nullptr, /*in_place=*/nullptr);
  SmallVector<Type> local;
  for (Value input : inputs)
    local.push_back(types.of(input.getType()));
  SmallVector<Location> locations(inputs.size(), kernel.getLoc());
  Block *body = builder.createBlock(&kernel.getBody(), {}, local, locations);
  IRMapping inside;
  size_t next = 0;
  for (Operation *op : group) {
    // Each outer operand has an argument of its own, so a value mapped by an earlier op must not be reused here.
    Operation *copy = builder.clone(*op, inside);
    for (OpOperand &operand : copy->getOpOperands())
      if (!members.contains(op->getOperand(operand.getOperandNumber()).getDefiningOp()))
        operand.set(body->getArgument(next++));
    for (OpResult result : copy->getResults())
      result.setType(types.of(result.getType()));
  }
  SmallVector<Value> yielded;
  for (Value result : results)
    yielded.push_back(inside.lookup(result));
  train::YieldOp::create(builder, kernel.getLoc(), yielded);
  for (auto [result, output] : llvm::zip_equal(results, kernel.getOutputs()))
    result.replaceAllUsesWith(output);
  for (Operation *op : llvm::reverse(group))
    op->erase();
}

class FusePass : public impl::FusePassBase<FusePass> {
  void runOnOperation() override {
    LocalTypes types(getOperation());
    for (auto graph : getOperation().getOps<GraphOp>()) {
      eraseDead(graph);
      llvm::StringMap<int64_t> used;
      for (const Group &group : groupsOf(graph)) {
        StringRef base = train::nameOf(group.back());
        if (base.empty()) {
          group.back()->emitError("every op of a graph must carry a model name as its location");
          return signalPassFailure();
        }
        int64_t count = ++used[base];
        formKernel(group, count == 1 ? base.str() : (base + "#" + Twine(count)).str(), types);
      }
    }
  }
};

} // namespace
} // namespace recipe
