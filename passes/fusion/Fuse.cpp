// Groups the ops of each graph into kernel regions: rules in the order of their files, each at every op.
#include "dialects/train/Names.h"
#include "mlir/Dialect/PDL/IR/PDL.h"
#include "passes/LocalTypes.h"
#include "passes/Passes.h"
#include "passes/fusion/FormKernel.h"
#include "passes/fusion/Report.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace recipe {
#define GEN_PASS_DEF_FUSEPASS
#include "passes/Passes.h.inc"

namespace {
using namespace fusion;
using train::GraphOp;

void eraseDead(GraphOp graph) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(graph.getBody().front())))
    if (belongsInKernel(op) && op.use_empty() && isMemoryEffectFree(&op))
      op.erase();
}

class FusePass : public impl::FusePassBase<FusePass> {
public:
  using FusePassBase::FusePassBase;
  FusePass(const FusePassOptions &options, std::vector<FusionRules> userRules, FusionReport *report)
      : FusePassBase(options), userRules(std::move(userRules)), reportTo(report) {}

private:
  void runOnOperation() override {
    Report report(remarks || (reportTo && reportTo->wantsText));
    LocalTypes types(getOperation());
    RuleSet rules;
    if (enabled) {
      for (const FusionRules &file : userRules)
        if (failed(rules.add(file.text, file.source, &getContext())))
          return signalPassFailure();
      rules.addDefaults(&getContext());
    }
    for (auto graph : getOperation().getOps<GraphOp>())
      if (failed(fuse(graph, rules, types, report)))
        return signalPassFailure();
    if (reportTo)
      *reportTo = {reportTo->wantsText, report.text(), report.unmet(rules.rules)};
  }

  LogicalResult fuse(GraphOp graph, const RuleSet &rules, const LocalTypes &types, Report &report) {
    eraseDead(graph);
    for (Operation &op : graph.getBody().front())
      if (belongsInKernel(op) && train::nameOf(&op).empty())
        return op.emitError("every op of a graph must carry a model name as its location");
    report.beginGraph(graph);
    Groups groups(graph);
    for (Rule rule : rules.rules)
      for (Operation &op : graph.getBody().front())
        if (belongsInKernel(op))
          apply(rule, &op, groups, report);
    report.endRules(remarks);
    llvm::StringMap<int64_t> used;
    for (const Group &group : groups.inOrder()) {
      std::string base = kernelNameOf(group);
      int64_t count = ++used[base];
      std::string name = count == 1 ? base : base + "#" + std::to_string(count);
      report.region(group, name);
      formKernel(group, name, types);
    }
    return success();
  }

  void apply(Rule rule, Operation *root, Groups &groups, Report &report) {
    Match found = match(rule, root);
    if (found.ops.empty() && found.why.empty())
      return;
    std::string why = found.why;
    bool matched = !found.ops.empty();
    if (matched) {
      const Group &own = groups.of(found.ops.front());
      if (llvm::all_of(found.ops, [&](Operation *op) { return llvm::is_contained(own, op); }))
        return; // by an earlier rule
      why = groups.join(found.ops);
    }
    if (why.empty())
      return report.joined(rule, root);
    report.missed(rule, root, matched ? Report::Miss::Refused : Report::Miss::Pattern, why);
  }

  std::vector<FusionRules> userRules;
  FusionReport *reportTo = nullptr;
};

} // namespace

std::unique_ptr<Pass> createFusePass(const FusePassOptions &options, std::vector<FusionRules> userRules,
                                     FusionReport *report) {
  return std::make_unique<FusePass>(options, std::move(userRules), report);
}

} // namespace recipe
