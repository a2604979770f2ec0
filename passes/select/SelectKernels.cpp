// Asks each region's kernel rule for its launches and gives equal kernels one symbol.
#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"
#include "passes/select/KernelRule.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

namespace recipe {
#define GEN_PASS_DEF_SELECTKERNELSPASS
#include "passes/Passes.h.inc"

namespace {
using namespace select;

// The kernels made so far, by content. A symbol is made of the family, the shape of what the region gives and a hash of
// the content: the same kernel has the same symbol in every module.
class KernelTable {
public:
  explicit KernelTable(ModuleOp module) : module(module), builder(OpBuilder::atBlockBegin(module.getBody())) {}

  FlatSymbolRefAttr get(train::KernelOp region, const Launch &launch) {
    ArrayRef<int64_t> shape;
    if (region.getNumResults())
      shape = cast<RankedTensorType>(region.getBody().front().getTerminator()->getOperand(0).getType()).getShape();
    return get(launch, shape, region.getLoc(), launch.keepsRegion ? &region.getBody() : nullptr);
  }

  // `shape` is for the symbol only.
  FlatSymbolRefAttr get(const Launch &launch, ArrayRef<int64_t> shape, Location loc, Region *body = nullptr) {
    OpBuilder detached(loc.getContext());
    OwningOpRef<step::KernelOp> kernel =
        step::KernelOp::create(detached, loc, "", launch.family, builder.getDictionaryAttr(launch.spec));
    if (body) {
      IRMapping mapping;
      body->cloneInto(&kernel->getBody(), mapping);
    }
    std::string content;
    llvm::raw_string_ostream stream(content);
    kernel->getOperation()->print(stream, OpPrintingFlags().useLocalScope());
    StringAttr &symbol = byContent[content];
    if (!symbol) {
      symbol = builder.getStringAttr(symbolOf(shape, launch, content));
      kernel->setSymNameAttr(symbol);
      builder.insert(kernel.release());
    }
    return FlatSymbolRefAttr::get(symbol);
  }

private:
  static std::string symbolOf(ArrayRef<int64_t> shape, const Launch &launch, StringRef content) {
    std::string symbol;
    for (char c : launch.family)
      symbol += llvm::isAlnum(c) ? c : '_';
    for (auto [i, size] : llvm::enumerate(shape))
      symbol += (i ? "x" : "_") + llvm::utostr(size);
    return symbol + "_" + llvm::utohexstr(llvm::xxh3_64bits(content) >> 32, /*LowerCase=*/true, /*Width=*/8);
  }

  ModuleOp module;
  OpBuilder builder;
  llvm::StringMap<StringAttr> byContent;
};

class SelectKernelsPass : public impl::SelectKernelsPassBase<SelectKernelsPass> {
public:
  using SelectKernelsPassBase::SelectKernelsPassBase;
  explicit SelectKernelsPass(step::TargetInfo target) : target(std::move(target)) {}

private:
  LogicalResult initialize(MLIRContext *) override {
    if (maxThreads.hasValue())
      target.maxThreads = maxThreads;
    return success();
  }

  void runOnOperation() override {
    KernelTable kernels(getOperation());
    for (auto graph : getOperation().getOps<train::GraphOp>())
      for (Operation &op : graph.getBody().front()) {
        if (auto region = dyn_cast<train::KernelOp>(op); region && failed(select(region, kernels)))
          return signalPassFailure();
        if (auto reduction = dyn_cast<dist::AllReduceOp>(op); reduction && failed(selectCombine(reduction, kernels)))
          return signalPassFailure();
      }
  }

  // One kernel for all sums over ranks: the runtime calls it for each piece that arrives.
  LogicalResult selectCombine(dist::AllReduceOp reduction, KernelTable &kernels) {
    if (!cast<RankedTensorType>(reduction.getType()).getElementType().isF32())
      return reduction.emitError("no kernel rule covers sums over ranks but those of f32, got ") << reduction.getType();
    Launch launch;
    launch.family = "combine";
    launch.spec = combineSpec(reduction.getContext());
    reduction->setAttr(step::kCombineName, kernels.get(launch, {}, reduction.getLoc()));
    return success();
  }

  LogicalResult select(train::KernelOp region, KernelTable &kernels) {
    KernelPlan plan;
    if (failed(planRegion(region, target, plan)) || failed(check(region, plan)))
      return failure();

    Builder builder(region.getContext());
    SmallVector<Attribute> launches;
    for (const Launch &launch : plan.launches) {
      SmallVector<step::ArgumentAttr> arguments;
      for (const Argument &argument : launch.arguments)
        arguments.push_back(
            step::ArgumentAttr::get(builder.getContext(), argument.kind, argument.index, argument.offset));
      launches.push_back(step::LaunchAttr::get(builder.getContext(), kernels.get(region, launch), arguments,
                                               builder.getDenseI64ArrayAttr(launch.scalars), launch.workgroups,
                                               launch.scratchBytes, launch.flops, launch.bytes));
    }
    SmallVector<int64_t> inPlace;
    for (auto [result, operand] : plan.inPlace)
      inPlace.append({result, operand});
    region.setLaunchesAttr(builder.getArrayAttr(launches));
    region.setTempsAttr(builder.getDenseI64ArrayAttr(plan.temps));
    region.setInPlaceAttr(builder.getDenseI64ArrayAttr(inPlace));
    return success();
  }

  // A rule that breaks its contract is our bug; it must not reach plan as a wrong address.
  LogicalResult check(train::KernelOp region, const KernelPlan &plan) {
    Block &body = region.getBody().front();
    int64_t operands = region.getNumOperands(), results = region.getNumResults(), temps = plan.temps.size();
    for (const Launch &launch : plan.launches) {
      if (launch.workgroups < 1 || launch.scratchBytes < 0)
        return region.emitError("kernel rule must ask for a workgroup and no negative scratch, got ")
               << launch.workgroups << " and " << launch.scratchBytes;
      for (const Argument &argument : launch.arguments) {
        int64_t limit = argument.kind == step::ArgumentKind::Operand  ? operands
                        : argument.kind == step::ArgumentKind::Result ? results
                                                                      : temps;
        if (argument.index < 0 || argument.index >= limit || argument.offset < 0)
          return region.emitError("kernel rule must name an argument that exists, got ")
                 << argument.index << " of " << limit;
      }
    }
    for (auto [result, operand] : plan.inPlace)
      if (result < 0 || result >= results || operand < 0 || operand >= operands ||
          body.getArgument(operand).getType() != body.getTerminator()->getOperand(result).getType())
        return region.emitError("kernel rule must share storage between a result and an operand of one type, got ")
               << result << " and " << operand;
    return success();
  }

  step::TargetInfo target;
};

} // namespace

std::unique_ptr<Pass> createSelectKernelsPass(const step::TargetInfo &target) {
  return std::make_unique<SelectKernelsPass>(target);
}

} // namespace recipe
