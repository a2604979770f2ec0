#include "compiler/interp/SameValues.h"
#include "compiler/interp/StepRun.h"
#include "dialects/train/RunValues.h"
#include "dialects/train/Shapes.h"
#include "dialects/train/StepFacts.h"
#include <algorithm>
#include <cstring>
#include <random>

using namespace mlir;
using namespace recipe;
using namespace recipe::interp;
using train::HostTensor;

namespace {

// Random numbers that are the same on every machine (the standard's distributions are not).
class Draws {
public:
  explicit Draws(uint64_t seed) : engine(seed) {}
  int64_t below(int64_t n) { return int64_t(engine() % uint64_t(n)); }
  float between(float low, float high) { return low + (high - low) * float(engine() >> 40) * 0x1p-24f; }

private:
  std::mt19937_64 engine;
};

// The ids that ops accept from an input: the smallest table or vocabulary it is used with.
int64_t idsBelow(Value ids) {
  int64_t limit = INT32_MAX;
  for (OpOperand &use : ids.getUses()) {
    Operation *user = use.getOwner();
    if (auto kernel = dyn_cast<train::KernelOp>(user))
      limit = std::min(limit, idsBelow(kernel.getBody().getArgument(use.getOperandNumber())));
    else if (auto op = dyn_cast<train::EmbeddingOp>(user))
      limit = std::min(limit, train::shapeOf(op.getTable())[0]);
    else if (auto op = dyn_cast<train::EmbeddingGradOp>(user))
      limit = std::min(limit, train::shapeOf(op.getResult())[0]);
    else if (auto op = dyn_cast<train::RopeOp>(user))
      limit = std::min(limit, train::shapeOf(op.getCosine())[0]);
    else if (auto op = dyn_cast<train::LinearCrossEntropyOp>(user))
      limit = std::min(limit, train::shapeOf(op.getWeight())[0]);
    else if (auto op = dyn_cast<train::LinearCrossEntropyGradOp>(user))
      limit = std::min(limit, train::shapeOf(op.getWeight())[0]);
    else if (user->getDialect()->getNamespace() == "dist")
      limit = std::min(limit, idsBelow(user->getResult(0)));
  }
  return limit;
}

bool takesLabels(Value ids) {
  return llvm::any_of(ids.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto kernel = dyn_cast<train::KernelOp>(user))
      return takesLabels(kernel.getBody().getArgument(use.getOperandNumber()));
    if (user->getDialect()->getNamespace() == "dist")
      return takesLabels(user->getResult(0));
    return isa<train::LinearCrossEntropyOp, train::LinearCrossEntropyGradOp>(user);
  });
}

HostTensor shaped(ArrayRef<int64_t> shape, HostTensor::Type type) {
  HostTensor tensor;
  tensor.type = type;
  tensor.shape.assign(shape.begin(), shape.end());
  return tensor;
}

HostTensor randomIds(train::InputOp input, Draws &draws) {
  HostTensor ids = shaped(train::shapeOf(input.getResult()), HostTensor::Type::I32);
  int64_t limit = idsBelow(input.getResult());
  bool labels = takesLabels(input.getResult());
  for (int64_t i = 0, n = ids.size(); i < n; ++i)
    ids.i32.push_back(labels && draws.below(8) == 0 ? -1 : int32_t(draws.below(limit)));
  return ids;
}

HostTensor randomValues(train::VariableOp variable, Draws &draws) {
  auto type = cast<RankedTensorType>(variable.getType());
  HostTensor values = shaped(type.getShape(), HostTensor::Type::F32);
  for (int64_t i = 0, n = values.size(); i < n; ++i)
    values.f32.push_back(variable.getRole() == train::Role::AdamV ? draws.between(0.0f, 1.0f)
                                                                  : draws.between(-1.0f, 1.0f));
  return values;
}

void setScalars(rcp_step_params_v1 &params, ModuleOp module, Draws &draws) {
  params.step = 5;
  params.seed = uint64_t(draws.below(INT64_MAX));
  params.first_sample = draws.below(1000);
  params.node_count = 1;
  if (module->hasAttr(train::StepFacts::kAttrName))
    if (FailureOr<train::StepFacts> facts = train::StepFacts::fromModule(module); succeeded(facts))
      params.node_count = facts->maxNodes();
  params.node = draws.below(params.node_count);
  params.run_values[train::LearningRate] = 0.01;
  params.run_values[train::MinLrRatio] = 0.1;
  params.run_values[train::Scheduler] = 2;
  params.run_values[train::WarmupSteps] = 3;
  params.run_values[train::WarmupRatio] = -1;
  params.run_values[train::MaxSteps] = 20;
  params.learning_rate = 0.005;
  params.bias_correction1 = 0.4;
  params.bias_correction2 = 0.2;
  params.valid_tokens = 11;
  params.loss_sum = 20.5;
  params.grad_norm = 1.5;
  params.grad_scale = 0.06;
}

// Bits equal, or both NaN.
template <class Float> bool same(Float a, Float b) { return std::memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b); }

template <class Float>
LogicalResult sameElements(train::VariableOp variable, const std::vector<Float> &a, const std::vector<Float> &b) {
  for (size_t i = 0; i < a.size(); ++i)
    if (!same(a[i], b[i]))
      return variable.emitError() << "differs at element " << i << ", got: " << a[i] << " before and " << b[i]
                                  << " after";
  return success();
}

LogicalResult sameTensor(train::VariableOp variable, const HostTensor &a, const HostTensor &b) {
  if (a.shape != b.shape || a.type != b.type)
    return variable.emitError() << "has another type after the pass";
  if (failed(sameElements(variable, a.f32, b.f32)) || failed(sameElements(variable, a.f64, b.f64)))
    return failure();
  if (a.i32 != b.i32)
    return variable.emitError() << "differs";
  return success();
}

} // namespace

LogicalResult recipe::interp::sameValues(ModuleOp before, ModuleOp after, StringRef graph, uint64_t seed,
                                         train::ReferenceMode mode) {
  Interpreter first(before, mode), second(after, mode);
  Draws draws(seed);
  for (auto variable : before.getOps<train::VariableOp>()) {
    HostTensor values = randomValues(variable, draws);
    if (failed(first.setVariable(variable.getSymName(), values)) ||
        failed(second.setVariable(variable.getSymName(), values)))
      return variable.emitError() << "is missing or has another shape after the pass";
  }
  auto body = dyn_cast_or_null<train::GraphOp>(SymbolTable::lookupSymbolIn(before, graph));
  if (!body)
    return before.emitError() << "the module has no graph '" << graph << "'";
  body.walk([&](train::InputOp input) {
    HostTensor ids = randomIds(input, draws);
    first.setInput(input.getName(), ids);
    second.setInput(input.getName(), ids);
  });
  setScalars(first.params(), before, draws);
  second.params() = first.params();
  rcp_step_params_v1 initial = first.params();

  if (failed(refresh(first)) || failed(refresh(second)) || failed(first.run(graph)) || failed(second.run(graph)))
    return failure();
  for (auto variable : before.getOps<train::VariableOp>())
    if (failed(sameTensor(variable, *first.variable(variable.getSymName()), *second.variable(variable.getSymName()))))
      return failure();
  bool changesScalars = std::memcmp(&first.params(), &initial, sizeof initial) != 0;
  if (body.getBody().getOps<train::WriteOp>().empty() && !changesScalars)
    return body.emitError() << "writes nothing that could be compared";
  if (std::memcmp(&first.params(), &second.params(), sizeof(rcp_step_params_v1)) != 0)
    return after.emitError() << "graph '" << graph << "' leaves other step scalars after the pass";
  return success();
}
