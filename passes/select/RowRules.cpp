// Ops over rows of channels, and sums over tokens.
#include "mlir/IR/Builders.h"
#include "passes/NodeTreeShape.h"
#include "passes/select/LaunchCost.h"

using namespace mlir;
using recipe::step::ArgumentKind;

namespace recipe::select {
namespace {

constexpr int64_t kLanes = 16;
constexpr int64_t kGrain = 16384; // elements of one operand per workgroup: 64 KiB

ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }
int64_t elementsOf(Value value) { return cast<RankedTensorType>(value.getType()).getNumElements(); }

// A launch under construction: its specification by name.
struct RowLaunch : Launch {
  RowLaunch(Operation *op, StringRef family) : builder(op->getContext()) { this->family = family.str(); }
  RowLaunch &with(StringRef name, int64_t value) {
    spec.push_back(builder.getNamedAttr(name, builder.getI64IntegerAttr(value)));
    return *this;
  }
  RowLaunch &with(StringRef name, Attribute value) {
    spec.push_back(builder.getNamedAttr(name, value));
    return *this;
  }
  // Operand or result by value.
  RowLaunch &takes(Operation *op, ValueRange values) {
    for (Value value : values)
      for (OpOperand &operand : op->getOpOperands())
        if (operand.get() == value) {
          arguments.push_back({ArgumentKind::Operand, operand.getOperandNumber()});
          break;
        }
    return *this;
  }
  RowLaunch &gives(ValueRange results) {
    for (Value result : results)
      arguments.push_back({ArgumentKind::Result, cast<OpResult>(result).getResultNumber()});
    return *this;
  }
  RowLaunch &takesTemp(int64_t temp) {
    arguments.push_back({ArgumentKind::Temp, temp});
    return *this;
  }
  // `rows` rows of `channels` elements, whole rows to each workgroup.
  RowLaunch &overRows(int64_t rows, int64_t channels) {
    int64_t grain = std::max<int64_t>(1, kGrain / channels);
    workgroups = llvm::divideCeil(rows, grain);
    scalars.push_back(rows);
    return with("grain", grain);
  }
  Builder builder;
};

int64_t tokensOf(Value x) { return shapeOf(x)[0] * shapeOf(x)[1]; }

LogicalResult layerNormRule(Operation *op, const step::TargetInfo &, KernelPlan &plan) {
  auto norm = cast<train::LayerNormOp>(op);
  int64_t channels = shapeOf(norm.getX())[2];
  RowLaunch launch(op, "norm");
  launch.with("channels", channels).with("centered", 1).with("eps", norm.getEpsAttr());
  launch.takes(op, {norm.getX(), norm.getGain(), norm.getBias()})
      .gives({norm.getMean(), norm.getRstd(), norm.getResult()})
      .overRows(tokensOf(norm.getX()), channels);
  addCost(launch, op);
  plan.inPlace = {{0, 0}};
  plan.launches.push_back(launch);
  return success();
}

LogicalResult rmsNormRule(Operation *op, const step::TargetInfo &, KernelPlan &plan) {
  auto norm = cast<train::RmsNormOp>(op);
  int64_t channels = shapeOf(norm.getX())[2];
  RowLaunch launch(op, "norm");
  launch.with("channels", channels).with("centered", int64_t(0)).with("eps", norm.getEpsAttr());
  launch.takes(op, {norm.getX(), norm.getGain()})
      .gives({norm.getRstd(), norm.getResult()})
      .overRows(tokensOf(norm.getX()), channels);
  addCost(launch, op);
  plan.inPlace = {{0, 0}};
  plan.launches.push_back(launch);
  return success();
}

// Vectors of columns summed together, so that their chains overlap: those of all outputs fill half the registers at
// most.
int64_t columnStrip(const step::TargetInfo &target, int64_t channels, int64_t outputs) {
  int64_t registersPerVector = std::max<int64_t>(1, kLanes * 32 / target.vectorBits), strip = 8;
  while (strip > 1 && (strip * outputs * registersPerVector > target.vectorRegisters / 2 || strip * kLanes > channels))
    strip /= 2;
  return strip;
}

// The vector gradients of `op`: `inputs` read, an accumulator or none for each result.
Launch columnSum(Operation *op, StringRef kind, int64_t nodes, ValueRange inputs, ArrayRef<Value> accumulators,
                 ValueRange results, const step::TargetInfo &target, KernelPlan &plan) {
  constexpr int64_t kBlock = 256; // columns: 1 KiB of each token
  ArrayRef<int64_t> shape = shapeOf(inputs[0]);
  RowLaunch launch(op, "column_sum");
  launch.with("kind", launch.builder.getStringAttr(kind)).with("samples", shape[0]).with("positions", shape[1]);
  launch.with("channels", shape[2]).with("nodes", nodes).with("block", kBlock);
  launch.takes(op, inputs);
  SmallVector<int64_t> accumulate;
  for (auto [accumulator, result] : llvm::zip(accumulators, results)) {
    accumulate.push_back(accumulator != nullptr);
    // An accumulator by its own operand number: two operands may be the same value.
    for (OpOperand &operand : llvm::reverse(op->getOpOperands()))
      if (operand.get() == accumulator) {
        launch.arguments.push_back({ArgumentKind::Operand, operand.getOperandNumber()});
        plan.inPlace.push_back({cast<OpResult>(result).getResultNumber(), operand.getOperandNumber()});
        break;
      }
  }
  int64_t outputs = int64_t(results.size()), strip = columnStrip(target, shape[2], outputs);
  launch.with("accumulate", launch.builder.getDenseI64ArrayAttr(accumulate)).with("strip", strip);
  launch.gives(results);
  launch.workgroups = train::kPositionSegments * llvm::divideCeil(shape[2], kBlock);
  launch.scratchBytes = pendingBytes(nodes, outputs * strip);
  return launch;
}

LogicalResult biasGradRule(Operation *op, const step::TargetInfo &target, KernelPlan &plan) {
  auto grad = cast<train::BiasGradOp>(op);
  Launch launch = columnSum(op, "bias", grad.getBatchNodes(), {grad.getDy()}, {grad.getAccumulator()},
                            {grad.getResult()}, target, plan);
  addCost(launch, op);
  plan.launches.push_back(launch);
  return success();
}

// The sums come first: dx may then overwrite what they read.
LogicalResult addNormGrad(Operation *op, Launch sums, RowLaunch dx, ValueRange inputs, Value x, Value result,
                          KernelPlan &plan) {
  int64_t channels = shapeOf(x)[2];
  dx.with("channels", channels).takes(op, inputs).gives(result).overRows(tokensOf(x), channels);
  addCost(sums, op);
  dx.flops = sums.flops / 2;
  dx.bytes = 12 * elementsOf(x);
  sums.flops -= dx.flops;
  sums.bytes = 8 * elementsOf(x);
  plan.inPlace.push_back({0, 0});
  plan.inPlace.push_back({0, 1});
  plan.launches.push_back(sums);
  plan.launches.push_back(dx);
  return success();
}

LogicalResult layerNormGradRule(Operation *op, const step::TargetInfo &target, KernelPlan &plan) {
  auto grad = cast<train::LayerNormGradOp>(op);
  Launch sums = columnSum(
      op, "layer_norm", grad.getBatchNodes(), {grad.getDy(), grad.getX(), grad.getMean(), grad.getRstd()},
      {grad.getGainAccumulator(), grad.getBiasAccumulator()}, {grad.getDgain(), grad.getDbias()}, target, plan);
  RowLaunch dx(op, "norm_grad");
  dx.with("centered", 1);
  return addNormGrad(op, sums, dx, {grad.getDy(), grad.getX(), grad.getGain(), grad.getMean(), grad.getRstd()},
                     grad.getX(), grad.getDx(), plan);
}

LogicalResult rmsNormGradRule(Operation *op, const step::TargetInfo &target, KernelPlan &plan) {
  auto grad = cast<train::RmsNormGradOp>(op);
  Launch sums = columnSum(op, "rms_norm", grad.getBatchNodes(), {grad.getDy(), grad.getX(), grad.getRstd()},
                          {grad.getGainAccumulator()}, {grad.getDgain()}, target, plan);
  RowLaunch dx(op, "norm_grad");
  dx.with("centered", int64_t(0));
  return addNormGrad(op, sums, dx, {grad.getDy(), grad.getX(), grad.getGain(), grad.getRstd()}, grad.getX(),
                     grad.getDx(), plan);
}

LogicalResult positionSumRule(Operation *op, const step::TargetInfo &, KernelPlan &plan) {
  auto sum = cast<train::PositionSumOp>(op);
  RowLaunch launch(op, "position_sum");
  int64_t channels = elementsOf(sum.getResult()), grain = kGrain / train::kPositionSegments;
  launch.with("grain", grain).takes(op, sum.getX()).gives(sum.getResult());
  launch.scalars = {channels};
  launch.workgroups = llvm::divideCeil(channels, grain);
  addCost(launch, op);
  plan.launches.push_back(launch);
  return success();
}

LogicalResult ropeRule(Operation *op, const step::TargetInfo &, KernelPlan &plan) {
  auto rope = cast<train::RopeOp>(op);
  int64_t heads = rope.getHeads(), channels = shapeOf(rope.getX())[2];
  RowLaunch launch(op, "rope");
  launch.with("heads", heads).with("head_size", channels / heads).with("inverse", rope.getInverse());
  launch.takes(op, op->getOperands()).gives(rope.getResult()).overRows(tokensOf(rope.getX()), channels);
  addCost(launch, op);
  plan.inPlace = {{0, 0}};
  plan.launches.push_back(launch);
  return success();
}

LogicalResult embeddingRule(Operation *op, const step::TargetInfo &, KernelPlan &plan) {
  auto embedding = cast<train::EmbeddingOp>(op);
  int64_t channels = shapeOf(embedding.getTable())[1];
  RowLaunch launch(op, "embedding");
  launch.with("channels", channels).takes(op, op->getOperands()).gives(embedding.getResult());
  launch.overRows(elementsOf(embedding.getIds()), channels);
  launch.bytes = 8 * elementsOf(embedding.getResult());
  plan.launches.push_back(launch);
  return success();
}

LogicalResult embeddingGradRule(Operation *op, const step::TargetInfo &, KernelPlan &plan) {
  constexpr int64_t kBlock = 128; // columns; rows of frequent ids are shared by several workgroups
  constexpr int64_t kStrip = 4;   // vectors summed together
  auto grad = cast<train::EmbeddingGradOp>(op);
  int64_t rows = shapeOf(grad.getResult())[0], channels = shapeOf(grad.getResult())[1];
  int64_t tokens = elementsOf(grad.getIds()), nodes = grad.getBatchNodes();
  bool accumulate = grad.getAccumulator() != nullptr;
  plan.temps = {(rows + 2) * 4, (tokens + 1) * 4};

  RowLaunch index(op, "token_index");
  index.takes(op, grad.getIds()).takesTemp(0).takesTemp(1);
  index.scalars = {tokens, rows};
  index.bytes = 8 * rows + 16 * tokens;
  plan.launches.push_back(index);

  RowLaunch sum(op, "embedding_grad");
  int64_t grain = std::min<int64_t>(128, std::max<int64_t>(1, rows / 16)); // small tables: still several workgroups
  sum.with("channels", channels)
      .with("nodes", nodes)
      .with("accumulate", accumulate)
      .with("rows", grain)
      .with("block", kBlock)
      .with("strip", kStrip);
  sum.takes(op, grad.getDy()).takesTemp(0).takesTemp(1);
  if (accumulate) {
    sum.arguments.push_back({ArgumentKind::Operand, 2});
    plan.inPlace = {{0, 2}};
  }
  sum.gives(grad.getResult());
  sum.scalars = {rows, tokens / nodes};
  sum.workgroups = llvm::divideCeil(rows, grain) * llvm::divideCeil(channels, kBlock);
  sum.scratchBytes = pendingBytes(nodes, kStrip);
  addCost(sum, op);
  plan.launches.push_back(sum);
  return success();
}

} // namespace

ArrayRef<NamedKernelRule> rowRules() {
  static constexpr NamedKernelRule rules[] = {
      {"train.layer_norm", layerNormRule},
      {"train.rms_norm", rmsNormRule},
      {"train.layer_norm_grad", layerNormGradRule},
      {"train.rms_norm_grad", rmsNormGradRule},
      {"train.bias_grad", biasGradRule},
      {"train.position_sum", positionSumRule},
      {"train.rope", ropeRule},
      {"train.embedding", embeddingRule},
      {"train.embedding_grad", embeddingGradRule},
  };
  return rules;
}

} // namespace recipe::select
