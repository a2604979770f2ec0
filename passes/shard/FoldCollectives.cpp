// Removes layout changes over one rank.
#include "passes/Passes.h"

using namespace mlir;

namespace recipe {
#define GEN_PASS_DEF_FOLDCOLLECTIVESPASS
#include "passes/Passes.h.inc"
} // namespace recipe

using namespace recipe;

// Ranks over all axes that the layout uses anywhere.
static int64_t ranksOf(dist::LayoutAttr layout, dist::MeshOp mesh) {
  int64_t ranks = 1;
  auto count = [&](ArrayRef<dist::AxisAttr> axes) {
    for (dist::AxisAttr axis : axes)
      ranks *= axis.getSize() ? axis.getSize() : mesh.axisSize(axis.getName().getValue());
  };
  for (dist::DimAttr dim : layout.getDims())
    count(dim.getAxes());
  count(layout.getPartial());
  return ranks;
}

namespace {
struct FoldCollectives : recipe::impl::FoldCollectivesPassBase<FoldCollectives> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    getOperation().walk([&](Operation *op) {
      if (!isa<dist::AllReduceOp, dist::ReduceScatterOp, dist::AllGatherOp, dist::SliceOp, dist::AllToAllOp>(op))
        return;
      dist::LayoutAttr from = dist::layoutOf(op->getOperand(0).getType()), to = dist::layoutOf(op->getResult(0).getType());
      auto mesh = symbols.lookup<dist::MeshOp>(from.getMesh().getValue());
      if (ranksOf(from, mesh) != 1 || ranksOf(to, mesh) != 1)
        return;
      op->getResult(0).replaceAllUsesWith(op->getOperand(0));
      op->erase();
    });
  }
};
} // namespace
