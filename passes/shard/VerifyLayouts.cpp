// The layout verifier as a pass, for tests and for looking at a dump.
#include "dialects/train/Layouts.h"
#include "passes/Passes.h"

using namespace mlir;

namespace recipe {
#define GEN_PASS_DEF_VERIFYLAYOUTSPASS
#include "passes/Passes.h.inc"
} // namespace recipe

namespace {
struct VerifyLayouts : recipe::impl::VerifyLayoutsPassBase<VerifyLayouts> {
  using VerifyLayoutsPassBase::VerifyLayoutsPassBase;
  void runOnOperation() override {
    if (failed(recipe::train::verifyLayouts(getOperation(), requireLayouts)))
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
