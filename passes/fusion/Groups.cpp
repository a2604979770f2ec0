#include "passes/fusion/Groups.h"
#include "dialects/train/Names.h"
#include "dialects/train/Regions.h"

using namespace mlir;

namespace recipe::fusion {

bool belongsInKernel(Operation &op) {
  auto compute = dyn_cast<train::PrecisionOpInterface>(op);
  return compute && compute.getPrecisionClass() != train::PrecisionClass::Table;
}

static std::string described(Operation *op) {
  StringRef name = train::nameOf(op);
  return "'" + op->getName().getStringRef().str() + "'" + (name.empty() ? "" : " " + name.str());
}

Groups::Groups(train::GraphOp graph) {
  for (auto [index, op] : llvm::enumerate(graph.getBody().front())) {
    place[&op] = int64_t(index);
    if (isa<train::BackwardBeginOp>(op))
      backward = int64_t(index);
    if (!belongsInKernel(op))
      continue;
    number[&op] = groups.size();
    groups.push_back({&op});
  }
}

int64_t Groups::runsAt(Operation *op) const {
  auto found = number.find(op);
  return placeOf(found == number.end() ? op : groups[found->second].back());
}

Operation *Groups::scalarsChange(const Group &together) const {
  if (llvm::all_of(together, [](Operation *op) { return isMemoryEffectFree(op); }))
    return nullptr;
  for (Operation *op = together.front(); op != together.back(); op = op->getNextNode())
    if (belongsInKernel(*op) && hasEffect<MemoryEffects::Write>(op))
      return op;
  return nullptr;
}

std::string Groups::whyNot(const Group &together) const {
  if (std::string why = train::whyNotTogether(together); !why.empty())
    return why;
  int64_t first = placeOf(together.front()), last = placeOf(together.back());
  if (first < backward && backward < last)
    return described(together.front()) + " belongs to forward, " + described(together.back()) + " to backward";
  if (Operation *change = scalarsChange(together))
    return described(change) + " changes the step's scalars in between";
  for (Operation *op : together)
    for (Operation *user : op->getUsers())
      if (!isa<train::WriteOp>(user) && !llvm::is_contained(together, user) && runsAt(user) <= last)
        return "what " + described(op) + " gives is needed by " + described(user) + " before " +
               described(together.back()) + " can run";
  return "";
}

std::string Groups::join(ArrayRef<Operation *> ops) {
  Group together;
  SmallVector<size_t> joined;
  for (Operation *op : ops) {
    auto found = number.find(op);
    if (found == number.end())
      return described(op) + " lies in no kernel";
    if (llvm::is_contained(joined, found->second))
      continue;
    joined.push_back(found->second);
    llvm::append_range(together, groups[found->second]);
  }
  llvm::sort(together, [&](Operation *a, Operation *b) { return placeOf(a) < placeOf(b); });
  if (std::string why = whyNot(together); !why.empty())
    return why;
  for (size_t index : joined)
    groups[index].clear();
  for (Operation *op : together)
    number[op] = joined.front();
  groups[joined.front()] = std::move(together);
  return "";
}

std::vector<Group> Groups::inOrder() const {
  std::vector<Group> order;
  for (const Group &group : groups)
    if (!group.empty())
      order.push_back(group);
  llvm::sort(order, [&](const Group &a, const Group &b) { return placeOf(a.back()) < placeOf(b.back()); });
  return order;
}

} // namespace recipe::fusion
