#include "compiler/PhaseChecks.h"
#include "dialects/dist/Dist.h"
#include "dialects/step/Step.h"
#include "dialects/train/Layouts.h"
#include "dialects/train/Names.h"
#include "dialects/train/Train.h"
#include "passes/plan/OrderProof.h"

using namespace mlir;

namespace recipe {

static LogicalResult needGraphs(ModuleOp module, ArrayRef<StringRef> names) {
  for (StringRef name : names)
    if (!module.lookupSymbol<train::GraphOp>(name))
      return module.emitError("the module must have a graph @") << name;
  return success();
}

// Calls `check` for each op of a graph, not for what lies in its regions.
static LogicalResult forEachOp(ModuleOp module, llvm::function_ref<LogicalResult(Operation *)> check) {
  for (auto graph : module.getOps<train::GraphOp>())
    for (Operation &op : graph.getBody().front())
      if (failed(check(&op)))
        return failure();
  return success();
}

LogicalResult checkImported(ModuleOp module) {
  if (failed(needGraphs(module, {"forward", "eval"})))
    return failure();
  return forEachOp(module, [](Operation *op) -> LogicalResult {
    if (isa<train::PrecisionOpInterface>(op) && train::nameOf(op).empty())
      return op->emitError("an op that computes must have a model name");
    return success();
  });
}

LogicalResult checkDifferentiated(ModuleOp module) {
  if (module.lookupSymbol("forward"))
    return module.emitError("@forward must have become @train");
  if (failed(needGraphs(module, {"train", "eval"})))
    return failure();
  if (module.lookupSymbol<train::GraphOp>("train").getBody().getOps<train::BackwardBeginOp>().empty())
    return module.emitError("@train must have a backward part");
  return success();
}

LogicalResult checkUpdated(ModuleOp module) {
  return needGraphs(module, {"prologue", "train", "update", "init", "eval"});
}

static bool isBF16(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getElementType().isBF16();
}

static LogicalResult checkCasts(train::GraphOp graph) {
  DenseSet<Value> rounded;
  for (Operation &op : graph.getBody().front()) {
    if (llvm::any_of(op.getResults(), isBF16) && !isa<train::CastOp, train::ReadOp>(op))
      return op.emitError("only casts and working copies are bf16");
    auto cast = dyn_cast<train::CastOp>(op);
    if (!cast)
      continue;
    if (cast.getX().getDefiningOp<train::CastOp>())
      return op.emitError("a value must not be cast back");
    if (!rounded.insert(cast.getX()).second)
      return op.emitError("a value must be cast once");
  }
  return success();
}

// The names of the variables that a graph writes; without the graph none.
static llvm::DenseSet<StringRef> writtenBy(ModuleOp module, StringRef graph) {
  llvm::DenseSet<StringRef> names;
  if (auto op = module.lookupSymbol<train::GraphOp>(graph))
    for (auto write : op.getBody().getOps<train::WriteOp>())
      names.insert(write.getVariable());
  return names;
}

LogicalResult checkPrecision(ModuleOp module) {
  for (auto graph : module.getOps<train::GraphOp>())
    if (failed(checkCasts(graph)))
      return failure();
  llvm::DenseSet<StringRef> updated = writtenBy(module, "update"), refreshed = writtenBy(module, "refresh");
  for (auto copy : module.getOps<train::VariableOp>()) {
    if (copy.getRole() != train::Role::Working)
      continue;
    if (!refreshed.contains(copy.getSymName()))
      return copy.emitError("a working copy must be written by @refresh");
    if (updated.contains(*copy.getOf()) && !updated.contains(copy.getSymName()))
      return copy.emitError("a working copy must be updated with its parameter");
  }
  return success();
}

LogicalResult checkSharded(ModuleOp module) { return train::verifyLayouts(module, /*requireLayouts=*/true); }

LogicalResult checkFused(ModuleOp module) {
  if (failed(checkSharded(module)))
    return failure();
  return forEachOp(module, [](Operation *op) -> LogicalResult {
    auto compute = dyn_cast<train::PrecisionOpInterface>(op);
    if (compute && compute.getPrecisionClass() != train::PrecisionClass::Table)
      return op->emitError("must lie in a kernel region");
    return success();
  });
}

LogicalResult checkSelected(ModuleOp module) {
  if (failed(checkSharded(module)))
    return failure();
  return forEachOp(module, [](Operation *op) -> LogicalResult {
    auto kernel = dyn_cast<train::KernelOp>(op);
    if (kernel && (!kernel.getLaunches() || !kernel.getTemps() || !kernel.getInPlace()))
      return op->emitError("must have launches, temps and in_place");
    return success();
  });
}

LogicalResult checkPlanned(ModuleOp module) {
  if (module.getOps<step::ArenaOp>().empty())
    return module.emitError("must have a step.arena");
  for (Operation &op : *module.getBody())
    if (!isa<step::StepDialect>(op.getDialect()) && !isa<dist::MeshOp>(op))
      return op.emitError("must have become part of the step");
  return plan::proveOrder(module);
}

} // namespace recipe
