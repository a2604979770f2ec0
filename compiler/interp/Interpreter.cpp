#include "compiler/interp/Interpreter.h"
#include "dialects/dist/Dist.h"
#include "dialects/train/Shapes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace recipe;
using namespace recipe::interp;
using train::HostTensor;
using train::ReferenceMode;

HostTensor recipe::interp::inMode(const HostTensor &value, ReferenceMode mode) {
  HostTensor result;
  result.shape = value.shape;
  switch (value.type) {
  case HostTensor::Type::I32:
    return value;
  case HostTensor::Type::F32:
    if (mode == ReferenceMode::Exact)
      return value;
    result.type = HostTensor::Type::F64;
    result.f64.assign(value.f32.begin(), value.f32.end());
    return result;
  case HostTensor::Type::F64:
    if (mode == ReferenceMode::Fp64)
      return value;
    result.type = HostTensor::Type::F32;
    result.f32.assign(value.f64.begin(), value.f64.end());
    return result;
  }
  llvm_unreachable("all types handled");
}

static HostTensor zeros(RankedTensorType type, ReferenceMode mode) {
  HostTensor tensor;
  tensor.shape.assign(type.getShape().begin(), type.getShape().end());
  if (type.getElementType().isInteger(32)) {
    tensor.type = HostTensor::Type::I32;
    tensor.i32.resize(tensor.size());
  } else if (mode == ReferenceMode::Fp64) {
    tensor.type = HostTensor::Type::F64;
    tensor.f64.resize(tensor.size());
  } else {
    tensor.type = HostTensor::Type::F32;
    tensor.f32.resize(tensor.size());
  }
  return tensor;
}

Interpreter::Interpreter(ModuleOp module, ReferenceMode mode) : source(module) {
  stepParams.struct_bytes = sizeof(stepParams);
  stepParams.abi_version = RCP_ABI_VERSION;
  context.mode = mode;
  context.params = &stepParams;
  for (auto variable : module.getOps<train::VariableOp>())
    variables[variable.getSymName()] =
        std::make_shared<HostTensor>(zeros(cast<RankedTensorType>(variable.getType()), mode));
  for (auto mesh : module.getOps<dist::MeshOp>())
    for (int64_t size : mesh.getAxisSizes())
      singleRank &= size == 1;
}

bool Interpreter::hasGraph(StringRef name) const {
  return isa_and_nonnull<train::GraphOp>(SymbolTable::lookupSymbolIn(source, name));
}

void Interpreter::setInput(StringRef name, HostTensor value) {
  inputs[name] = std::make_shared<HostTensor>(inMode(value, context.mode));
}

LogicalResult Interpreter::setVariable(StringRef symbol, const HostTensor &value) {
  auto found = variables.find(symbol);
  if (found == variables.end() || found->second->shape != value.shape)
    return failure();
  found->second = std::make_shared<HostTensor>(inMode(value, context.mode));
  return success();
}

// The values of one block while it runs; a value is dropped after its last use.
class Interpreter::Block {
public:
  explicit Block(Interpreter &parent) : parent(parent) {}

  void define(Value value, Tensor tensor) {
    if (!value.use_empty())
      values[value] = {std::move(tensor), std::distance(value.use_begin(), value.use_end())};
  }

  // Runs the ops of a block; `yielded` receives the operands of its terminator.
  LogicalResult run(mlir::Block &block, SmallVectorImpl<Tensor> &yielded) {
    for (Operation &op : block) {
      SmallVector<Tensor> operands;
      for (Value operand : op.getOperands())
        operands.push_back(use(operand));
      if (isa<train::YieldOp>(op)) {
        yielded = std::move(operands);
        return success();
      }
      SmallVector<Tensor> results;
      if (failed(evaluate(&op, operands, results)))
        return failure();
      for (auto [value, tensor] : llvm::zip_equal(op.getResults(), results))
        define(value, std::move(tensor));
    }
    return success();
  }

private:
  Tensor use(Value value) {
    auto found = values.find(value);
    assert(found != values.end() && "operands are defined before they are used");
    Tensor tensor = found->second.first;
    if (--found->second.second == 0)
      values.erase(found);
    return tensor;
  }

  LogicalResult evaluate(Operation *op, ArrayRef<Tensor> operands, SmallVectorImpl<Tensor> &results) {
    return TypeSwitch<Operation *, LogicalResult>(op)
        .Case([&](train::InputOp input) { return readInput(input, results); })
        .Case([&](train::ReadOp read) {
          results.push_back(parent.variables.lookup(read.getVariable()));
          return results[0] ? success() : read.emitOpError("names no variable: ") << read.getVariable();
        })
        .Case([&](train::WriteOp write) {
          parent.variables[write.getVariable()] = operands[0];
          return success();
        })
        .Case([&](train::BackwardBeginOp) { return success(); })
        .Case([&](train::KernelOp kernel) { return runKernel(kernel, operands, results); })
        .Case([&](train::ReferenceOpInterface compute) { return evaluateOp(compute, operands, results); })
        .Case<dist::AllReduceOp, dist::ReduceScatterOp, dist::AllGatherOp, dist::SliceOp, dist::AllToAllOp>(
            [&](Operation *change) -> LogicalResult {
              results.push_back(operands[0]);
              return parent.singleRank ? success() : change->emitOpError("is interpreted on a mesh of one rank only");
            })
        .Default([](Operation *other) { return other->emitOpError("has no reference meaning"); });
  }

  LogicalResult readInput(train::InputOp input, SmallVectorImpl<Tensor> &results) {
    Tensor tensor = parent.inputs.lookup(input.getName());
    if (!tensor)
      return input.emitOpError("has no value");
    ArrayRef<int64_t> shape = train::shapeOf(input.getResult());
    if (ArrayRef<int64_t>(tensor->shape) != shape)
      return input.emitOpError("takes a value of its shape, got: [") << ArrayRef<int64_t>(tensor->shape) << "]";
    results.push_back(std::move(tensor));
    return success();
  }

  LogicalResult runKernel(train::KernelOp kernel, ArrayRef<Tensor> operands, SmallVectorImpl<Tensor> &results) {
    Block inner(parent);
    mlir::Block &body = kernel.getBody().front();
    for (auto [argument, tensor] : llvm::zip_equal(body.getArguments(), operands))
      inner.define(argument, tensor);
    return inner.run(body, results);
  }

  LogicalResult evaluateOp(train::ReferenceOpInterface op, ArrayRef<Tensor> operands,
                           SmallVectorImpl<Tensor> &results) {
    SmallVector<const HostTensor *> inputs;
    for (const Tensor &operand : operands)
      inputs.push_back(operand.get());
    SmallVector<HostTensor> outputs(op->getNumResults());
    if (failed(op.evaluate(parent.context, inputs, outputs)))
      return failure();
    for (HostTensor &output : outputs)
      results.push_back(std::make_shared<HostTensor>(std::move(output)));
    return success();
  }

  Interpreter &parent;
  DenseMap<Value, std::pair<Tensor, int64_t>> values; // and the uses that are left
};

LogicalResult Interpreter::run(StringRef name) {
  auto graph = dyn_cast_or_null<train::GraphOp>(SymbolTable::lookupSymbolIn(source, name));
  if (!graph)
    return source.emitError() << "the module has no graph '" << name << "'";
  SmallVector<Tensor> nothing;
  return Block(*this).run(graph.getBody().front(), nothing);
}
