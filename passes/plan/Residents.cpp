#include "passes/plan/Residents.h"
#include "dialects/dist/Dist.h"
#include "passes/plan/OffsetAssignment.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace recipe::plan {
namespace {

// "grad:wte#1" for the gradient of the second use of wte.
std::string bufferName(train::VariableOp variable, StringRef prefix) {
  std::string name = (prefix + variable.getOf().value_or(variable.getSymName())).str();
  if (variable.getUse().value_or(0) > 0)
    name += "#" + std::to_string(*variable.getUse());
  return name;
}

struct RoleFacts {
  StringRef prefix, category;
};
RoleFacts factsOf(train::Role role) {
  switch (role) {
  case train::Role::Parameter:
    return {"param:", kParameters};
  case train::Role::AdamM:
    return {"adam_m:", kOptimizer};
  case train::Role::AdamV:
    return {"adam_v:", kOptimizer};
  case train::Role::Gradient:
    return {"grad:", kGradients};
  case train::Role::Pending:
    return {"pending:", kGradients};
  case train::Role::Loss:
    return {"loss:", kGradients};
  case train::Role::Output:
    return {"output:", kActivations};
  case train::Role::Working:
    return {"working:", kParameters};
  }
  llvm_unreachable("every role has a place");
}

// [L, ..] without its first dimension.
RankedTensorType typeOfLevel(RankedTensorType type) {
  Attribute layout;
  if (auto whole = dist::layoutOf(type))
    layout =
        dist::LayoutAttr::get(type.getContext(), whole.getMesh(), whole.getDims().drop_front(), whole.getPartial());
  return RankedTensorType::get(type.getShape().drop_front(), type.getElementType(), layout);
}

class Placement {
public:
  Placement(ModuleOp module, const train::StepFacts &facts, bool evaluatesTables, Buffers &buffers)
      : module(module), facts(facts), evaluatesTables(evaluatesTables), buffers(buffers) {}

  FailureOr<Residents> run() {
    using train::Role;
    findCarried();
    // In the order of the update's streams; the pending copies come last of all.
    for (Role role :
         {Role::Parameter, Role::AdamM, Role::AdamV, Role::Working, Role::Gradient, Role::Loss, Role::Output})
      for (auto variable : module.getOps<train::VariableOp>())
        if (variable.getRole() == role && !residents.carried.contains(variable.getSymName()))
          residents.variables[variable.getSymName()] = {addState(variable, bufferName(variable, factsOf(role).prefix),
                                                                 cast<RankedTensorType>(variable.getType()))};
    if (failed(placeTables()))
      return failure();
    placePending();
    if (failed(placeInputs()))
      return failure();
    bindReads();
    return residents;
  }

private:
  // Before backward makes them and after the update nobody needs gradients, unless sums go on from one micro-batch to
  // the next or are reduced in place.
  void findCarried() {
    if (!facts.isOneMicrobatch() || !module.lookupSymbol<train::GraphOp>("update"))
      return;
    for (auto variable : module.getOps<train::VariableOp>())
      if (variable.getRole() == train::Role::Gradient)
        residents.carried[variable.getSymName()] = bufferName(variable, factsOf(train::Role::Gradient).prefix);
    for (auto graph : module.getOps<train::GraphOp>())
      for (Operation &op : graph.getBody().front())
        if (auto write = dyn_cast<train::WriteOp>(op); write && graph.getSymName() != "train")
          residents.carried.erase(write.getVariable());
        else if (auto read = dyn_cast<train::ReadOp>(op); read && !isReadByUpdate(read, graph))
          residents.carried.erase(read.getVariable());
  }

  static bool isReadByUpdate(train::ReadOp read, train::GraphOp graph) {
    return graph.getSymName() == "update" && llvm::all_of(read.getResult().getUsers(), llvm::IsaPred<train::KernelOp>);
  }

  int64_t addState(train::VariableOp variable, const std::string &name, RankedTensorType type) {
    int64_t index = add(make(name, step::Space::State, type, factsOf(variable.getRole()).category, variable.getLoc()));
    place(index);
    return index;
  }

  Buffer make(const std::string &name, step::Space space, RankedTensorType type, StringRef category, Location loc) {
    return Buffer(name, space, type, buffers.localTypes.bytesOf(type), category, loc);
  }

  int64_t add(Buffer buffer) {
    while (!names.insert(buffer.name).second)
      buffer.name += "'";
    buffers.all.push_back(std::move(buffer));
    return buffers.all.size() - 1;
  }

  void place(int64_t index) {
    Buffer &buffer = buffers.all[index];
    buffer.offset = alignTo(stateEnd, alignmentOf(buffer.bytes));
    stateEnd = buffer.offset + buffer.bytes;
  }

  // Level by level over all variables: a rank with half the nodes needs one level less, and what it needs is a prefix.
  void placePending() {
    int64_t deepest = 0;
    for (auto variable : module.getOps<train::VariableOp>()) {
      if (variable.getRole() != train::Role::Pending)
        continue;
      auto type = cast<RankedTensorType>(variable.getType());
      RankedTensorType levelType = typeOfLevel(type);
      std::string name = bufferName(variable, factsOf(train::Role::Pending).prefix);
      for (int64_t level = 0; level < type.getDimSize(0); ++level) {
        Buffer buffer =
            make(name + "." + std::to_string(level), step::Space::State, levelType, kGradients, variable.getLoc());
        buffer.minNodes = (int64_t(1) << level) + 1;
        int64_t index = add(std::move(buffer));
        if (level == 0)
          residents.variables[variable.getSymName()] = {index, buffers.all[index].bytes};
      }
      deepest = std::max(deepest, type.getDimSize(0));
    }
    for (int64_t level = 0; level < deepest; ++level)
      for (int64_t index = 0, count = buffers.all.size(); index < count; ++index)
        if (buffers.all[index].minNodes == (int64_t(1) << level) + 1)
          place(index);
  }

  // Equal tables of several layers or graphs are one constant.
  LogicalResult placeTables() {
    llvm::MapVector<std::pair<Attribute, Attribute>, SmallVector<int64_t>> known;
    for (auto graph : module.getOps<train::GraphOp>())
      for (Operation &op : graph.getBody().front()) {
        auto precision = dyn_cast<train::PrecisionOpInterface>(op);
        if (!precision || precision.getPrecisionClass() != train::PrecisionClass::Table)
          continue;
        auto key = std::make_pair(Attribute(op.getAttrDictionary()), Attribute(op.getName().getIdentifier()));
        SmallVector<int64_t> &indices = known[key];
        if (indices.empty() && failed(placeTable(&op, known.size() - 1, indices)))
          return failure();
        for (auto [result, index] : llvm::zip_equal(op.getResults(), indices)) {
          if (buffers.all[index].type != result.getType())
            return op.emitError("tables with equal attributes must have equal types, got ")
                   << buffers.all[index].type << " and " << result.getType();
          buffers.values[result] = {index};
        }
      }
    return success();
  }

  LogicalResult placeTable(Operation *op, size_t number, SmallVector<int64_t> &indices) {
    std::vector<train::HostTensor> results(op->getNumResults());
    train::ReferenceContext context;
    context.mode = train::ReferenceMode::Exact;
    if (evaluatesTables && failed(cast<train::ReferenceOpInterface>(op).evaluate(context, {}, results)))
      return failure();
    for (auto [i, tensor] : llvm::enumerate(results)) {
      auto type = cast<RankedTensorType>(op->getResultTypes()[i]);
      Buffer buffer = make(("const:" + op->getName().stripDialect() + Twine(number) + "." + Twine(i)).str(),
                           step::Space::State, type, kConstants, op->getLoc());
      if (evaluatesTables) {
        if (tensor.type != train::HostTensor::Type::F32 || int64_t(tensor.f32.size()) != type.getNumElements())
          return op->emitError("a table must evaluate to f32 of its type");
        buffer.data = DenseElementsAttr::get(type, ArrayRef<float>(tensor.f32));
      }
      indices.push_back(add(std::move(buffer)));
      place(indices.back());
    }
    return success();
  }

  LogicalResult placeInputs() {
    SmallVector<int64_t> inputs;
    llvm::StringMap<int64_t> byName;
    int64_t end = 0;
    for (auto graph : module.getOps<train::GraphOp>())
      for (auto input : graph.getBody().getOps<train::InputOp>()) {
        auto [entry, isNew] = byName.try_emplace(input.getName(), buffers.all.size());
        auto type = cast<RankedTensorType>(input.getResult().getType());
        if (isNew) {
          Buffer buffer = make(("input:" + input.getName()).str(), step::Space::Input, type, kInputs, input.getLoc());
          buffer.offset = end;
          end = alignTo(end + buffer.bytes, alignmentOf(0));
          inputs.push_back(add(std::move(buffer)));
        }
        // A rank's part of the training batch and its own batch of evaluation share the place.
        Buffer &buffer = buffers.all[entry->second];
        if (buffers.localTypes.of(buffer.type) != buffers.localTypes.of(type))
          return input.emitError("an input must have one type on a rank in all graphs, got ")
                 << buffer.type << " and " << type;
        if (graph.getSymName() != "eval")
          buffer.type = type;
        buffers.values[input.getResult()] = {entry->second};
      }
    for (int64_t index : inputs)
      buffers.all[index].slotStride = end;
    residents.inputBytes = end * kInputSlots;
    return success();
  }

  void bindReads() {
    for (auto graph : module.getOps<train::GraphOp>())
      for (Operation &op : graph.getBody().front()) {
        if (auto read = dyn_cast<train::ReadOp>(op))
          buffers.values[read.getResult()] = residents.variables.lookup(read.getVariable());
        else if (auto reduction = dyn_cast<dist::AllReduceOp>(op)) // in place
          buffers.values[reduction.getResult()] = buffers.values.lookup(reduction.getInput());
      }
  }

  ModuleOp module;
  const train::StepFacts &facts;
  bool evaluatesTables;
  Buffers &buffers;
  Residents residents;
  llvm::StringSet<> names;
  int64_t stateEnd = 0;
};

} // namespace

int64_t Residents::stateBytes(const Buffers &buffers, int64_t nodes) const {
  int64_t end = 0;
  for (const Buffer &buffer : buffers.all)
    if (buffer.space == step::Space::State && buffer.minNodes <= nodes)
      end = std::max(end, buffer.offset + buffer.bytes);
  return alignTo(end, alignmentOf(0));
}

FailureOr<Residents> placeResidents(ModuleOp module, const train::StepFacts &facts, bool evaluatesTables,
                                    Buffers &buffers) {
  return Placement(module, facts, evaluatesTables, buffers).run();
}

} // namespace recipe::plan
