// Fusion rules: PDLL patterns that name ops which become one kernel region.
//
// A rule's pattern is matched as PDL defines it; its rewrite is the one call `Fuse(last)`, whose argument is the op
// that stands last. What the region's kernel does follows from the ops themselves, so that a rule cannot change a
// value. The patterns are matched here and not by PDL's interpreter because that one does not say why a pattern does
// not match.
#ifndef PASSES_FUSION_RULES_H
#define PASSES_FUSION_RULES_H

#include "mlir/Dialect/PDL/IR/PDLOps.h"
#include "mlir/IR/BuiltinOps.h"
#include <vector>

namespace recipe::fusion {

struct Rule {
  mlir::pdl::PatternOp pattern;
  llvm::StringRef name() const { return *mlir::pdl::PatternOp(pattern).getSymName(); }
  // The op that the match starts from and where the region runs.
  mlir::pdl::OperationOp root() const;
  bool required() const;
};

// Rules in the order in which they are tried, and the modules that hold them.
class RuleSet {
public:
  // Adds the rules of this folder.
  void addDefaults(mlir::MLIRContext *context);

  // Adds the rules of a PDL module as text, in its order. Emits an error and fails where the text is not PDL, or a rule
  // names an op, an attribute, a number of operands, a result, a constraint or a rewrite that does not exist, or says
  // what is not looked at.
  llvm::LogicalResult add(llvm::StringRef text, llvm::StringRef source, mlir::MLIRContext *context);

  std::vector<Rule> rules;

private:
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules;
};

// What a rule says of an op.
struct Match {
  llvm::SmallVector<mlir::Operation *> ops; // of the pattern, in program order; empty: no match
  std::string why;                          // when empty; blank where the rule does not speak of this op at all
};
Match match(Rule rule, mlir::Operation *op);

} // namespace recipe::fusion
#endif
