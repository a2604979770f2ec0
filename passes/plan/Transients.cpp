#include "passes/plan/Transients.h"

using namespace mlir;

namespace recipe::plan {
namespace {

class Placement {
public:
  Placement(const Timeline &timeline, const Residents &residents, Buffers &buffers)
      : timeline(timeline), residents(residents), buffers(buffers) {
    for (auto [time, moment] : llvm::enumerate(timeline.moments))
      if (moment.kernel)
        times[moment.kernel] = time;
    for (const Moment &moment : timeline.moments)
      if (moment.kernel)
        addReaders(moment.kernel->getBlock());
  }

  FailureOr<TransientPlan> run() {
    for (auto [time, moment] : llvm::enumerate(timeline.moments))
      if (moment.kernel && failed(placeResults(moment, time)))
        return failure();
    return assign();
  }

private:
  void addReaders(Block *block) {
    if (known.insert(block).second)
      for (auto read : block->getOps<train::ReadOp>())
        readers[{block, read.getVariableAttr().getAttr()}].push_back(read);
  }

  LogicalResult placeResults(const Moment &moment, int64_t time) {
    train::KernelOp kernel = moment.kernel;
    for (OpResult result : kernel->getResults()) {
      train::WriteOp written;
      for (Operation *user : result.getUsers())
        if (auto write = dyn_cast<train::WriteOp>(user)) {
          if (written)
            return write.emitError("a value must be written to one variable only, got @")
                   << written.getVariable() << " and @" << write.getVariable();
          written = write;
        }
      if (written && residents.carried.contains(written.getVariable()))
        carry(moment, result, time, written);
      else if (written ? failed(placeInVariable(kernel, result, time, written))
                       : failed(placeInTransient(moment, result, time)))
        return failure();
    }
    ArrayRef<int64_t> temps = kernel.getTemps().value_or(ArrayRef<int64_t>());
    if (!temps.empty())
      buffers.firstTemp[kernel] = buffers.all.size();
    for (auto [i, bytes] : llvm::enumerate(temps)) {
      auto type = RankedTensorType::get({bytes}, IntegerType::get(kernel.getContext(), 8));
      addTransient(moment, nameOf(moment, ":temp" + std::to_string(i)), type, kWorkspace, {0, time, time});
    }
    return success();
  }

  // The new value may take the variable's place once nothing needs the old one: its readers came before, or it is this
  // kernel, which may work in place.
  LogicalResult placeInVariable(train::KernelOp kernel, OpResult result, int64_t time, train::WriteOp write) {
    for (train::ReadOp read : readers.lookup({kernel->getBlock(), write.getVariableAttr().getAttr()})) {
      for (OpOperand &use : read.getResult().getUses()) {
        auto found = times.find(use.getOwner());
        bool before = found != times.end() && found->second < time;
        bool inPlace = use.getOwner() == kernel && mayShare(kernel, result.getResultNumber(), use.getOperandNumber());
        if (before || inPlace)
          continue;
        StringRef user = found == times.end() ? use.getOwner()->getName().getStringRef()
                                              : train::KernelOp(timeline.moments[found->second].kernel).getName();
        return write.emitError("variable @")
               << write.getVariable() << " must not be needed once its new value is produced by '" << kernel.getName()
               << "', got a use by '" << user << "'";
      }
    }
    buffers.values[result] = residents.variables.lookup(write.getVariable());
    return success();
  }

  void carry(const Moment &moment, OpResult result, int64_t time, train::WriteOp write) {
    StringAttr variable = write.getVariableAttr().getAttr();
    int64_t last = int64_t(timeline.moments.size()) - 1;
    Storage storage{addTransient(moment, residents.carried.lookup(variable), cast<RankedTensorType>(result.getType()),
                                 kGradients, {0, time, last})};
    buffers.values[result] = buffers.carried[variable] = storage;
    for (auto &[place, reads] : readers)
      if (place.second == variable)
        for (train::ReadOp read : reads)
          buffers.values[read.getResult()] = storage;
  }

  static bool mayShare(train::KernelOp kernel, int64_t result, int64_t operand) {
    ArrayRef<int64_t> pairs = kernel.getInPlace().value_or(ArrayRef<int64_t>());
    for (size_t i = 0; i + 1 < pairs.size(); i += 2)
      if (pairs[i] == result && pairs[i + 1] == operand)
        return true;
    return false;
  }

  LogicalResult placeInTransient(const Moment &moment, OpResult result, int64_t time) {
    int64_t last = time;
    for (Operation *user : result.getUsers()) {
      auto found = times.find(user);
      if (found == times.end())
        return user->emitError("only kernels may use what kernel '") << moment.name << "' gives";
      last = std::max(last, found->second);
    }
    std::string suffix = moment.kernel->getNumResults() > 1 ? ":" + std::to_string(result.getResultNumber()) : "";
    int64_t index = addTransient(moment, nameOf(moment, suffix), cast<RankedTensorType>(result.getType()), kActivations,
                                 {0, time, last});
    buffers.values[result] = {index};
    if (int64_t operand = dyingOperand(moment.kernel, result, time, buffers.all[index].bytes); operand >= 0)
      share(index, operand);
    return success();
  }

  // The transient buffer of an operand that this result may replace and that nothing else needs from now on; -1: none.
  int64_t dyingOperand(train::KernelOp kernel, OpResult result, int64_t time, int64_t bytes) {
    for (OpOperand &operand : kernel->getOpOperands()) {
      if (!mayShare(kernel, result.getResultNumber(), operand.getOperandNumber()))
        continue;
      auto found = slots.find(buffers.values.lookup(operand.get()).buffer);
      if (found == slots.end() || lifetimes[found->second].last != time || buffers.all[found->first].bytes != bytes)
        continue;
      bool again = llvm::count(kernel->getOperands(), operand.get()) > 1;
      if (!again && !takenOver.contains(found->first))
        return found->first;
    }
    return -1;
  }

  std::string nameOf(const Moment &moment, const std::string &suffix) const {
    return "%" + timeline.programs[moment.program] + "/" + moment.name + suffix;
  }

  int64_t addTransient(const Moment &moment, const std::string &name, RankedTensorType type, StringRef category,
                       Lifetime life) {
    int64_t index = buffers.all.size();
    life.bytes = buffers.localTypes.bytesOf(type);
    buffers.all.emplace_back(name, step::Space::Transient, type, life.bytes, category, moment.kernel->getLoc());
    slots[index] = lifetimes.size();
    lifetimes.push_back(life);
    owners.push_back(index);
    return index;
  }

  // `index` is the newest transient buffer; its lifetime becomes a continuation of the operand's.
  void share(int64_t index, int64_t operand) {
    buffers.all[index].shares = operand;
    takenOver.insert(operand);
    int64_t slot = slots[operand];
    lifetimes[slot].last = lifetimes.back().last;
    lifetimes.pop_back();
    owners.pop_back();
    slots[index] = slot;
  }

  TransientPlan assign() {
    OffsetAssignment assignment = assignOffsets(lifetimes);
    for (auto [index, slot] : slots)
      buffers.all[index].offset = assignment.offsets[slot];
    TransientPlan plan;
    plan.bytes = alignTo(assignment.bytes, alignmentOf(0));
    plan.peak = peakOf(lifetimes);
    for (auto [slot, life] : llvm::enumerate(lifetimes))
      if (life.first <= plan.peak.time && plan.peak.time <= life.last)
        plan.byCategory[buffers.all[owners[slot]].category] += alignTo(life.bytes, alignmentOf(0));
    return plan;
  }

  const Timeline &timeline;
  const Residents &residents;
  Buffers &buffers;
  DenseMap<Operation *, int64_t> times;
  DenseSet<Block *> known;
  DenseMap<std::pair<Block *, StringAttr>, SmallVector<train::ReadOp, 1>> readers; // of each variable in a graph
  std::vector<Lifetime> lifetimes;  // of storage; several buffers may follow each other in one
  std::vector<int64_t> owners;      // the first buffer of each
  DenseMap<int64_t, int64_t> slots; // buffer -> index in `lifetimes`
  DenseSet<int64_t> takenOver;
};

} // namespace

FailureOr<TransientPlan> placeTransients(const Timeline &timeline, const Residents &residents, Buffers &buffers) {
  return Placement(timeline, residents, buffers).run();
}

} // namespace recipe::plan
