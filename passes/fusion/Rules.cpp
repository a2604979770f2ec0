#include "passes/fusion/Rules.h"
#include "dialects/train/Train.h"
#include "mlir/Dialect/PDL/IR/PDL.h"
#include "mlir/Parser/Parser.h"
#include "passes/Passes.h"
#include "passes/fusion/rules/DefaultRules.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace recipe::fusion {

// Of a rule that was checked.
static pdl::ApplyNativeRewriteOp callOf(pdl::PatternOp pattern) {
  return cast<pdl::ApplyNativeRewriteOp>(pattern.getRewriter().getBodyRegion().front().front());
}

pdl::OperationOp Rule::root() const { return callOf(pattern).getArgs()[0].getDefiningOp<pdl::OperationOp>(); }

bool Rule::required() const { return callOf(pattern).getName() == "Require"; }

namespace {

// Of operands or results, as an op's traits tell.
struct Count {
  unsigned least = 0;
  bool exact = false;

  bool allows(unsigned found) const { return exact ? found == least : found >= least; }
  std::string text(StringRef noun) const {
    return (exact ? "" : "at least ") + std::to_string(least) + " " + noun.str() + (least == 1 ? "" : "s");
  }
};

template <template <typename> class Zero, template <typename> class One, template <unsigned> class Exactly,
          template <unsigned> class AtLeast, unsigned... N>
Count countOf(RegisteredOperationName op, std::integer_sequence<unsigned, N...>) {
  if (op.hasTrait<Zero>())
    return {0, true};
  if (op.hasTrait<One>())
    return {1, true};
  Count count;
  ((op.hasTrait<Exactly<N + 2>::template Impl>() ? void(count = {N + 2, true}) : void()), ...);
  ((op.hasTrait<AtLeast<N + 1>::template Impl>() ? void(count = {N + 1, false}) : void()), ...);
  return count;
}

using UpToTwelve = std::make_integer_sequence<unsigned, 11>; // more than any op has

Count operandsOf(RegisteredOperationName op) {
  return countOf<OpTrait::ZeroOperands, OpTrait::OneOperand, OpTrait::NOperands, OpTrait::AtLeastNOperands>(
      op, UpToTwelve());
}

Count resultsOf(RegisteredOperationName op) {
  return countOf<OpTrait::ZeroResults, OpTrait::OneResult, OpTrait::NResults, OpTrait::AtLeastNResults>(op,
                                                                                                        UpToTwelve());
}

// Everything that PDL lets pass in silence: a misspelt op never matches, an unknown constraint never fails.
class RuleCheck {
public:
  explicit RuleCheck(pdl::PatternOp pattern) : pattern(pattern) {}

  LogicalResult run() {
    if (!pattern.getSymName())
      return pattern.emitError("a rule must have a name");
    for (Operation &op : pattern.getBodyRegion().front())
      if (failed(check(&op)))
        return failure();
    return checkRewrite();
  }

private:
  LogicalResult check(Operation *op) {
    if (auto operation = dyn_cast<pdl::OperationOp>(op))
      return checkOperation(operation);
    if (auto constraint = dyn_cast<pdl::ApplyNativeConstraintOp>(op)) {
      if (constraint.getName() != "Elementwise" || constraint.getArgs().size() != 1 ||
          !isa<pdl::OperationType>(constraint.getArgs()[0].getType()) || constraint->getNumResults() != 0)
        return constraint.emitError("a rule has no other constraint than Elementwise(op), got ")
               << constraint.getName() << (constraint.getName() == "Elementwise" ? " of something else" : "");
      return success();
    }
    if (auto result = dyn_cast<pdl::ResultOp>(op))
      return checkResult(result);
    auto types = dyn_cast<pdl::TypesOp>(op);
    if (isa<pdl::TypeOp>(op) || (types && types.getConstantTypes()))
      return op->emitError("a rule must leave types open");
    auto attribute = dyn_cast<pdl::AttributeOp>(op);
    if (types || isa<pdl::OperandsOp>(op) || (attribute && !attribute.getValueAttr()))
      if (!op->use_empty() && !op->hasOneUse())
        return op->emitError("only ops and single operands of a rule may be used twice");
    if (types || attribute || isa<pdl::OperandOp, pdl::OperandsOp, pdl::RewriteOp>(op))
      return success();
    return op->emitError("a rule names ops, their operands and attributes, got ") << op->getName();
  }

  LogicalResult checkOperation(pdl::OperationOp operation) {
    std::optional<StringRef> name = operation.getOpName();
    if (!name)
      return checkOperands(operation, Count());
    std::optional<RegisteredOperationName> registered = RegisteredOperationName::lookup(*name, operation.getContext());
    if (!registered || !registered->hasInterface<train::PrecisionOpInterface>())
      return operation.emitError("a rule names ops of the train dialect that compute, got ") << *name;
    ArrayRef<StringAttr> known = registered->getAttributeNames();
    for (Attribute attribute : operation.getAttributeValueNames())
      if (!llvm::is_contained(known, attribute))
        return operation.emitError("'") << *name << "' has no attribute " << attribute;
    return checkOperands(operation, operandsOf(*registered));
  }

  static bool isRange(Value value) { return isa<pdl::RangeType>(value.getType()); }

  LogicalResult checkOperands(pdl::OperationOp operation, Count known) {
    OperandRange operands = operation.getOperandValues();
    auto single = unsigned(llvm::count_if(operands, [](Value value) { return !isRange(value); }));
    bool open = single < operands.size();
    if (open && (single + 1 < operands.size() || !isRange(operands.back())))
      return operation.emitError("a range of operands must be the last operand");
    if (open ? known.exact && single > known.least : !known.allows(single))
      return operation.emitError("'") << *operation.getOpName() << "' has " << known.text("operand") << ", got "
                                      << single;
    return success();
  }

  LogicalResult checkResult(pdl::ResultOp result) {
    std::optional<StringRef> name = result.getParent().getDefiningOp<pdl::OperationOp>().getOpName();
    std::optional<RegisteredOperationName> registered =
        name ? RegisteredOperationName::lookup(*name, result.getContext()) : std::nullopt;
    if (!registered)
      return success(); // any op
    Count known = resultsOf(*registered);
    if (known.exact && result.getIndex() >= known.least)
      return result.emitError("'") << *name << "' has " << known.text("result") << ", counted from 0, got number "
                                   << result.getIndex();
    return success();
  }

  LogicalResult checkRewrite() {
    pdl::RewriteOp rewrite = pattern.getRewriter();
    Region &body = rewrite.getBodyRegion();
    auto call = body.empty() ? nullptr : dyn_cast<pdl::ApplyNativeRewriteOp>(&body.front().front());
    bool one = call && body.front().getOperations().size() == 1 && call.getArgs().size() == 1;
    if (!one || (call.getName() != "Fuse" && call.getName() != "Require") ||
        !call.getArgs()[0].getDefiningOp<pdl::OperationOp>())
      return pattern.emitError("the rewrite of a rule must be Fuse(op) or Require(op) and nothing else");
    return checkLast(call.getArgs()[0].getDefiningOp<pdl::OperationOp>(), call.getName());
  }

  // The match goes up from the last op: it would never come to an op that does not lead there.
  LogicalResult checkLast(pdl::OperationOp last, StringRef call) {
    llvm::SmallSetVector<Operation *, 8> reached;
    reached.insert(last);
    for (size_t i = 0; i < reached.size(); ++i)
      for (Value operand : cast<pdl::OperationOp>(reached[i]).getOperandValues())
        if (auto result = operand.getDefiningOp<pdl::ResultOp>())
          reached.insert(result.getParent().getDefiningOp());
    for (auto operation : pattern.getBodyRegion().front().getOps<pdl::OperationOp>())
      if (!reached.contains(operation))
        return operation.emitError("every op of a rule must lead to the one that ")
               << call << " names, but this one does not";
    if (reached.size() < 2)
      return pattern.emitError("a rule must name at least two ops");
    return success();
  }

  pdl::PatternOp pattern;
};

} // namespace

LogicalResult RuleSet::add(StringRef text, StringRef source, MLIRContext *context) {
  context->loadDialect<pdl::PDLDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, ParserConfig(context), source);
  if (!module)
    return failure();
  bool good = true;
  if (module->getBody()->empty())
    return emitError(FileLineColLoc::get(context, source, 1, 1), "a file of rules must have a pattern, found none");
  for (Operation &op : *module->getBody()) {
    auto pattern = dyn_cast<pdl::PatternOp>(op);
    if (!pattern) {
      op.emitError("a file of rules has patterns and nothing else, got ") << op.getName();
      good = false;
      continue;
    }
    good &= succeeded(RuleCheck(pattern).run());
    rules.push_back({pattern});
  }
  modules.push_back(std::move(module));
  return success(good);
}

void RuleSet::addDefaults(MLIRContext *context) {
  for (const DefaultRules &file : kDefaultRules) {
    [[maybe_unused]] LogicalResult good = add(file.text, file.name, context);
    assert(succeeded(good) && "the default rules are sound");
  }
}

} // namespace recipe::fusion

namespace recipe {

LogicalResult checkFusionRules(MLIRContext *context, ArrayRef<FusionRules> rules) {
  fusion::RuleSet set;
  bool good = true;
  for (const FusionRules &file : rules)
    good &= succeeded(set.add(file.text, file.source, context));
  return success(good);
}

} // namespace recipe
