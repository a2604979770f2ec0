// Graphs of few ops for tests: variables in, variables out, run by the reference interpreter.
#ifndef TESTS_NUMERICS_OPGRAPH_H
#define TESTS_NUMERICS_OPGRAPH_H

#include "compiler/interp/Interpreter.h"
#include <map>
#include <random>

namespace recipe::test {

using train::HostTensor;
using train::ReferenceMode;

class OpGraph {
public:
  OpGraph();
  ~OpGraph() { module->erase(); }

  // Ops are appended to this graph from now on.
  void beginGraph(llvm::StringRef name);
  // The value of a variable, which is created when it is named for the first time.
  mlir::Value input(llvm::StringRef name, llvm::ArrayRef<int64_t> shape, bool ids = false);
  void output(llvm::StringRef name, mlir::Value value);

  mlir::RankedTensorType f32(llvm::ArrayRef<int64_t> shape) {
    return mlir::RankedTensorType::get(shape, builder.getF32Type());
  }

  mlir::MLIRContext context;
  mlir::OpBuilder builder;
  mlir::Location loc;
  mlir::ModuleOp module;

private:
  void declare(llvm::StringRef name, mlir::Type type);
};

// Uniform in [low, high), the same on every machine; rounded to f32.
class Draws {
public:
  explicit Draws(uint64_t seed) : engine(seed) {}
  double uniform(double low = -1, double high = 1) {
    return float(low + (high - low) * double(engine() >> 40) * 0x1p-24);
  }
  int32_t below(int32_t n) { return int32_t(engine() % uint64_t(n)); }
  HostTensor tensor(llvm::ArrayRef<int64_t> shape, double low = -1, double high = 1);
  // Ids below n; about one in `gaps` is -1.
  HostTensor ids(llvm::ArrayRef<int64_t> shape, int32_t n, int32_t gaps = 0);

private:
  std::mt19937_64 engine;
};

HostTensor zeros(llvm::ArrayRef<int64_t> shape);
HostTensor filled(llvm::ArrayRef<int64_t> shape, double value);
HostTensor map(const HostTensor &tensor, llvm::function_ref<double(double)> function);
double at(const HostTensor &tensor, int64_t index);
// The same rows [begin, end) of the first dimension.
HostTensor rows(const HostTensor &tensor, int64_t begin, int64_t end);
// Equal shape and bits; floats of mode exact.
bool sameBits(const HostTensor &a, const HostTensor &b);

using Values = std::map<std::string, HostTensor>;

// Runs `graph` once: `variables` set, everything that it wrote returned.
Values run(OpGraph &ops, llvm::StringRef graph, ReferenceMode mode, const Values &variables,
           const rcp_step_params_v1 &params = {});

} // namespace recipe::test
#endif
