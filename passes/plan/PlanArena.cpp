// Turns graphs of kernels into programs over an arena: places (Residents, Transients), then sizes (Certificate), then
// the step dialect.
#include "passes/Passes.h"
#include "passes/plan/Certificate.h"
#include "runtime/abi/AllReduceSchedule.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

namespace recipe {
#define GEN_PASS_DEF_PLANARENAPASS
#include "passes/Passes.h.inc"

namespace {
using namespace plan;

// A page, so that threads share neither lines nor pages of scratch.
constexpr int64_t kScratchUnit = 4096;

// Writes a finished plan into the module.
class StepWriter {
public:
  StepWriter(ModuleOp module, const Buffers &buffers)
      : module(module), buffers(buffers), builder(OpBuilder::atBlockEnd(module.getBody())) {}

  void writeBuffers() {
    for (const Buffer &buffer : buffers.all) {
      FlatSymbolRefAttr shares = buffer.shares < 0 ? nullptr : symbol(buffer.shares);
      step::BufferOp::create(builder, buffer.location, buffer.name, buffer.space, buffer.offset, buffer.bytes,
                             buffer.type, buffer.category, buffer.slotStride, shares, buffer.data, buffer.minNodes);
    }
  }

  void writeParameters(const Residents &residents) {
    DenseMap<StringAttr, SmallVector<train::VariableOp>> belongings;
    for (auto variable : module.getOps<train::VariableOp>())
      if (FlatSymbolRefAttr of = variable.getOfAttr())
        belongings[of.getAttr()].push_back(variable);
    for (auto parameter : module.getOps<train::VariableOp>()) {
      if (parameter.getRole() != train::Role::Parameter)
        continue;
      SmallVector<Attribute> gradients, optimizer;
      // A parameter used several times has its gradients in the order of the uses, as `use` numbers them.
      SmallVector<std::pair<int64_t, Attribute>> byUse;
      for (train::VariableOp other : belongings.lookup(parameter.getSymNameAttr())) {
        auto carried = buffers.carried.find(other.getSymNameAttr());
        Attribute name =
            symbol(carried != buffers.carried.end() ? carried->second.buffer
                                                    : residents.variables.lookup(other.getSymName()).buffer);
        if (other.getRole() == train::Role::Gradient)
          byUse.push_back({other.getUse().value_or(0), name});
        else if (other.getRole() == train::Role::AdamM || other.getRole() == train::Role::AdamV)
          optimizer.push_back(name);
      }
      llvm::sort(byUse, [](auto &a, auto &b) { return a.first < b.first; });
      for (auto &[use, name] : byUse)
        gradients.push_back(name);
      ArrayRef<int64_t> shape = cast<RankedTensorType>(parameter.getType()).getShape();
      step::ParameterOp::create(
          builder, parameter.getLoc(), parameter.getSymName(),
          buffers.all[residents.variables.lookup(parameter.getSymName()).buffer].name, builder.getArrayAttr(gradients),
          builder.getArrayAttr(optimizer), parameter.getHfName().value_or(parameter.getSymName()),
          parameter.getHfShape().value_or(shape), parameter.getHfSlice().value_or(ArrayRef<int64_t>{-1, 0}),
          parameter.getDecay().value_or(false));
    }
  }

  // Whoever waits may stand before or after what it waits for.
  void numberCollectives(ArrayRef<Timeline> timelines) {
    for (const Timeline &timeline : timelines)
      for (const Moment &moment : timeline.moments)
        for (dist::AllReduceOp reduction : moment.reductions)
          signals[reduction] = idOf(timeline.programs[moment.program], moment);
  }

  void writeProgram(const Timeline &timeline, size_t program) {
    auto op = step::ProgramOp::create(builder, module.getLoc(), timeline.programs[program]);
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(&op.getBody());
    for (const Moment &moment : timeline.moments)
      if (moment.program == program) {
        if (moment.kernel)
          writeInstructions(moment, timeline.programs[program]);
        else
          writeCollective(moment, timeline.programs[program]);
      }
  }

private:
  static int64_t idOf(StringRef program, const Moment &moment) {
    return int64_t(llvm::xxh3_64bits((program + "/" + moment.name).str()));
  }

  void writeInstructions(const Moment &moment, StringRef program) {
    train::KernelOp kernel = moment.kernel;
    for (auto [number, attribute] : llvm::enumerate(*kernel.getLaunches())) {
      auto launch = cast<step::LaunchAttr>(attribute);
      SmallVector<Attribute> slices;
      for (step::ArgumentAttr argument : launch.getArguments())
        slices.push_back(sliceOf(kernel, argument));
      std::string path = (program + "/" + moment.name + "#" + Twine(number)).str();
      SmallVector<int64_t> waits;
      if (number == 0)
        waits = signalsFor(kernel);
      step::InstructionOp::create(builder, moment.location, moment.name, llvm::xxh3_64bits(path),
                                  launch.getKernel().getValue(), builder.getArrayAttr(slices), launch.getScalars(),
                                  launch.getWorkgroups(), launch.getScratchBytes(), moment.predicate, launch.getFlops(),
                                  launch.getBytes(), waits);
    }
  }

  void writeCollective(const Moment &moment, StringRef program) {
    dist::AllReduceOp first = moment.reductions.front();
    dist::LayoutAttr from = dist::layoutOf(first.getInput().getType());
    SmallVector<Attribute> names;
    int64_t begin = 0, end = 0;
    for (dist::AllReduceOp reduction : moment.reductions) {
      int64_t index = buffers.values.lookup(reduction.getResult()).buffer;
      const Buffer &buffer = buffers.all[index];
      begin = names.empty() ? buffer.offset : begin;
      end = buffer.offset + buffer.bytes;
      names.push_back(symbol(index));
    }
    int64_t id = idOf(program, moment);
    int64_t elementBytes = cast<RankedTensorType>(first.getType()).getElementTypeBitWidth() / 8;
    step::CollectiveOp::create(
        builder, moment.location, moment.name, id, step::CollectiveKind::AllReduce,
        from.getPartial()[0].getName().getValue(), builder.getArrayAttr(names), (end - begin) / elementBytes,
        first->getAttrOfType<FlatSymbolRefAttr>(step::kCombineName).getValue(), moment.predicate, id);
  }

  // What a kernel is the first to read of what collectives give.
  SmallVector<int64_t> signalsFor(train::KernelOp kernel) {
    SmallVector<int64_t> waits;
    for (Value operand : kernel.getInputs())
      if (auto reduction = operand.getDefiningOp<dist::AllReduceOp>())
        if (int64_t signal = signals.lookup(reduction); waitedFor.insert(signal).second)
          waits.push_back(signal);
    return waits;
  }

  Attribute sliceOf(train::KernelOp kernel, step::ArgumentAttr argument) {
    using step::Access;
    int64_t offset = argument.getOffset();
    switch (argument.getKind()) {
    case step::ArgumentKind::Operand:
      return slice(Access::Read, buffers.values.lookup(kernel->getOperand(argument.getIndex())), offset);
    case step::ArgumentKind::Result:
      return slice(Access::Write, buffers.values.lookup(kernel->getResult(argument.getIndex())), offset);
    case step::ArgumentKind::Temp:
      return slice(Access::Temp, {buffers.firstTemp.lookup(kernel) + argument.getIndex()}, offset);
    }
    llvm_unreachable("every kind of argument has a place");
  }

  Attribute slice(step::Access access, Storage storage, int64_t offset) {
    if (storage.levelBytes) {
      storage.buffer += offset / storage.levelBytes;
      offset %= storage.levelBytes;
    }
    return step::SliceAttr::get(builder.getContext(), access, symbol(storage.buffer), offset);
  }

  FlatSymbolRefAttr symbol(int64_t buffer) {
    return FlatSymbolRefAttr::get(builder.getContext(), buffers.all[buffer].name);
  }

  ModuleOp module;
  const Buffers &buffers;
  OpBuilder builder;
  DenseMap<Operation *, int64_t> signals; // of all-reduces
  DenseSet<int64_t> waitedFor;
};

class PlanArenaPass : public impl::PlanArenaPassBase<PlanArenaPass> {
public:
  using PlanArenaPassBase::PlanArenaPassBase;

private:
  void runOnOperation() override {
    if (failed(plan(getOperation())))
      signalPassFailure();
  }

  LogicalResult plan(ModuleOp module) {
    FailureOr<train::StepFacts> facts = train::StepFacts::fromModule(module);
    if (failed(facts) || failed(checkReady(module)))
      return failure();
    Buffers buffers(module);
    FailureOr<Residents> residents = placeResidents(module, *facts, evaluatesTables, buffers);
    if (failed(residents))
      return failure();
    FailureOr<std::vector<Bundle>> bundles = bundleReductions(module, *residents, buffers);
    if (failed(bundles))
      return failure();
    FailureOr<std::vector<Timeline>> timelines = timelinesOf(module, *bundles);
    if (failed(timelines))
      return failure();
    TransientPlan largest;
    for (const Timeline &timeline : *timelines) {
      FailureOr<TransientPlan> transient = placeTransients(timeline, *residents, buffers);
      if (failed(transient))
        return failure();
      if (transient->bytes > largest.bytes)
        largest = *transient;
    }
    Scratch scratch = scratchOf(*timelines, largest.bytes);
    std::vector<step::RowAttr> rows =
        certificateRows(module.getContext(), *facts, *residents, buffers, largest, scratch);
    write(module, buffers, *residents, *timelines, scratch, largest.peak.bytes, rows);
    return success();
  }

  LogicalResult checkReady(ModuleOp module) {
    for (auto graph : module.getOps<train::GraphOp>()) {
      for (auto kernel : graph.getBody().getOps<train::KernelOp>())
        if (!kernel.getLaunches())
          return kernel.emitError("a kernel region needs launches before it can be planned");
      for (auto reduction : graph.getBody().getOps<dist::AllReduceOp>())
        if (!reduction->getAttrOfType<FlatSymbolRefAttr>(step::kCombineName))
          return reduction.emitError("an all-reduce needs a kernel before it can be planned");
      for (auto write : graph.getBody().getOps<train::WriteOp>())
        if (Operation *source = write.getValue().getDefiningOp(); !isa_and_nonnull<train::KernelOp>(source))
          return write.emitError("a variable takes what a kernel gives, got the result of ") << source->getName();
    }
    return success();
  }

  Scratch scratchOf(ArrayRef<Timeline> timelines, int64_t offset) {
    int64_t most = 0, communication = 0;
    for (const Timeline &timeline : timelines)
      for (const Moment &moment : timeline.moments) {
        if (!moment.kernel) {
          communication = abi::kAllReduceStagingBytes;
          continue;
        }
        for (auto launch : train::KernelOp(moment.kernel).getLaunches()->getAsRange<step::LaunchAttr>())
          most = std::max(most, launch.getScratchBytes());
      }
    return {alignTo(offset, kScratchUnit), alignTo(most, kScratchUnit), maxThreads, communication};
  }

  void write(ModuleOp module, const Buffers &buffers, const Residents &residents, ArrayRef<Timeline> timelines,
             const Scratch &scratch, int64_t liveBytes, ArrayRef<step::RowAttr> rows) {
    StepWriter writer(module, buffers);
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    step::ArenaOp::create(builder, module.getLoc(),
                          builder.getArrayAttr(SmallVector<Attribute>(rows.begin(), rows.end())), scratch.offset,
                          scratch.stride, scratch.threads, liveBytes, /*budget=*/0, scratch.communication);
    writer.writeParameters(residents);
    writer.writeBuffers();
    writer.numberCollectives(timelines);
    for (const Timeline &timeline : timelines)
      for (size_t program = 0; program < timeline.programs.size(); ++program)
        writer.writeProgram(timeline, program);
    for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
      if (isa<train::GraphOp, train::VariableOp>(op))
        op.erase();
  }
};

} // namespace
} // namespace recipe
