// A PDL pattern against an op, from the root up through its operands.
#include "dialects/train/Regions.h"
#include "passes/fusion/Rules.h"

using namespace mlir;

namespace recipe::fusion {
namespace {

std::string quoted(StringRef name) { return ("'" + name + "'").str(); }
std::string nameOf(Operation *op) { return quoted(op->getName().getStringRef()); }

class Matcher {
public:
  explicit Matcher(Rule rule) : rule(rule) {}

  Match run(Operation *op) {
    pdl::OperationOp root = rule.root();
    if (!matchOperation(root, op))
      return {{}, why};
    Match found;
    for (auto [pattern, matched] : bound)
      if (!llvm::is_contained(found.ops, matched))
        found.ops.push_back(matched);
    llvm::sort(found.ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    return found;
  }

private:
  // Remembers the reason of the deepest failure, which is the only one as a pattern has no alternatives.
  bool fail(const Twine &reason) {
    why = reason.str();
    return false;
  }

  bool matchOperation(pdl::OperationOp pattern, Operation *op) {
    for (auto [known, matched] : bound)
      if (known == pattern)
        return matched == op || fail("the rule wants one op where there are two");
    if (pattern.getOpName() && *pattern.getOpName() != op->getName().getStringRef())
      return false; // the caller says what was wanted
    if (std::string broken = brokenConstraint(pattern, op); !broken.empty())
      return bound.empty() ? false : fail(broken);
    bound.push_back({pattern, op});
    return matchAttributes(pattern, op) && matchOperands(pattern, op);
  }

  bool matchAttributes(pdl::OperationOp pattern, Operation *op) {
    for (auto [name, value] : llvm::zip(pattern.getAttributeValueNames(), pattern.getAttributeValues())) {
      Attribute wanted = value.getDefiningOp<pdl::AttributeOp>().getValueAttr();
      Attribute found = op->getAttr(cast<StringAttr>(name));
      if (!found)
        return fail(nameOf(op) + " has no " + quoted(cast<StringAttr>(name).getValue()));
      if (wanted && wanted != found) {
        std::string text;
        llvm::raw_string_ostream(text) << name << " of " << nameOf(op) << " must be " << wanted << ", got " << found;
        return fail(text);
      }
    }
    return true;
  }

  bool matchOperands(pdl::OperationOp pattern, Operation *op) {
    unsigned next = 0;
    for (Value wanted : pattern.getOperandValues()) {
      if (isa<pdl::RangeType>(wanted.getType())) {
        next = op->getNumOperands(); // whatever is left
        continue;
      }
      if (next == op->getNumOperands())
        return fail(nameOf(op) + " has " + std::to_string(next) + " operands");
      if (!matchValue(wanted, op->getOperand(next), op, next))
        return false;
      ++next;
    }
    return next == op->getNumOperands() ||
           fail(nameOf(op) + " has " + std::to_string(op->getNumOperands()) + " operands");
  }

  bool matchValue(Value wanted, Value found, Operation *user, unsigned number) {
    for (auto [known, matched] : values)
      if (known == wanted)
        return matched == found || fail("the rule wants one value where there are two");
    values.push_back({wanted, found});
    auto result = wanted.getDefiningOp<pdl::ResultOp>();
    if (!result)
      return true; // any value
    auto source = result.getParent().getDefiningOp<pdl::OperationOp>();
    Operation *op = found.getDefiningOp();
    std::string place = "operand " + std::to_string(number) + " of " + nameOf(user);
    if (!op)
      return fail(place + " is made by no op");
    if (cast<OpResult>(found).getResultNumber() != result.getIndex())
      return fail(place + " is result " + std::to_string(cast<OpResult>(found).getResultNumber()) + " of " +
                  nameOf(op) + ", not " + std::to_string(result.getIndex()));
    if (matchOperation(source, op))
      return true;
    if (why.empty())
      return fail(place + " comes from " + nameOf(op) + ", not from " + quoted(*source.getOpName()));
    return false;
  }

  std::string brokenConstraint(pdl::OperationOp pattern, Operation *op) {
    for (auto constraint : rule.pattern.getBodyRegion().front().getOps<pdl::ApplyNativeConstraintOp>())
      if (constraint.getArgs()[0].getDefiningOp<pdl::OperationOp>() == pattern &&
          train::isElementwise(op) == constraint.getIsNegated())
        return nameOf(op) + " is " + (constraint.getIsNegated() ? "elementwise" : "not elementwise");
    return "";
  }

  Rule rule;
  std::string why;
  SmallVector<std::pair<pdl::OperationOp, Operation *>> bound;
  SmallVector<std::pair<Value, Value>> values;
};

} // namespace

Match match(Rule rule, Operation *op) { return Matcher(rule).run(op); }

} // namespace recipe::fusion
