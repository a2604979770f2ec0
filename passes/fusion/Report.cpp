#include "passes/fusion/Report.h"
#include "dialects/train/Names.h"

using namespace mlir;

namespace recipe::fusion {

void Report::beginGraph(train::GraphOp graph) { lines += ("graph @" + graph.getSymName() + "\n").str(); }

static std::string placeOf(Operation *op) {
  return "'" + op->getName().getStringRef().str() + "' " + train::nameOf(op).str();
}

void Report::missed(Rule rule, Operation *root, Miss kind, StringRef why) {
  Count &count = counts[rule.name().str()];
  std::string &first = kind == Miss::Pattern ? count.nearest : count.refusal;
  if (first.empty())
    first = placeOf(root) + ": " + why.str();
  if (wantsText)
    misses[root].push_back({rule.name().str(), why.str(), kind});
}

void Report::endRules(bool remarks) {
  for (const auto &[root, reasons] : misses)
    for (const Reason &reason : reasons) {
      if (reason.kind == Miss::Pattern && rules.contains(root))
        continue;
      ++counts[reason.rule].missed;
      lines += "  not fused by " + reason.rule + ": " + placeOf(root) + ": " + reason.why + "\n";
      if (remarks)
        root->emitRemark("not fused by ") << reason.rule << ": " << reason.why;
    }
  misses.clear();
}

void Report::region(const Group &group, StringRef kernel) {
  if (group.size() < 2)
    return;
  std::string list;
  for (Operation *op : group)
    for (const std::string &rule : rules.lookup(op)) {
      ++counts[rule].joined;
      list += (list.empty() ? "" : ", ") + rule;
    }
  if (wantsText)
    lines += ("  region " + kernel + ": " + list + "\n").str();
}

std::string Report::text() const {
  if (!wantsText)
    return "";
  std::string table = "rule                             matches  misses\n";
  for (const auto &[rule, count] : counts) {
    std::string row = rule;
    row.resize(std::max<size_t>(row.size() + 1, 32), ' ');
    std::string matches = std::to_string(count.joined), misses = std::to_string(count.missed);
    table += row + std::string(8 - std::min<size_t>(matches.size(), 8), ' ') + matches +
             std::string(8 - std::min<size_t>(misses.size(), 8), ' ') + misses + "\n";
  }
  return table + lines;
}

std::vector<std::string> Report::unmet(ArrayRef<Rule> all) const {
  std::vector<std::string> messages;
  for (const Rule &rule : all) {
    if (!rule.required())
      continue;
    auto found = counts.find(rule.name().str());
    Count count = found == counts.end() ? Count() : found->second;
    if (!count.refusal.empty())
      messages.push_back("rule " + rule.name().str() + " requires every match to be fused, but not at " +
                         count.refusal);
    else if (count.joined == 0)
      messages.push_back("rule " + rule.name().str() + " requires a match, but there is none" +
                         (count.nearest.empty() ? "" : "; nearest at " + count.nearest));
  }
  return messages;
}

} // namespace recipe::fusion
