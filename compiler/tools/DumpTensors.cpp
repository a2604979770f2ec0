#include "compiler/tools/DumpTensors.h"
#include "runtime/checkpoint/Safetensors.h"
#include "llvm/ADT/StringMap.h"
#include <numeric>

using namespace mlir;
using recipe::train::HostTensor;
using recipe::train::VariableOp;

namespace recipe {
namespace {

// A Hugging Face tensor that is put together from parameters.
struct Assembled {
  std::string name;
  std::vector<int64_t> shape;
  std::vector<double> values;
};

std::vector<double> asDoubles(const HostTensor &tensor) {
  if (tensor.type == HostTensor::Type::F64)
    return tensor.f64;
  return std::vector<double>(tensor.f32.begin(), tensor.f32.end());
}

class Assembly {
public:
  // Puts the values of a parameter, row-major, in their place.
  void add(VariableOp parameter, const std::vector<double> &values) {
    ArrayRef<int64_t> own = cast<RankedTensorType>(parameter.getType()).getShape();
    ArrayRef<int64_t> whole = parameter.getHfShape().value_or(own);
    ArrayRef<int64_t> slice = parameter.getHfSlice().value_or(ArrayRef<int64_t>{-1, 0});
    Assembled &tensor = find(parameter.getHfName()->str(), whole);
    if (slice[0] < 0) {
      tensor.values = values;
      return;
    }
    // The tensor as [outer, extent, inner] with the slice in the middle.
    auto product = [](ArrayRef<int64_t> sizes) {
      return std::accumulate(sizes.begin(), sizes.end(), int64_t(1), std::multiplies<int64_t>());
    };
    int64_t outer = product(whole.take_front(slice[0])), inner = product(whole.drop_front(slice[0] + 1));
    int64_t extent = whole[slice[0]], size = own[slice[0]];
    for (int64_t i = 0; i < outer; ++i)
      std::copy_n(values.begin() + i * size * inner, size * inner,
                  tensor.values.begin() + (i * extent + slice[1]) * inner);
  }

  absl::Status write(const std::string &path, bool single) {
    std::vector<rt::TensorView> views;
    std::vector<std::vector<float>> singles(tensors.size());
    for (auto [i, tensor] : llvm::enumerate(tensors)) {
      singles[i].assign(tensor.values.begin(), tensor.values.end());
      rt::TensorView view;
      view.name = tensor.name;
      view.dtype = single ? "F32" : "F64";
      view.shape = tensor.shape;
      view.data = single ? static_cast<const void *>(singles[i].data()) : tensor.values.data();
      views.push_back(view);
    }
    return rt::writeSafetensors(path, views);
  }

private:
  Assembled &find(const std::string &name, ArrayRef<int64_t> shape) {
    auto [entry, isNew] = indices.try_emplace(name, tensors.size());
    if (isNew) {
      int64_t size = std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<int64_t>());
      tensors.push_back({name, shape.vec(), std::vector<double>(size)});
    }
    return tensors[entry->second];
  }

  std::vector<Assembled> tensors; // in the order of their first parameter
  llvm::StringMap<size_t> indices;
};

// A sum in the precision of the mode: in f32 it rounds as native code does.
double sum(double a, double b, bool exact) { return exact ? double(float(a) + float(b)) : a + b; }

// [8, C] -> [C]: the tree over position segments.
std::vector<double> sumPositions(std::vector<double> values, int64_t columns, bool exact) {
  for (int64_t stride = 1; stride < train::kPositionSegments; stride *= 2)
    for (int64_t row = 0; row < train::kPositionSegments; row += 2 * stride)
      for (int64_t c = 0; c < columns; ++c)
        values[row * columns + c] = sum(values[row * columns + c], values[(row + stride) * columns + c], exact);
  values.resize(columns);
  return values;
}

SmallVector<VariableOp> gradientsOf(ModuleOp module, VariableOp parameter) {
  SmallVector<VariableOp> gradients;
  for (auto variable : module.getOps<VariableOp>())
    if (variable.getRole() == train::Role::Gradient && variable.getOf() == parameter.getSymName())
      gradients.push_back(variable);
  llvm::sort(gradients, [](VariableOp a, VariableOp b) { return a.getUse().value_or(0) < b.getUse().value_or(0); });
  return gradients;
}

} // namespace

absl::Status dumpParameters(const interp::Interpreter &interpreter, const std::string &path) {
  Assembly assembly;
  for (auto variable : interpreter.module().getOps<VariableOp>())
    if (variable.getRole() == train::Role::Parameter)
      assembly.add(variable, asDoubles(*interpreter.variable(variable.getSymName())));
  return assembly.write(path, interpreter.mode() == train::ReferenceMode::Exact);
}

absl::Status dumpGradients(const interp::Interpreter &interpreter, const std::string &path) {
  Assembly assembly;
  double scale = 1.0 / double(interpreter.params().valid_tokens);
  bool exact = interpreter.mode() == train::ReferenceMode::Exact;
  for (auto parameter : interpreter.module().getOps<VariableOp>()) {
    if (parameter.getRole() != train::Role::Parameter)
      continue;
    auto type = cast<RankedTensorType>(parameter.getType());
    std::vector<double> total;
    for (VariableOp gradient : gradientsOf(interpreter.module(), parameter)) {
      std::vector<double> values = asDoubles(*interpreter.variable(gradient.getSymName()));
      if (gradient.getType() != type)
        values = sumPositions(std::move(values), type.getNumElements(), exact);
      if (total.empty())
        total.resize(values.size());
      for (size_t i = 0; i < total.size(); ++i)
        total[i] = sum(total[i], values[i], exact);
    }
    for (double &value : total)
      value *= scale;
    if (!total.empty())
      assembly.add(parameter, total);
  }
  return assembly.write(path, /*single=*/false);
}

} // namespace recipe
