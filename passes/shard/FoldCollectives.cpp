// Forgets mesh axes of one rank, and with them the layout changes that change nothing.
#include "mlir/IR/AttrTypeSubElements.h"
#include "passes/Passes.h"

using namespace mlir;

namespace recipe {
#define GEN_PASS_DEF_FOLDCOLLECTIVESPASS
#include "passes/Passes.h.inc"
} // namespace recipe

using namespace recipe;
using dist::AxisAttr;
using dist::DimAttr;
using dist::LayoutAttr;

namespace {

struct FoldCollectives : recipe::impl::FoldCollectivesPassBase<FoldCollectives> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    bool known = true;
    AttrTypeReplacer replacer;
    replacer.addReplacement([&](LayoutAttr layout) {
      auto mesh = symbols.lookup<dist::MeshOp>(layout.getMesh().getValue());
      known &= bool(mesh);
      return mesh ? withoutUnitAxes(layout, mesh) : layout;
    });
    replacer.recursivelyReplaceElementsIn(getOperation(), /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
    if (!known) {
      getOperation().emitError("D5: every mesh that a layout names must exist");
      return signalPassFailure();
    }
    getOperation().walk([&](Operation *op) {
      if (op->getName().getDialectNamespace() != "dist" || op->getNumResults() != 1 ||
          op->getOperand(0).getType() != op->getResult(0).getType())
        return;
      op->getResult(0).replaceAllUsesWith(op->getOperand(0));
      op->erase();
      ++folded;
    });
  }

  static LayoutAttr withoutUnitAxes(LayoutAttr layout, dist::MeshOp mesh) {
    // An axis that the mesh lacks has no ranks at all; it stays for the verifier.
    auto matters = [&](AxisAttr axis) { return mesh.axisSize(axis.getName().getValue()) != 1; };
    SmallVector<DimAttr> dims;
    for (DimAttr dim : layout.getDims()) {
      auto axes = llvm::to_vector(llvm::make_filter_range(dim.getAxes(), matters));
      dims.push_back(DimAttr::get(layout.getContext(), axes, dim.getExtent(), axes.empty() ? 0 : dim.getPadding()));
    }
    auto partial = llvm::to_vector(llvm::make_filter_range(layout.getPartial(), matters));
    return LayoutAttr::get(layout.getContext(), layout.getMesh(), dims, partial);
  }
};

} // namespace
