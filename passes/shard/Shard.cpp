// Layout assignment for data parallelism. Tensor types keep their shape and gain a layout; see Passes.td.
#include "dialects/train/Shapes.h"
#include "passes/Passes.h"

using namespace mlir;

namespace recipe {
#define GEN_PASS_DEF_SHARDPASS
#include "passes/Passes.h.inc"
} // namespace recipe

using namespace recipe;
using dist::AxisAttr;
using dist::DimAttr;
using dist::LayoutAttr;

namespace {

class Sharder {
public:
  Sharder(ModuleOp module, dist::MeshOp mesh)
      : module(module), symbols(module), mesh(FlatSymbolRefAttr::get(mesh)), builder(module.getContext()),
        data(AxisAttr::get(module.getContext(), builder.getStringAttr("data"), 1, 0)),
        dataRanks(mesh.axisSize("data")) {}

  LogicalResult run() {
    for (auto variable : module.getOps<train::VariableOp>())
      layVariable(variable);
    for (auto graph : module.getOps<train::GraphOp>())
      for (Operation &op : llvm::make_early_inc_range(graph.getBody().front()))
        if (failed(layOp(&op)))
          return failure();
    return success();
  }

private:
  ModuleOp module;
  SymbolTable symbols;
  FlatSymbolRefAttr mesh;
  OpBuilder builder;
  AxisAttr data;
  int64_t dataRanks;

  // `type` has the shape of one rank's part. A dimension split over the data axis is what its ranks have together.
  RankedTensorType withLayout(Type type, LayoutAttr layout) {
    auto tensor = cast<RankedTensorType>(type);
    SmallVector<int64_t> shape(tensor.getShape());
    SmallVector<DimAttr> dims;
    for (auto [extent, dim] : llvm::zip_equal(shape, layout.getDims())) {
      if (llvm::is_contained(dim.getAxes(), data))
        extent *= dataRanks;
      dims.push_back(DimAttr::get(layout.getContext(), dim.getAxes(), extent, 0));
    }
    return RankedTensorType::get(shape, tensor.getElementType(),
                                 LayoutAttr::get(layout.getContext(), mesh, dims, layout.getPartial()));
  }

  // Whole on every rank; sums over tokens are Partial over the data axis until the update reduces them.
  void layVariable(train::VariableOp variable) {
    auto type = cast<RankedTensorType>(variable.getType());
    LayoutAttr layout = LayoutAttr::replicated(mesh, type.getShape());
    switch (variable.getRole()) {
    case train::Role::Gradient:
    case train::Role::Pending:
    case train::Role::Loss:
      layout = LayoutAttr::get(layout.getContext(), mesh, layout.getDims(), {data});
      break;
    case train::Role::Parameter:
    case train::Role::AdamM:
    case train::Role::AdamV:
    case train::Role::Output:
    case train::Role::Working:
      break;
    }
    variable.setType(withLayout(type, layout));
  }

  // Samples are split, except in evaluation, which each rank runs by itself on a batch of its own.
  void layInput(train::InputOp input) {
    auto type = cast<RankedTensorType>(input.getType());
    LayoutAttr layout = LayoutAttr::replicated(mesh, type.getShape());
    if (input->getParentOfType<train::GraphOp>().getSymName() != "eval") {
      SmallVector<DimAttr> dims(layout.getDims());
      dims[0] = DimAttr::get(input.getContext(), {data}, dims[0].getExtent(), 0);
      layout = LayoutAttr::get(input.getContext(), mesh, dims, {});
    }
    input.getResult().setType(withLayout(type, layout));
  }

  LogicalResult layOp(Operation *op) {
    if (auto input = dyn_cast<train::InputOp>(op)) {
      layInput(input);
      return success();
    }
    if (auto read = dyn_cast<train::ReadOp>(op)) {
      auto variable = symbols.lookup<train::VariableOp>(read.getVariable());
      read.getResult().setType(cast<RankedTensorType>(variable.getType()));
      return success();
    }
    if (auto write = dyn_cast<train::WriteOp>(op))
      return layWrite(write);
    auto rule = dyn_cast<train::LayoutRuleOpInterface>(op);
    if (!rule)
      return success();
    if (needsWholeValues(op))
      for (OpOperand &operand : op->getOpOperands())
        reduce(operand);
    SmallVector<Attribute> operands, results;
    for (Type type : op->getOperandTypes())
      operands.push_back(dist::layoutOf(type));
    if (failed(rule.inferLayouts(operands, results)))
      return failure();
    for (auto [value, layout] : llvm::zip(op->getResults(), results)) {
      value.setType(withLayout(value.getType(), layout ? cast<LayoutAttr>(layout) : leafLayout(value)));
    }
    return success();
  }

  // A value without operands takes the layout of the variable it fills.
  LayoutAttr leafLayout(Value value) {
    for (Operation *user : value.getUsers())
      if (auto write = dyn_cast<train::WriteOp>(user))
        if (auto variable = symbols.lookup<train::VariableOp>(write.getVariable()))
          return dist::layoutOf(variable.getType());
    return LayoutAttr::replicated(mesh, train::shapeOf(value));
  }

  // The optimizer's ops read finished sums; token sums and the batch tree stay Partial.
  static bool needsWholeValues(Operation *op) {
    return isa<train::PositionSumOp, train::StepLossOp, train::GradNormOp, train::AdamwOp>(op) ||
           (isa<train::AddOp>(op) && op->getParentOfType<train::GraphOp>().getSymName() == "update");
  }

  void reduce(OpOperand &operand) {
    LayoutAttr layout = dist::layoutOf(operand.get().getType());
    if (!layout || !layout.isPartial())
      return;
    // One reduction per value, directly before its first such user.
    for (Operation *user : operand.get().getUsers())
      if (auto done = dyn_cast<dist::AllReduceOp>(user)) {
        operand.set(done.getResult());
        return;
      }
    builder.setInsertionPoint(operand.getOwner());
    auto partial = cast<RankedTensorType>(operand.get().getType());
    auto whole = RankedTensorType::get(partial.getShape(), partial.getElementType(),
                                       LayoutAttr::get(layout.getContext(), mesh, layout.getDims(), {}));
    operand.set(dist::AllReduceOp::create(builder, operand.getOwner()->getLoc(), whole, operand.get()));
  }

  LogicalResult layWrite(train::WriteOp write) {
    auto variable = symbols.lookup<train::VariableOp>(write.getVariable());
    LayoutAttr want = dist::layoutOf(variable.getType()), got = dist::layoutOf(write.getValue().getType());
    if (want == got)
      return success();
    return write.emitOpError("D10: a variable is read and written as it is laid out, got: ") << got << " for " << want;
  }
};

struct Shard : recipe::impl::ShardPassBase<Shard> {
  using ShardPassBase::ShardPassBase;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    OpBuilder builder(module.getBodyRegion());
    auto mesh = dist::MeshOp::create(builder, module.getLoc(), builder.getStringAttr("mesh"),
                                     builder.getStrArrayAttr({"data"}), builder.getDenseI64ArrayAttr({dataRanks}));
    if (failed(Sharder(module, mesh).run()))
      signalPassFailure();
  }
};

} // namespace
