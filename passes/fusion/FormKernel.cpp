#include "passes/fusion/FormKernel.h"
#include "dialects/train/Names.h"
#include "dialects/train/Regions.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace recipe::fusion {
namespace {

struct Boundary {
  SmallVector<Value> inputs, results;
};

Boundary boundaryOf(const Group &group) {
  llvm::SmallPtrSet<Operation *, 8> members(group.begin(), group.end());
  Operation *anchor = train::anchorOf(group);
  bool alone = group.size() == 1;
  Boundary boundary;
  for (Operation *op : group) {
    for (Value operand : op->getOperands())
      if (!members.contains(operand.getDefiningOp()) && (alone || !llvm::is_contained(boundary.inputs, operand)))
        boundary.inputs.push_back(operand);
    for (OpResult result : op->getResults()) {
      bool outside = llvm::any_of(result.getUsers(), [&](Operation *user) { return !members.contains(user); });
      bool storedByAnchor = op == anchor && result.getResultNumber() != train::anchoredResult(anchor);
      if (alone || outside || storedByAnchor)
        boundary.results.push_back(result);
    }
  }
  return boundary;
}

} // namespace

std::string kernelNameOf(const Group &group) {
  Operation *named = train::anchorOf(group);
  if (!named)
    named = group.front();
  std::string name = train::nameOf(named).str();
  for (Operation *op : group)
    if (op != named && !name.empty())
      name += ("+" + op->getName().stripDialect()).str();
  return name;
}

train::KernelOp formKernel(const Group &group, StringRef name, const LocalTypes &types) {
  Boundary boundary = boundaryOf(group);
  OpBuilder builder(group.back());
  auto kernel = train::KernelOp::create(builder, group.back()->getLoc(), ValueRange(boundary.results).getTypes(),
                                        boundary.inputs, name, /*launches=*/nullptr, /*temps=*/nullptr,
                                        /*in_place=*/nullptr);
  SmallVector<Type> local;
  for (Value input : boundary.inputs)
    local.push_back(types.of(input.getType()));
  SmallVector<Location> locations(boundary.inputs.size(), kernel.getLoc());
  Block *body = builder.createBlock(&kernel.getBody(), {}, local, locations);
  IRMapping inside;
  if (group.size() > 1)
    inside.map(ValueRange(boundary.inputs), body->getArguments());
  for (Operation *op : group) {
    Operation *copy = builder.clone(*op, inside);
    if (group.size() == 1)
      copy->setOperands(body->getArguments());
    for (OpResult result : copy->getResults())
      result.setType(types.of(result.getType()));
  }
  SmallVector<Value> yielded;
  for (Value result : boundary.results)
    yielded.push_back(inside.lookup(result));
  train::YieldOp::create(builder, kernel.getLoc(), yielded);

  // A variable takes its value where the region runs.
  Operation *place = kernel;
  for (Value result : boundary.results)
    for (Operation *user : result.getUsers())
      if (isa<train::WriteOp>(user) && user->isBeforeInBlock(kernel)) {
        user->moveAfter(place);
        place = user;
      }
  for (auto [result, output] : llvm::zip_equal(boundary.results, kernel.getOutputs()))
    result.replaceAllUsesWith(output);
  for (Operation *op : llvm::reverse(group))
    op->erase();
  return kernel;
}

} // namespace recipe::fusion
