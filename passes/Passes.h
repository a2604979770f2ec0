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

// `report` takes what was fused and why the rest was not.
std::unique_ptr<mlir::Pass> createFusePass(const FusePassOptions &options, std::string *report);

#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"
} // namespace recipe

#endif
