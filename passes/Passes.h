// Constructors of all passes; passes/Passes.td says what each requires and ensures.
#ifndef PASSES_PASSES_H
#define PASSES_PASSES_H

#include "dialects/dist/Dist.h"
#include "dialects/step/Step.h"
#include "dialects/step/TargetInfo.h"
#include "dialects/train/Train.h"
#include "mlir/Dialect/PDL/IR/PDL.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include <memory>

namespace recipe {
#define GEN_PASS_DECL
#include "passes/Passes.h.inc"

// With a target other than the default one.
std::unique_ptr<mlir::Pass> createSelectKernelsPass(const step::TargetInfo &target);

struct RecomputeReport {
  bool wantsText = true;
  std::string text; // each value that crosses from forward to backward: kept or replayed, and why
};
std::unique_ptr<mlir::Pass> createRecomputePass(const RecomputePassOptions &options, RecomputeReport *report);

// A PDL module with fusion rules, as text.
struct FusionRules {
  std::string source, text;
};
// Emits an error and fails where rules are unsound (passes/fusion/Rules.h).
llvm::LogicalResult checkFusionRules(mlir::MLIRContext *context, llvm::ArrayRef<FusionRules> rules);

struct FusionReport {
  bool wantsText = true;
  std::string text;               // what was fused, and why the rest was not
  std::vector<std::string> unmet; // of rules that are required
};
// The user's rules, which must be sound, are tried before the default ones.
std::unique_ptr<mlir::Pass> createFusePass(const FusePassOptions &options, std::vector<FusionRules> userRules,
                                           FusionReport *report);

#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"
} // namespace recipe

#endif
