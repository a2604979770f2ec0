// The proof that every sum over ranks is finished once, in time, and never used before: C1 to C5 of step.arena. From
// the layouts of buffers and the order of instructions alone; it shares no code with the passes that placed the
// collectives.
#include "dialects/dist/Dist.h"
#include "dialects/step/Step.h"
#include "llvm/ADT/MapVector.h"
#include <map>

using namespace mlir;
using namespace recipe;
using namespace recipe::step;
using dist::LayoutAttr;

namespace {

// Of a buffer that is Partial over ranks, in the step that the proof follows.
struct Sum {
  enum { Growing, Travelling, Whole } state = Growing;
  bool hasTerms = false; // something was added
};

// The launches of one op.
using Group = SmallVector<InstructionOp, 4>;

class CollectiveProof {
public:
  explicit CollectiveProof(ModuleOp module) : module(module) {
    for (auto buffer : module.getOps<BufferOp>()) {
      layouts[buffer.getSymNameAttr()] = dist::layoutOf(buffer.getType());
      elementTypes[buffer.getSymNameAttr()] = cast<RankedTensorType>(buffer.getType()).getElementType();
      if (buffer.getSpace() == Space::State)
        places[buffer.getOffset()] = buffer;
    }
  }

  LogicalResult run() {
    // The last micro-batch of a step and what follows it; micro-batches before only add to the same sums.
    for (StringRef name : {"forward", "backward", "update"})
      if (auto program = module.lookupSymbol<ProgramOp>(name))
        if (failed(follow(program, /*inMicrobatch=*/name != "update")))
          return failure();
    for (auto &[signal, collective] : travelling)
      return collective.emitOpError("C4: each collective must be waited for in the update, got no wait for ") << signal;
    for (auto program : module.getOps<ProgramOp>())
      if (!isOfStep(program) && failed(checkAlone(program)))
        return failure();
    return success();
  }

private:
  static bool isOfStep(ProgramOp program) {
    StringRef name = program.getSymName();
    return name == "forward" || name == "backward" || name == "update";
  }

  LayoutAttr layoutOf(FlatSymbolRefAttr buffer) { return layouts.lookup(buffer.getAttr()); }
  bool isPartial(FlatSymbolRefAttr buffer) { return layoutOf(buffer) && layoutOf(buffer).isPartial(); }
  bool isSplit(FlatSymbolRefAttr buffer) {
    LayoutAttr layout = layoutOf(buffer);
    return layout && llvm::any_of(layout.getDims(), [](dist::DimAttr dim) { return !dim.getAxes().empty(); });
  }

  LogicalResult follow(ProgramOp program, bool inMicrobatch) {
    Group group;
    auto endGroup = [&] {
      LogicalResult result = group.empty() ? success() : checkGroup(group);
      group.clear();
      return result;
    };
    for (Operation &op : program.getBody().front()) {
      auto instruction = dyn_cast<InstructionOp>(op);
      bool continues = instruction && !group.empty() && group.back().getNameAttr() == instruction.getNameAttr();
      if (!continues && failed(endGroup()))
        return failure();
      if (instruction && failed(wait(instruction)))
        return failure();
      if (instruction)
        group.push_back(instruction);
      else if (failed(issue(cast<CollectiveOp>(op), inMicrobatch)))
        return failure();
    }
    return endGroup();
  }

  LogicalResult issue(CollectiveOp collective, bool inMicrobatch) {
    Predicate wanted = inMicrobatch ? Predicate::LastMicrobatch : Predicate::Always;
    if (collective.getPredicate() != wanted)
      return collective.emitOpError("C3: a collective must run once in a step, got it when ")
             << stringifyPredicate(collective.getPredicate());
    if (!signals.insert(collective.getSignal()).second)
      return collective.emitOpError("C3: signals must differ, got ") << collective.getSignal() << " twice";
    travelling[int64_t(collective.getSignal())] = collective;
    for (auto buffer : collective.getBuffers().getAsRange<FlatSymbolRefAttr>())
      if (failed(reduce(collective, buffer)))
        return failure();
    return checkNeighbours(collective);
  }

  // What lies between the first and the last buffer is added along.
  LogicalResult checkNeighbours(CollectiveOp collective) {
    auto first = module.lookupSymbol<BufferOp>(cast<FlatSymbolRefAttr>(collective.getBuffers()[0]));
    auto place = places.find(first.getOffset());
    for (auto buffer : collective.getBuffers().getAsRange<FlatSymbolRefAttr>()) {
      if (place == places.end() || place->second.getSymNameAttr() != buffer.getAttr())
        return collective.emitOpError("C3: nothing may lie between the buffers of a collective, got before ") << buffer;
      ++place;
    }
    return success();
  }

  LogicalResult reduce(CollectiveOp collective, FlatSymbolRefAttr buffer) {
    LayoutAttr layout = layoutOf(buffer);
    auto wrong = [&](const Twine &rule) { return collective.emitOpError("C3: " + rule + ", got ") << buffer; };
    if (!isPartial(buffer))
      return wrong("a collective must reduce what is Partial");
    if (layout.getPartial().size() != 1 || layout.getPartial()[0].getSize() != 0 ||
        layout.getPartial()[0].getName() != collective.getAxisAttr())
      return wrong("a collective must reduce over the axis that its buffer is Partial over")
             << " over " << collective.getAxis();
    auto first = cast<FlatSymbolRefAttr>(collective.getBuffers()[0]);
    if (elementTypes.lookup(buffer.getAttr()) != elementTypes.lookup(first.getAttr()))
      return wrong("buffers of a collective must have one element type");
    Sum &sum = sums[buffer.getAttr()];
    if (sum.state != Sum::Growing)
      return wrong("a sum must be reduced once");
    if (!sum.hasTerms)
      return wrong("a sum must be complete before it is reduced");
    sum.state = Sum::Travelling;
    return success();
  }

  LogicalResult wait(InstructionOp instruction) {
    for (int64_t signal : instruction.getWaits()) {
      if (!signals.contains(uint64_t(signal)))
        return instruction.emitOpError("C4: must wait for a collective that was issued before, got ") << signal;
      auto found = travelling.find(signal);
      if (found == travelling.end())
        continue;
      for (auto buffer : found->second.getBuffers().getAsRange<FlatSymbolRefAttr>())
        sums[buffer.getAttr()].state = Sum::Whole;
      travelling.erase(found);
    }
    for (auto slice : instruction.getArguments().getAsRange<SliceAttr>()) {
      auto sum = sums.find(slice.getBuffer().getAttr());
      if (sum == sums.end() || sum->second.state == Sum::Growing)
        continue;
      if (sum->second.state == Sum::Travelling)
        return instruction.emitOpError("C4: must wait for the collective on what it uses, got ") << slice.getBuffer();
      if (slice.getAccess() != Access::Read)
        return instruction.emitOpError("C3: must not add to a sum that is reduced already, got ") << slice.getBuffer();
    }
    return success();
  }

  bool isGrowing(FlatSymbolRefAttr buffer) {
    if (!isPartial(buffer))
      return false;
    auto sum = sums.find(buffer.getAttr());
    return sum == sums.end() || sum->second.state == Sum::Growing;
  }

  // C1 and C2.
  LogicalResult checkGroup(const Group &group) {
    InstructionOp op = group.front();
    SmallVector<FlatSymbolRefAttr> reads, writes;
    for (InstructionOp instruction : group)
      for (auto slice : instruction.getArguments().getAsRange<SliceAttr>())
        if (slice.getAccess() != Access::Temp)
          (slice.getAccess() == Access::Read ? reads : writes).push_back(slice.getBuffer());
    bool readsSplit = false, readsGrowing = false;
    for (FlatSymbolRefAttr buffer : reads) {
      readsSplit |= isSplit(buffer);
      if (!isGrowing(buffer))
        continue;
      readsGrowing = true;
      if (!llvm::is_contained(writes, buffer))
        return op.emitOpError(
                   "C2: must not read a sum that other ranks add to before a collective has reduced it, got ")
               << buffer;
    }
    bool isZero = reads.empty() && op.getPredicate() == Predicate::SegmentBegin;
    for (FlatSymbolRefAttr buffer : writes) {
      if (readsSplit && layoutOf(buffer) && !isSplit(buffer) && !isPartial(buffer))
        return op.emitOpError("C1: what is computed from split samples must be split or Partial, got ") << buffer;
      if (readsGrowing && !readsSplit && layoutOf(buffer) && !isPartial(buffer))
        return op.emitOpError("C1: what is computed from a part of a sum must be Partial, got ") << buffer;
      if (!isPartial(buffer))
        continue;
      if (!readsSplit && !readsGrowing && !isZero)
        return op.emitOpError("C1: only what is computed from split samples may be Partial, got ") << buffer;
      sums[buffer.getAttr()].hasTerms |= !isZero;
    }
    return success();
  }

  // C5. An input is this rank's own batch here, so nothing is split.
  LogicalResult checkAlone(ProgramOp program) {
    for (Operation &op : program.getBody().front()) {
      auto instruction = dyn_cast<InstructionOp>(op);
      if (!instruction)
        return op.emitOpError("C5: must stand in a program of the step, got @") << program.getSymName();
      if (!instruction.getWaits().empty())
        return op.emitOpError("C5: nothing is to be waited for in @") << program.getSymName();
      for (auto slice : instruction.getArguments().getAsRange<SliceAttr>())
        if (isPartial(slice.getBuffer()))
          return op.emitOpError("C5: must not use a sum over ranks in @")
                 << program.getSymName() << ", got " << slice.getBuffer();
    }
    return success();
  }

  ModuleOp module;
  DenseMap<StringAttr, LayoutAttr> layouts; // null: none
  DenseMap<StringAttr, Type> elementTypes;
  std::map<int64_t, BufferOp> places; // of state buffers, by offset
  llvm::MapVector<StringAttr, Sum> sums;
  llvm::MapVector<int64_t, CollectiveOp> travelling; // by signal, in the order of issue
  llvm::DenseSet<uint64_t> signals;
};

} // namespace

LogicalResult recipe::step::verifyCollectives(ModuleOp module) { return CollectiveProof(module).run(); }
