// What fusion did and what it did not, with reasons: a text for people.
#ifndef PASSES_FUSION_REPORT_H
#define PASSES_FUSION_REPORT_H

#include "passes/fusion/Groups.h"
#include "passes/fusion/Rules.h"
#include "llvm/ADT/MapVector.h"

namespace recipe::fusion {

class Report {
public:
  // Without text only what `unmet` needs is kept: a deep model has many misses.
  explicit Report(bool wantsText) : wantsText(wantsText) {}
  void beginGraph(train::GraphOp graph);
  // Once all rules were tried at each op, before regions are formed. `remarks`: misses, of the text, become
  // diagnostics.
  void endRules(bool remarks);
  // The rule joined the ops, of which `root` is the last.
  void joined(Rule rule, mlir::Operation *root) { rules[root].push_back(rule.name().str()); }
  // The rule speaks of `root` and did not join anything: its pattern does not match, or the match was refused. A
  // pattern that does not match is not reported where another rule joined the op.
  enum class Miss { Pattern, Refused };
  void missed(Rule rule, mlir::Operation *root, Miss kind, llvm::StringRef why);
  // Before the region is formed; `kernel` is its name.
  void region(const Group &group, llvm::StringRef kernel);
  // Once all graphs are done.
  std::string text() const;
  // One message for each required rule that did not match, or whose match was refused.
  std::vector<std::string> unmet(llvm::ArrayRef<Rule> all) const;

private:
  struct Count {
    int64_t joined = 0, missed = 0;
    std::string refusal; // the first
    std::string nearest; // the first reason of a pattern that does not match
  };
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<std::string>> rules; // that joined the ops
  struct Reason {
    std::string rule, why;
    Miss kind;
  };
  llvm::MapVector<mlir::Operation *, llvm::SmallVector<Reason>> misses;
  llvm::MapVector<std::string, Count, std::map<std::string, unsigned>> counts;
  std::string lines;
  bool wantsText;
};

} // namespace recipe::fusion
#endif
