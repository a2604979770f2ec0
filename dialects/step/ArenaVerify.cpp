// The proof that a plan is sound, from buffers and instructions alone: it shares no code with the planner.
#include "dialects/step/Step.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include <map>

using namespace mlir;
using namespace recipe::step;

namespace {

// When a transient buffer lives within one timeline, counted in groups (the launches of one op).
struct Life {
  int64_t first = -1, last = -1;
  InstructionOp writer;
};

class ArenaProof {
public:
  ArenaProof(ArenaOp arena, ModuleOp module) : arena(arena), module(module) {}

  LogicalResult run() {
    for (auto buffer : module.getOps<BufferOp>())
      buffers[buffer.getSymNameAttr()] = buffer;
    if (failed(checkResidents()) || failed(checkTransientEnds()))
      return failure();
    SmallVector<ProgramOp> training;
    for (StringRef name : {"forward", "backward", "update"})
      if (auto program = module.lookupSymbol<ProgramOp>(name))
        training.push_back(program);
    for (auto program : module.getOps<ProgramOp>())
      if (!llvm::is_contained(training, program) && failed(checkTimeline({program}, /*isTraining=*/false)))
        return failure();
    return checkTimeline(training, /*isTraining=*/true);
  }

private:
  // State and input buffers, and every slot of the latter, are disjoint and inside their region in every row where they
  // exist.
  LogicalResult checkResidents() {
    for (Space region : {Space::State, Space::Input}) {
      std::map<int64_t, std::pair<int64_t, BufferOp>> taken;
      for (auto &[name, buffer] : buffers) {
        if (buffer.getSpace() != region)
          continue;
        int64_t slots = region == Space::Input ? 2 : 1;
        for (int64_t slot = 0; slot < slots; ++slot)
          if (failed(insert(taken, buffer, buffer.getOffset() + slot * buffer.getSlotStride())))
            return failure();
        int64_t end = buffer.end() + (slots - 1) * buffer.getSlotStride();
        for (auto row : arena.getRows().getAsRange<RowAttr>()) {
          int64_t size = region == Space::State ? row.getState() : row.getInput();
          if (int64_t(buffer.getMinNodes()) <= row.getNodes() && end > size)
            return buffer.emitOpError("must lie inside its region on every number of ranks, got ")
                   << end << " and " << size << " on " << row.getRanks();
        }
      }
    }
    return success();
  }

  LogicalResult checkTransientEnds() {
    for (auto &[name, buffer] : buffers)
      if (buffer.getSpace() == Space::Transient && buffer.end() > int64_t(arena.getScratchOffset()))
        return buffer.emitOpError("must end before the scratch, got ")
               << buffer.end() << " and " << arena.getScratchOffset();
    for (auto row : arena.getRows().getAsRange<RowAttr>()) {
      int64_t end = arena.getScratchOffset() + arena.getScratchStride() * arena.getMaxThreads() +
                    (row.getRanks() > 1 ? arena.getCommunication() : 0);
      if (row.getTransient() < end)
        return arena.emitOpError("transient region must hold buffers, scratch and what arrives, got ")
               << row.getTransient() << " and " << end << " on " << row.getRanks();
    }
    return success();
  }

  LogicalResult checkTimeline(ArrayRef<ProgramOp> programs, bool isTraining) {
    llvm::MapVector<StringAttr, Life> lives;
    int64_t group = 0;
    for (ProgramOp program : programs) {
      InstructionOp previous;
      for (auto instruction : program.getBody().getOps<InstructionOp>()) {
        bool sameOp = previous && instruction.getNameAttr() == previous.getNameAttr();
        if (sameOp && instruction.getPredicate() != previous.getPredicate())
          return instruction.emitOpError("launches of one op must run together, got ")
                 << stringifyPredicate(previous.getPredicate()) << " and "
                 << stringifyPredicate(instruction.getPredicate());
        group += !sameOp;
        previous = instruction;
        if (failed(checkAccesses(instruction, group, lives)))
          return failure();
      }
    }
    if (isTraining && failed(keepGradients(lives, group)))
      return failure();
    return checkOverlaps(lives);
  }

  // Whoever looks at gradients after the update finds them.
  LogicalResult keepGradients(llvm::MapVector<StringAttr, Life> &lives, int64_t end) {
    for (auto parameter : module.getOps<ParameterOp>())
      for (auto gradient : parameter.getGradients().getAsRange<FlatSymbolRefAttr>()) {
        if (buffers[gradient.getAttr()].getSpace() != Space::Transient)
          continue;
        auto life = lives.find(gradient.getAttr());
        if (life == lives.end())
          return parameter.emitOpError("a gradient must be written by forward or backward, got ") << gradient;
        life->second.last = end;
      }
    return success();
  }

  LogicalResult checkAccesses(InstructionOp instruction, int64_t group, llvm::MapVector<StringAttr, Life> &lives) {
    if (instruction.getScratchBytes() > arena.getScratchStride())
      return instruction.emitOpError("scratch must fit a thread's slice, got ")
             << instruction.getScratchBytes() << " and " << arena.getScratchStride();
    // Reads before writes: an instruction must not need what only itself produces.
    for (bool reads : {true, false})
      for (auto slice : instruction.getArguments().getAsRange<SliceAttr>()) {
        if ((slice.getAccess() == Access::Read) != reads)
          continue;
        BufferOp buffer = buffers[slice.getBuffer().getAttr()];
        if (buffer.getSpace() != Space::Transient) {
          if (!reads && (buffer.getSpace() == Space::Input || buffer.getData()))
            return instruction.emitOpError("must not write an input or a constant, got ") << slice.getBuffer();
          continue;
        }
        Life &life = lives[buffer.getSymNameAttr()];
        if (reads && !life.writer)
          return instruction.emitOpError("must not read what is not written yet, got ") << slice.getBuffer();
        if (reads && life.writer.getPredicate() != Predicate::Always &&
            life.writer.getPredicate() != instruction.getPredicate())
          return instruction.emitOpError("must not run when the writer of its operand does not, got ")
                 << slice.getBuffer();
        if (!reads && life.writer && life.first != group)
          return instruction.emitOpError("must not write what another instruction has written, got ")
                 << slice.getBuffer();
        if (!reads && !life.writer) {
          life.writer = instruction;
          life.first = group;
        }
        life.last = group;
      }
    return success();
  }

  // Sweep over time: the buffers that live at once are kept by offset, so that a new one need only be held against its
  // neighbours.
  LogicalResult checkOverlaps(llvm::MapVector<StringAttr, Life> &lives) {
    // `lives` is in order of first use already.
    SmallVector<std::pair<int64_t, StringAttr>> byLast;
    for (auto &[name, life] : lives)
      byLast.push_back({life.last, name});
    llvm::sort(byLast, [](auto &a, auto &b) { return a.first < b.first; });
    std::map<int64_t, std::pair<int64_t, BufferOp>> live;
    size_t expired = 0;
    for (auto &[name, life] : lives) {
      for (; expired < byLast.size() && byLast[expired].first < life.first; ++expired)
        release(live, buffers[byLast[expired].second]);
      BufferOp buffer = buffers[name];
      if (FlatSymbolRefAttr shared = buffer.getSharesAttr()) {
        auto other = lives.find(shared.getAttr());
        if (other == lives.end() || other->second.last != life.first || other->second.first >= life.first)
          return buffer.emitOpError("shares must name a buffer whose last reader is this one's writer, got ") << shared;
        release(live, buffers[shared.getAttr()]);
      }
      if (failed(insert(live, buffer, buffer.getOffset())))
        return failure();
    }
    return success();
  }

  static void release(std::map<int64_t, std::pair<int64_t, BufferOp>> &live, BufferOp buffer) {
    auto found = live.find(buffer.getOffset());
    if (found != live.end() && found->second.second == buffer)
      live.erase(found);
  }

  static LogicalResult insert(std::map<int64_t, std::pair<int64_t, BufferOp>> &live, BufferOp buffer, int64_t offset) {
    auto conflict = [&](BufferOp other) {
      InFlightDiagnostic error =
          buffer.emitOpError("must not lie on the bytes of a buffer that lives at the same time, got @")
          << other.getSymName();
      error.attachNote(other.getLoc()) << "which lies here";
      return error;
    };
    auto next = live.lower_bound(offset);
    if (next != live.end() && next->first < offset + int64_t(buffer.getBytes()))
      return conflict(next->second.second);
    if (next != live.begin() && std::prev(next)->second.first > offset)
      return conflict(std::prev(next)->second.second);
    live[offset] = {offset + buffer.getBytes(), buffer};
    return success();
  }

  ArenaOp arena;
  ModuleOp module;
  llvm::MapVector<StringAttr, BufferOp> buffers;
};

} // namespace

LogicalResult ArenaOp::verifySymbolUses(SymbolTableCollection &) {
  auto module = dyn_cast<ModuleOp>((*this)->getParentOp());
  if (!module)
    return emitOpError("must stand in a module");
  return success(succeeded(ArenaProof(*this, module).run()) && succeeded(verifyCollectives(module)));
}
