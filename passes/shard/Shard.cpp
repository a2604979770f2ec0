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
        data(AxisAttr::get(module.getContext(), builder.getStringAttr("data"), 1, 0)) {}

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

  RankedTensorType withLayout(Type type, Attribute layout) {
    auto tensor = cast<RankedTensorType>(type);
    return RankedTensorType::get(tensor.getShape(), tensor.getElementType(), layout);
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
      break;
    }
    variable.setType(withLayout(type, layout));
  }

  LogicalResult layOp(Operation *op) {
    if (auto input = dyn_cast<train::InputOp>(op)) {
      auto type = cast<RankedTensorType>(input.getType());
      SmallVector<DimAttr> dims{DimAttr::get(op->getContext(), {data}, type.getDimSize(0), 0)};
      for (int64_t extent : type.getShape().drop_front())
        dims.push_back(DimAttr::get(op->getContext(), {}, extent, 0));
      input.getResult().setType(withLayout(type, LayoutAttr::get(op->getContext(), mesh, dims, {})));
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
      auto type = cast<RankedTensorType>(value.getType());
      value.setType(withLayout(type, layout ? layout : leafLayout(value)));
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
    auto whole = withLayout(operand.get().getType(), LayoutAttr::get(layout.getContext(), mesh, layout.getDims(), {}));
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
