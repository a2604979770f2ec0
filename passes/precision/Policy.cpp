#include "passes/precision/Policy.h"
#include "dialects/train/Names.h"

using namespace mlir;
using namespace recipe;
using train::PrecisionClass;

namespace recipe::precision {

std::vector<std::string> classNames() {
  std::vector<std::string> names;
  for (uint32_t value = 0; value <= train::getMaxEnumValForPrecisionClass(); ++value)
    // What has no numbers of its own is nobody's choice.
    if (auto symbol = train::symbolizePrecisionClass(value); symbol && *symbol != PrecisionClass::Structural)
      names.push_back(train::stringifyPrecisionClass(*symbol).str());
  return names;
}

bool matchesGlob(StringRef pattern, StringRef text) {
  // The last star, and the text that was left when it was met: where to go back to.
  size_t p = 0, t = 0, star = StringRef::npos, afterStar = 0;
  while (t < text.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || (pattern[p] == text[t] && pattern[p] != '*')))
      ++p, ++t;
    else if (p < pattern.size() && pattern[p] == '*')
      star = p++, afterStar = t;
    else if (star != StringRef::npos)
      p = star + 1, t = ++afterStar;
    else
      return false;
  }
  return pattern.drop_front(p).find_first_not_of('*') == StringRef::npos;
}

// Of the model's op that an op belongs to: "h.0.attn.c_proj" of "h.0.attn.c_proj/drhs".
static StringRef modelName(Operation *op) { return train::nameOf(op).split('/').first; }

static bool isClass(StringRef name) { return llvm::is_contained(classNames(), name); }

static bool matchesSome(ModuleOp module, StringRef glob) {
  auto graph = module.lookupSymbol<train::GraphOp>("train");
  return graph && llvm::any_of(graph.getBody().front(), [&](Operation &op) {
           return isa<train::PrecisionOpInterface>(op) && matchesGlob(glob, modelName(&op));
         });
}

std::vector<std::string> matchNothing(ModuleOp module, ArrayRef<std::string> keep) {
  std::vector<std::string> useless;
  for (const std::string &name : keep)
    if (!isClass(name) && !matchesSome(module, name))
      useless.push_back(name);
  return useless;
}

static void forEachParameter(Operation *op, llvm::function_ref<void(StringAttr)> visit) {
  for (Value operand : op->getOperands())
    if (auto read = operand.getDefiningOp<train::ReadOp>())
      visit(read.getVariableAttr().getAttr());
}

Policy::Policy(ModuleOp module, ArrayRef<std::string> keep) {
  for (const std::string &name : keep) {
    if (isClass(name))
      classes.push_back(*train::symbolizePrecisionClass(name));
    else
      globs.push_back(name);
  }
  for (auto graph : module.getOps<train::GraphOp>())
    for (Operation &op : graph.getBody().front())
      if (isNamed(&op))
        forEachParameter(&op, [&](StringAttr name) { parameters.insert(name); });
}

bool Policy::isNamed(Operation *op) const {
  return isa<train::PrecisionOpInterface>(op) &&
         llvm::any_of(globs, [&](const std::string &glob) { return matchesGlob(glob, modelName(op)); });
}

bool Policy::isKept(Operation *op) const {
  auto compute = cast<train::PrecisionOpInterface>(op);
  bool kept = llvm::is_contained(classes, compute.getPrecisionClass()) || isNamed(op);
  forEachParameter(op, [&](StringAttr name) { kept |= parameters.contains(name); });
  return kept;
}

} // namespace recipe::precision
