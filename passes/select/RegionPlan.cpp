// From the rules of ops to the plan of a region.
#include "dialects/train/Regions.h"
#include "passes/select/GemmLaunch.h"
#include "passes/select/LaneProgram.h"

using namespace mlir;
using recipe::step::ArgumentKind;

namespace recipe::select {
namespace {

KernelRule findRule(StringRef op) {
  for (ArrayRef<NamedKernelRule> rules :
       {elementwiseRules(), rowRules(), contractRules(), attentionRules(), lossRules(), updateRules()})
    for (const NamedKernelRule &rule : rules)
      if (rule.op == op)
        return rule.rule;
  return nullptr;
}

// From the numbers of an anchor's operands and results to those of its region. A result that the region does not give
// has none.
class AnchorNumbers {
public:
  explicit AnchorNumbers(Operation *anchor) {
    for (Value operand : anchor->getOperands())
      operands.push_back(cast<BlockArgument>(operand).getArgNumber());
    Operation *yield = anchor->getBlock()->getTerminator();
    for (Value result : anchor->getResults()) {
      auto found = llvm::find(yield->getOperands(), result);
      results.push_back(found == yield->getOperands().end() ? -1 : int64_t(found.getIndex()));
    }
  }

  void renumber(KernelPlan &plan) const {
    for (Launch &launch : plan.launches)
      for (Argument &argument : launch.arguments)
        if (argument.kind != ArgumentKind::Temp)
          argument.index = (argument.kind == ArgumentKind::Operand ? operands : results)[argument.index];
    for (auto &[result, operand] : plan.inPlace)
      result = results[result], operand = operands[operand];
  }

private:
  SmallVector<int64_t> operands, results;
};

// The results of the elementwise ops may lie where the anchor's could, and over what only they read: an element is read
// before it is stored.
void shareStorage(Operation *anchor, const LaneProgram &program, ArrayRef<int64_t> overwritten, KernelPlan &plan) {
  auto readByAnchor = [&](int64_t operand) {
    return llvm::is_contained(anchor->getOperands(), anchor->getBlock()->getArgument(unsigned(operand)));
  };
  for (const Argument &result : program.results)
    for (int64_t operand : overwritten)
      if (anchor->getBlock()->getArgument(unsigned(operand)).getType() ==
          anchor->getBlock()->getTerminator()->getOperand(unsigned(result.index)).getType())
        plan.inPlace.push_back({result.index, operand});
  for (auto [result, operand] : program.inPlace)
    if (!readByAnchor(operand))
      plan.inPlace.push_back({result, operand});
}

// An anchor's plan, its last launch extended by the elementwise ops.
LogicalResult planAnchored(Operation *anchor, KernelRule rule, const step::TargetInfo &target, KernelPlan &plan) {
  if (failed(rule(anchor, target, plan)))
    return failure();
  unsigned taken = *train::anchoredResult(anchor);
  Launch &last = plan.launches.back();
  assert(last.arguments.back().kind == ArgumentKind::Result && last.arguments.back().index == taken &&
         "an anchor's last launch ends with the result that is taken over");
  SmallVector<int64_t> overwritten;
  for (auto [result, operand] : plan.inPlace)
    if (result == taken)
      overwritten.push_back(cast<BlockArgument>(anchor->getOperand(operand)).getArgNumber());
  llvm::erase_if(plan.inPlace, [&](auto &pair) { return pair.first == taken; });
  AnchorNumbers(anchor).renumber(plan);

  LaneProgram program = laneProgramOf(*anchor->getBlock(), anchor);
  addEpilogue(last, program, anchor->getContext());
  if (isa<train::ContractOp>(anchor))
    addGemmStage(last, anchor->getContext());
  shareStorage(anchor, program, overwritten, plan);
  return success();
}

} // namespace

LogicalResult planRegion(train::KernelOp region, const step::TargetInfo &target, KernelPlan &plan) {
  SmallVector<Operation *> ops;
  for (Operation &op : region.getBody().front().without_terminator())
    ops.push_back(&op);
  if (ops.empty())
    return region.emitError("no kernel rule covers an empty region");
  Operation *anchor = train::anchorOf(ops), *first = anchor ? anchor : ops.front();
  KernelRule rule = findRule(first->getName().getStringRef());
  if (!rule)
    return first->emitError("no kernel rule covers this op");
  return ops.size() > 1 && anchor ? planAnchored(anchor, rule, target, plan) : rule(first, target, plan);
}

} // namespace recipe::select
