#include "passes/fusion/Rules.h"
#include "dialects/train/Train.h"
#include "mlir/Dialect/PDL/IR/PDL.h"
#include "mlir/Parser/Parser.h"
#include "passes/Passes.h"
#include "passes/fusion/rules/DefaultRules.h"

using namespace mlir;

namespace recipe::fusion {

// Of a rule that was checked.
static pdl::ApplyNativeRewriteOp callOf(pdl::PatternOp pattern) {
  return cast<pdl::ApplyNativeRewriteOp>(pattern.getRewriter().getBodyRegion().front().front());
}

pdl::OperationOp Rule::root() const { return callOf(pattern).getArgs()[0].getDefiningOp<pdl::OperationOp>(); }

bool Rule::required() const { return callOf(pattern).getName() == "Require"; }

namespace {

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
      if (constraint.getName() != "Elementwise" || constraint.getArgs().size() != 1 || constraint->getNumResults() != 0)
        return constraint.emitError("a rule has no other constraint than Elementwise(op), got ")
               << constraint.getName();
      return success();
    }
    if (auto result = dyn_cast<pdl::ResultOp>(op))
      return success(); // whose number is checked where it is matched
    if (isa<pdl::OperandOp, pdl::OperandsOp, pdl::TypeOp, pdl::TypesOp, pdl::AttributeOp, pdl::RewriteOp>(op))
      return success();
    return op->emitError("a rule names ops, their operands and attributes, got ") << op->getName();
  }

  LogicalResult checkOperation(pdl::OperationOp operation) {
    std::optional<StringRef> name = operation.getOpName();
    if (!name)
      return success();
    std::optional<RegisteredOperationName> registered = RegisteredOperationName::lookup(*name, operation.getContext());
    if (!registered || !registered->hasInterface<train::PrecisionOpInterface>())
      return operation.emitError("a rule names ops of the train dialect that compute, got ") << *name;
    ArrayRef<StringAttr> known = registered->getAttributeNames();
    for (Attribute attribute : operation.getAttributeValueNames())
      if (!llvm::is_contained(known, attribute))
        return operation.emitError("'") << *name << "' has no attribute " << attribute;
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
  for (auto pattern : module->getOps<pdl::PatternOp>()) {
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
