#include "tests/numerics/KernelHarness.h"
#include "compiler/target/cpu/Compile.h"
#include "dialects/step/Step.h"
#include "dialects/train/Formulas.h"
#include "dialects/train/Policies.h"
#include "dialects/train/Train.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Parser/Parser.h"
#include "passes/select/KernelRule.h"
#include "tests/numerics/GuardedMemory.h"
#include "tests/numerics/LoadedObject.h"
#include <cmath>
#include <list>

using namespace mlir;
using namespace recipe;
using recipe::train::HostTensor;

namespace recipe::test {

//===- Operand values -------------------------------------------------------------------------------------------===//

static double unit(Random &random) { return double(random() >> 11) * 0x1p-53; }

Fill normal(double spread) {
  return [=](HostTensor &tensor, Random &random) {
    for (float &value : tensor.f32) {
      uint64_t draw = random() % 64;
      double sum = unit(random) + unit(random) + unit(random) - 1.5;
      value = draw == 0 ? 0.0f : draw == 1 ? -0.0f : draw == 2 ? 1e-40f : float(2 * spread * sum);
    }
  };
}

Fill uniform(double low, double high) {
  return [=](HostTensor &tensor, Random &random) {
    for (float &value : tensor.f32)
      value = float(low + (high - low) * unit(random));
  };
}

Fill constant(double number) {
  return [=](HostTensor &tensor, Random &) { std::fill(tensor.f32.begin(), tensor.f32.end(), float(number)); };
}

Fill exponents(uint32_t low, uint32_t high) {
  return [=](HostTensor &tensor, Random &random) {
    for (float &value : tensor.f32) {
      uint32_t bits = (uint32_t(random()) & 0x807fffff) | (low + uint32_t(random() % (high - low + 1))) << 23;
      std::memcpy(&value, &bits, sizeof value);
    }
  };
}

Fill ids(int64_t limit, double invalid) {
  return [=](HostTensor &tensor, Random &random) {
    for (int32_t &value : tensor.i32)
      value = unit(random) < invalid ? -1 : int32_t(random() % uint64_t(limit));
  };
}

//===- The ops as a train.kernel --------------------------------------------------------------------------------===//

namespace {

struct RegionModule {
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  train::KernelOp kernel;
};

std::string joined(size_t count, llvm::function_ref<std::string(size_t)> item) {
  std::string text;
  for (size_t i = 0; i < count; ++i)
    text += (i ? ", " : "") + item(i);
  return text;
}

std::string textOf(const KernelCase &c) {
  auto number = [](const char *prefix, size_t i) { return prefix + std::to_string(i); };
  auto operandType = [&](size_t i) { return "tensor<" + c.operands[i].type + ">"; };
  auto resultType = [&](size_t i) { return "tensor<" + c.results[i] + ">"; };
  std::string type =
      "(" + joined(c.operands.size(), operandType) + ") -> (" + joined(c.results.size(), resultType) + ")";
  std::string text = "train.graph @test {\n";
  for (size_t i = 0; i < c.operands.size(); ++i)
    text += "  " + number("%a", i) + " = train.input \"" + number("a", i) + "\" : " + operandType(i) + "\n";
  text += "  ";
  std::string outer = joined(c.results.size(), [&](size_t i) { return number("%r", i); });
  text += (outer.empty() ? "" : outer + " = ") + "train.kernel \"test\"(" +
          joined(c.operands.size(), [&](size_t i) { return number("%a", i); }) + ") : " + type + " {\n  ^bb0(" +
          joined(c.operands.size(), [&](size_t i) { return number("%x", i) + ": " + operandType(i); }) + "):\n    ";
  auto given = [&](size_t i) { return c.body.empty() ? number("%y", i) : "%" + c.yields[i]; };
  std::string inner = joined(c.results.size(), given);
  if (c.body.empty())
    text += (inner.empty() ? "" : inner + " = ") + c.op + " " +
            joined(c.operands.size(), [&](size_t i) { return number("%x", i); }) + " {" + c.attributes + "} : " + type +
            "\n";
  text += c.body;
  text +=
      "    train.yield " + inner + (inner.empty() ? "" : " : " + joined(c.results.size(), resultType)) + "\n  }\n}\n";
  return text;
}

bool parse(const KernelCase &c, RegionModule &result) {
  result.context.loadDialect<train::TrainDialect, step::StepDialect>();
  std::string text = textOf(c);
  result.module = parseSourceString<ModuleOp>(text, ParserConfig(&result.context));
  if (!result.module) {
    ADD_FAILURE() << "the case does not parse:\n" << text;
    return false;
  }
  result.module->walk([&](train::KernelOp kernel) { result.kernel = kernel; });
  return true;
}

// The kernels of the region's launches; that of launch i has the symbol `symbol` and i.
bool addKernels(RegionModule &unit, const step::TargetInfo &target, const std::string &symbol, select::KernelPlan &plan,
                SmallVectorImpl<step::KernelOp> &kernels) {
  if (failed(select::planRegion(unit.kernel, target, plan))) {
    ADD_FAILURE() << "no kernel rule for the region";
    return false;
  }
  OpBuilder builder(unit.module->getBodyRegion());
  for (auto [i, launch] : llvm::enumerate(plan.launches)) {
    auto kernel = step::KernelOp::create(builder, unit.kernel.getLoc(), symbol + std::to_string(i), launch.family,
                                         builder.getDictionaryAttr(launch.spec));
    if (launch.keepsRegion) {
      IRMapping mapping;
      unit.kernel.getBody().cloneInto(&kernel.getBody(), mapping);
    }
    kernels.push_back(kernel);
  }
  return true;
}

bool compile(ArrayRef<step::KernelOp> kernels, const step::TargetInfo &target, std::string &object) {
  llvm::Expected<std::string> compiled = cpu::compileKernels(kernels, target, 2);
  if (!compiled) {
    ADD_FAILURE() << llvm::toString(compiled.takeError());
    return false;
  }
  object = std::move(*compiled);
  return true;
}

bool selectAndCompile(RegionModule &unit, const step::TargetInfo &target, select::KernelPlan &plan,
                      std::string &object) {
  SmallVector<step::KernelOp> kernels;
  return addKernels(unit, target, "k", plan, kernels) && compile(kernels, target, object);
}

//===- Running --------------------------------------------------------------------------------------------------===//

HostTensor emptyOf(Type type) {
  auto tensorType = cast<RankedTensorType>(type);
  HostTensor tensor;
  tensor.shape.assign(tensorType.getShape().begin(), tensorType.getShape().end());
  if (tensorType.getElementType().isInteger(32)) {
    tensor.type = HostTensor::Type::I32;
    tensor.i32.resize(tensor.size());
  } else {
    tensor.type = HostTensor::Type::F32;
    tensor.f32.resize(tensor.size());
  }
  return tensor;
}

// A tensor as kernels see it. bf16 is the upper half of the float that holds it.
std::vector<char> bytesOf(const HostTensor &tensor, Type type) {
  auto copyOf = [](const auto &values) {
    const char *begin = reinterpret_cast<const char *>(values.data());
    return std::vector<char>(begin, begin + values.size() * sizeof(values[0]));
  };
  if (tensor.type == HostTensor::Type::I32)
    return copyOf(tensor.i32);
  if (!cast<RankedTensorType>(type).getElementType().isBF16())
    return copyOf(tensor.f32);
  std::vector<uint16_t> halves;
  for (float value : tensor.f32)
    halves.push_back(uint16_t(train::ExactPolicy::bitcastToInt(value) >> 16));
  return copyOf(halves);
}

std::vector<float> floatsAt(const void *memory, int64_t count, bool bf16) {
  std::vector<float> floats(count);
  if (!bf16) {
    std::memcpy(floats.data(), memory, count * 4);
    return floats;
  }
  for (int64_t i = 0; i < count; ++i)
    floats[i] = train::ExactPolicy::bitcastToFloat(uint32_t(static_cast<const uint16_t *>(memory)[i]) << 16);
  return floats;
}

bool sameFloat(float a, float b) { return std::memcmp(&a, &b, 4) == 0 || (std::isnan(a) && std::isnan(b)); }

void expectSame(const HostTensor &expected, const std::vector<float> &values, const std::string &what) {
  int64_t differences = 0, first = -1;
  for (int64_t i = 0; i < expected.size(); ++i)
    if (!sameFloat(expected.f32[i], values[i])) {
      first = differences++ ? first : i;
    }
  if (differences)
    ADD_FAILURE() << what << ": " << differences << " of " << expected.size() << " elements differ, first at " << first
                  << ": expected " << expected.f32[first] << ", got " << values[first];
}

// `params` after the op, as words; where both are NaN, payloads do not matter.
void expectSameParams(const rcp_step_params_v1 &expected, const rcp_step_params_v1 &actual, const std::string &what) {
  const char *e = reinterpret_cast<const char *>(&expected), *a = reinterpret_cast<const char *>(&actual);
  for (size_t offset = 0; offset < sizeof expected; offset += 8) {
    double x, y;
    std::memcpy(&x, e + offset, 8);
    std::memcpy(&y, a + offset, 8);
    if (std::memcmp(&x, &y, 8) != 0 && !(std::isnan(x) && std::isnan(y)))
      ADD_FAILURE() << what << ": StepParams differ at byte " << offset << ": expected " << x << ", got " << y;
  }
}

struct Reference {
  std::vector<HostTensor> operands, results;
  std::vector<std::vector<char>> bytes; // of operands
  std::vector<bool> isBF16;             // of results
  rcp_step_params_v1 before{}, after{};
};

bool evaluateOps(Block &block, train::ReferenceContext &context, Reference &reference) {
  llvm::DenseMap<Value, const HostTensor *> values;
  std::list<std::vector<HostTensor>> inner;
  for (auto [argument, operand] : llvm::zip(block.getArguments(), reference.operands))
    values[argument] = &operand;
  for (Operation &op : block.without_terminator()) {
    std::vector<const HostTensor *> operands;
    for (Value operand : op.getOperands())
      operands.push_back(values.lookup(operand));
    std::vector<HostTensor> &results = inner.emplace_back(op.getNumResults());
    if (failed(cast<train::ReferenceOpInterface>(op).evaluate(context, operands, results)))
      return false;
    for (auto [value, result] : llvm::zip(op.getResults(), results))
      values[value] = &result;
  }
  for (Value value : block.getTerminator()->getOperands())
    reference.results.push_back(*values.lookup(value));
  return true;
}

bool evaluate(const KernelCase &c, Block &block, Reference &reference) {
  Random random(0x9e3779b97f4a7c15u);
  for (auto [argument, operand] : llvm::zip(block.getArguments(), c.operands)) {
    reference.operands.push_back(emptyOf(argument.getType()));
    operand.fill(reference.operands.back(), random);
  }
  if (c.prepare)
    c.prepare(reference.operands);
  for (auto [type, operand] : llvm::zip(block.getArgumentTypes(), reference.operands)) {
    train::ExactPolicy policy;
    if (cast<RankedTensorType>(type).getElementType().isBF16())
      for (float &value : operand.f32)
        value = train::roundToBF16(policy, value);
    reference.bytes.push_back(bytesOf(operand, type));
  }
  for (Type type : block.getTerminator()->getOperandTypes())
    reference.isBF16.push_back(cast<RankedTensorType>(type).getElementType().isBF16());
  reference.before.struct_bytes = sizeof(rcp_step_params_v1);
  reference.before.abi_version = RCP_ABI_VERSION;
  if (c.params)
    c.params(reference.before);
  reference.after = reference.before;
  train::ReferenceContext context{train::ReferenceMode::Exact, &reference.after};
  bool good = evaluateOps(block, context, reference);
  EXPECT_TRUE(good) << "the reference meaning fails";
  return good;
}

const rcp_host_v1 host = {std::exp, std::log, std::pow, std::cos};

struct NativeRun {
  const select::KernelPlan &plan;
  const LoadedObject &object;
  const Reference &reference;

  // Result `shared.first` lies over operand `shared.second`, or nowhere when negative.
  void check(bool reversed, std::pair<int64_t, int64_t> shared, const std::string &what) const {
    std::vector<GuardedMemory> operands, results, temps;
    for (const std::vector<char> &bytes : reference.bytes) {
      operands.emplace_back(int64_t(bytes.size()));
      std::memcpy(operands.back().data(), bytes.data(), bytes.size());
    }
    for (auto [result, isBF16] : llvm::zip_equal(reference.results, reference.isBF16))
      results.emplace_back(result.size() * (isBF16 ? 2 : 4));
    for (int64_t bytes : plan.temps)
      temps.emplace_back(bytes);
    auto resultPlace = [&](int64_t i) {
      return i == shared.first ? operands[shared.second].data() : results[i].data();
    };
    auto place = [&](const select::Argument &argument) -> void * {
      char *base = argument.kind == step::ArgumentKind::Operand  ? operands[argument.index].data()
                   : argument.kind == step::ArgumentKind::Result ? resultPlace(argument.index)
                                                                 : temps[argument.index].data();
      return base + argument.offset;
    };

    rcp_step_params_v1 params = reference.before;
    train::FlushDenormals flush;
    for (auto [i, launch] : llvm::enumerate(plan.launches)) {
      std::vector<void *> buffers;
      for (const select::Argument &argument : launch.arguments)
        buffers.push_back(place(argument));
      GuardedMemory scratch(llvm::alignTo(launch.scratchBytes, 64));
      rcp_launch_v1 arguments{buffers.data(), launch.scalars.data(), &params, &host};
      rcp_kernel_v1 kernel = object.kernel("k" + std::to_string(i));
      for (int64_t w = 0; w < launch.workgroups; ++w)
        kernel(&arguments, reversed ? launch.workgroups - 1 - w : w, scratch.data());
    }

    for (auto [i, result] : llvm::enumerate(reference.results))
      expectSame(result, floatsAt(resultPlace(i), result.size(), reference.isBF16[i]),
                 what + ", result " + std::to_string(i));
    for (auto [i, bytes] : llvm::enumerate(reference.bytes))
      if (int64_t(i) != shared.second)
        EXPECT_EQ(std::memcmp(bytes.data(), operands[i].data(), bytes.size()), 0)
            << what << ": operand " << i << " changed";
    expectSameParams(reference.after, params, what);
  }
};

} // namespace

std::string regionOp(const std::string &results, const std::string &op, const std::vector<std::string> &operands,
                     const std::string &attributes, const std::vector<std::string> &operandTypes,
                     const std::vector<std::string> &resultTypes) {
  auto tensors = [](const std::vector<std::string> &types) {
    return "(" + joined(types.size(), [&](size_t i) { return "tensor<" + types[i] + ">"; }) + ")";
  };
  return "    " + results + " = train." + op + " " +
         joined(operands.size(), [&](size_t i) { return "%" + operands[i]; }) + " {" + attributes +
         "} : " + tensors(operandTypes) + " -> " + tensors(resultTypes) + "\n";
}

void expectNativeIsExact(const KernelCase &kernelCase, const step::TargetInfo &target) {
  RegionModule unit;
  select::KernelPlan plan;
  std::string bytes;
  Reference reference;
  if (!parse(kernelCase, unit) || !evaluate(kernelCase, unit.kernel.getBody().front(), reference) ||
      !selectAndCompile(unit, target, plan, bytes))
    return;
  LoadedObject object(bytes);
  NativeRun run{plan, object, reference};
  run.check(false, {-1, -1}, "ascending workgroups");
  run.check(true, {-1, -1}, "descending workgroups");
  for (auto [result, operand] : plan.inPlace)
    run.check(true, {result, operand}, "result " + std::to_string(result) + " over operand " + std::to_string(operand));
}

int64_t specOf(const KernelCase &kernelCase, const step::TargetInfo &target, const char *name) {
  RegionModule unit;
  select::KernelPlan plan;
  if (!parse(kernelCase, unit) || failed(select::planRegion(unit.kernel, target, plan)))
    return -1;
  auto value = dyn_cast_if_present<IntegerAttr>(NamedAttrList(plan.launches.front().spec).get(name));
  return value ? value.getInt() : -1;
}

void expectCompiles(const KernelCase &kernelCase, const step::TargetInfo &target) {
  RegionModule unit;
  select::KernelPlan plan;
  std::string bytes;
  if (parse(kernelCase, unit))
    selectAndCompile(unit, target, plan, bytes);
}

std::string compileTogether(ArrayRef<KernelCase> cases, const step::TargetInfo &target) {
  std::list<RegionModule> units;
  SmallVector<step::KernelOp> distinct;
  for (const KernelCase &each : cases) {
    select::KernelPlan plan;
    SmallVector<step::KernelOp> kernels;
    if (!parse(each, units.emplace_back()) || !addKernels(units.back(), target, each.name + ".", plan, kernels))
      return "";
    size_t first = distinct.size();
    for (step::KernelOp kernel : kernels)
      if (llvm::none_of(ArrayRef(distinct).drop_front(first), [&](step::KernelOp other) {
            return other.getFamily() == kernel.getFamily() && other.getSpec() == kernel.getSpec();
          }))
        distinct.push_back(kernel);
  }
  std::string bytes;
  return compile(distinct, target, bytes) ? bytes : "";
}

} // namespace recipe::test
