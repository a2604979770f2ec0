// Elementwise ops: one launch over all elements, by rows where an operand has one value per channel.
#include "mlir/IR/Builders.h"
#include "passes/select/LaunchCost.h"
#include "runtime/abi/AllReduceSchedule.h"

using namespace mlir;

namespace recipe::select {
namespace {

// 64 KiB of each operand: enough work to hide the cost of handing out a workgroup.
constexpr int64_t kGrain = 16384;

int64_t elementsOf(Value value) { return cast<RankedTensorType>(value.getType()).getNumElements(); }

struct Described {
  DictionaryAttr attributes;    // what the code depends on
  SmallVector<int64_t> scalars; // what only the launch depends on
};

// Names and hashes differ between layers, so they are launch scalars: all layers share one kernel.
Described describe(Operation *op) {
  Builder builder(op->getContext());
  Described described{builder.getDictionaryAttr({}), {}};
  if (auto dropout = dyn_cast<train::DropoutOp>(op)) {
    described.attributes = builder.getDictionaryAttr(builder.getNamedAttr("p", dropout.getPAttr()));
    ArrayRef<int64_t> shape = cast<RankedTensorType>(dropout.getX().getType()).getShape();
    described.scalars = {int64_t(dropout.getDropoutId()), elementsOf(dropout.getX()) / shape[0]};
  } else if (auto fill = dyn_cast<train::FillOp>(op)) {
    described.attributes = builder.getDictionaryAttr(builder.getNamedAttr("value", fill.getValueAttr()));
  } else if (auto normal = dyn_cast<train::InitNormalOp>(op)) {
    described.attributes = builder.getDictionaryAttr(builder.getNamedAttr("stddev", normal.getStddevAttr()));
    described.scalars = {int64_t(normal.getKey())};
  } else if (auto adamw = dyn_cast<train::AdamwOp>(op)) {
    described.attributes = builder.getDictionaryAttr(
        {builder.getNamedAttr("beta1", adamw.getBeta1Attr()), builder.getNamedAttr("beta2", adamw.getBeta2Attr()),
         builder.getNamedAttr("eps", adamw.getEpsAttr()),
         builder.getNamedAttr("weight_decay", adamw.getWeightDecayAttr())});
  }
  return described;
}

LogicalResult elementwiseRule(Operation *op, const step::TargetInfo &, KernelPlan &plan) {
  Builder builder(op->getContext());
  Launch launch;
  launch.family = "elementwise";
  int64_t elements = elementsOf(op->getResult(0));
  SmallVector<int64_t> access, operands, results;
  int64_t channels = 0;
  for (OpOperand &operand : op->getOpOperands()) {
    bool perChannel = isa<train::BiasAddOp>(op) && operand.getOperandNumber() == 1;
    if (perChannel)
      channels = elementsOf(operand.get());
    access.push_back(perChannel);
    operands.push_back(operand.getOperandNumber());
    launch.arguments.push_back({step::ArgumentKind::Operand, operand.getOperandNumber()});
  }
  for (OpResult result : op->getResults()) {
    results.push_back(int64_t(access.size()) + result.getResultNumber());
    launch.arguments.push_back({step::ArgumentKind::Result, result.getResultNumber()});
    for (auto [input, perChannel] : llvm::enumerate(access))
      if (!perChannel)
        plan.inPlace.push_back({result.getResultNumber(), int64_t(input)});
  }
  Described described = describe(op);
  if (channels) {
    int64_t rows = elements / channels, rowsPerGroup = std::max<int64_t>(1, kGrain / channels);
    launch.scalars = {rows, channels, rowsPerGroup};
    launch.workgroups = llvm::divideCeil(rows, rowsPerGroup);
  } else {
    launch.scalars = {elements};
    launch.workgroups = llvm::divideCeil(elements, kGrain);
    launch.spec.push_back(builder.getNamedAttr("grain", builder.getI64IntegerAttr(kGrain)));
  }
  launch.scalars.append(described.scalars);
  auto step =
      builder.getDictionaryAttr({builder.getNamedAttr("op", builder.getStringAttr(op->getName().getStringRef())),
                                 builder.getNamedAttr("operands", builder.getDenseI64ArrayAttr(operands)),
                                 builder.getNamedAttr("attributes", described.attributes)});
  launch.spec.push_back(builder.getNamedAttr("inputs", builder.getDenseI64ArrayAttr(access)));
  launch.spec.push_back(builder.getNamedAttr("program", builder.getArrayAttr({step})));
  launch.spec.push_back(builder.getNamedAttr("results", builder.getDenseI64ArrayAttr(results)));
  addCost(launch, op);
  plan.launches.push_back(std::move(launch));
  return success();
}

LogicalResult treeMergeRule(Operation *op, const step::TargetInfo &, KernelPlan &plan) {
  auto merge = cast<train::TreeMergeOp>(op);
  Builder builder(op->getContext());
  int64_t elements = elementsOf(merge.getValue());
  int64_t levels = cast<RankedTensorType>(merge.getPending().getType()).getShape()[0];
  Launch launch;
  launch.family = "tree_merge";
  launch.spec = {builder.getNamedAttr("grain", builder.getI64IntegerAttr(kGrain)),
                 builder.getNamedAttr("levels", builder.getI64IntegerAttr(levels))};
  launch.arguments = {{step::ArgumentKind::Operand, 0}, {step::ArgumentKind::Result, 0}};
  for (auto kind : {step::ArgumentKind::Operand, step::ArgumentKind::Result})
    for (int64_t level = 0; level < levels; ++level)
      launch.arguments.push_back({kind, 1, level * elements * 4});
  launch.scalars = {elements};
  launch.workgroups = llvm::divideCeil(elements, kGrain);
  addCost(launch, op);
  plan.inPlace = {{0, 0}, {1, 1}};
  plan.launches.push_back(std::move(launch));
  return success();
}

} // namespace

SmallVector<NamedAttribute> combineSpec(MLIRContext *context) {
  Builder builder(context);
  return {builder.getNamedAttr("grain", builder.getI64IntegerAttr(abi::kCombineWorkgroupElements))};
}

ArrayRef<NamedKernelRule> elementwiseRules() {
  static constexpr NamedKernelRule rules[] = {
      {"train.add", elementwiseRule},      {"train.bias_add", elementwiseRule},
      {"train.gelu", elementwiseRule},     {"train.gelu_grad", elementwiseRule},
      {"train.swiglu", elementwiseRule},   {"train.swiglu_grad", elementwiseRule},
      {"train.dropout", elementwiseRule},  {"train.fill", elementwiseRule},
      {"train.adamw", elementwiseRule},    {"train.init_normal", elementwiseRule},
      {"train.tree_merge", treeMergeRule},
  };
  return rules;
}

} // namespace recipe::select
