#include "tests/numerics/OpGraph.h"
#include "dialects/dist/Dist.h"
#include <cstring>
#include <gtest/gtest.h>

using namespace mlir;
using namespace recipe;
using namespace recipe::test;

OpGraph::OpGraph()
    : builder((context.loadDialect<train::TrainDialect, dist::DistDialect>(), &context)), loc(builder.getUnknownLoc()),
      module(ModuleOp::create(loc)) {
  beginGraph("forward");
}

void OpGraph::beginGraph(StringRef name) {
  builder.setInsertionPointToEnd(module.getBody());
  auto graph = train::GraphOp::create(builder, loc, name);
  builder.setInsertionPointToEnd(&graph.getBody().emplaceBlock());
}

void OpGraph::declare(StringRef name, Type type) {
  if (module.lookupSymbol(name))
    return;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(module.getBody());
  OperationState state(loc, train::VariableOp::getOperationName());
  state.addAttribute("sym_name", builder.getStringAttr(name));
  state.addAttribute("type", TypeAttr::get(type));
  state.addAttribute("role", train::RoleAttr::get(&context, train::Role::Output));
  builder.create(state);
}

Value OpGraph::input(StringRef name, ArrayRef<int64_t> shape, bool ids) {
  auto type = RankedTensorType::get(shape, ids ? Type(builder.getI32Type()) : Type(builder.getF32Type()));
  declare(name, type);
  return train::ReadOp::create(builder, loc, type, name);
}

void OpGraph::output(StringRef name, Value value) {
  declare(name, value.getType());
  train::WriteOp::create(builder, loc, name, value);
}

HostTensor Draws::tensor(ArrayRef<int64_t> shape, double low, double high) {
  HostTensor tensor = zeros(shape);
  for (double &x : tensor.f64)
    x = uniform(low, high);
  return tensor;
}

HostTensor Draws::ids(ArrayRef<int64_t> shape, int32_t n, int32_t gaps) {
  HostTensor tensor;
  tensor.type = HostTensor::Type::I32;
  tensor.shape.assign(shape.begin(), shape.end());
  for (int64_t i = 0, size = tensor.size(); i < size; ++i)
    tensor.i32.push_back(gaps && below(gaps) == 0 ? -1 : below(n));
  return tensor;
}

HostTensor recipe::test::filled(ArrayRef<int64_t> shape, double value) {
  HostTensor tensor;
  tensor.type = HostTensor::Type::F64;
  tensor.shape.assign(shape.begin(), shape.end());
  tensor.f64.assign(tensor.size(), value);
  return tensor;
}

HostTensor recipe::test::zeros(ArrayRef<int64_t> shape) { return filled(shape, 0); }

double recipe::test::at(const HostTensor &tensor, int64_t index) {
  switch (tensor.type) {
  case HostTensor::Type::F64:
    return tensor.f64[index];
  case HostTensor::Type::F32:
    return tensor.f32[index];
  case HostTensor::Type::I32:
    return tensor.i32[index];
  }
  llvm_unreachable("all types handled");
}

HostTensor recipe::test::map(const HostTensor &tensor, llvm::function_ref<double(double)> function) {
  HostTensor result = zeros(tensor.shape);
  for (int64_t i = 0, n = tensor.size(); i < n; ++i)
    result.f64[i] = function(at(tensor, i));
  return result;
}

HostTensor recipe::test::rows(const HostTensor &tensor, int64_t begin, int64_t end) {
  HostTensor part;
  part.type = tensor.type;
  part.shape = tensor.shape;
  part.shape[0] = end - begin;
  int64_t row = tensor.size() / tensor.shape[0];
  auto cut = [&](const auto &from, auto &to) {
    if (!from.empty())
      to.assign(from.begin() + begin * row, from.begin() + end * row);
  };
  cut(tensor.f64, part.f64);
  cut(tensor.f32, part.f32);
  cut(tensor.i32, part.i32);
  return part;
}

bool recipe::test::sameBits(const HostTensor &a, const HostTensor &b) {
  return a.shape == b.shape && a.type == b.type && a.f32.size() == b.f32.size() && !a.f32.empty() &&
         std::memcmp(a.f32.data(), b.f32.data(), a.f32.size() * sizeof(float)) == 0;
}

Values recipe::test::run(OpGraph &ops, StringRef graph, ReferenceMode mode, const Values &variables,
                         const rcp_step_params_v1 &params) {
  Values results;
  interp::Interpreter interpreter(ops.module, mode);
  interpreter.params() = params;
  for (const auto &[name, value] : variables)
    if (failed(interpreter.setVariable(name, value)))
      ADD_FAILURE() << "no variable '" << name << "' of this shape";
  if (failed(interpreter.run(graph))) {
    ADD_FAILURE() << "graph '" << graph.str() << "' could not be run";
    return results;
  }
  auto body = ops.module.lookupSymbol<train::GraphOp>(graph);
  for (auto write : body.getBody().getOps<train::WriteOp>())
    results[write.getVariable().str()] = *interpreter.variable(write.getVariable());
  return results;
}
