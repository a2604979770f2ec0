// The reference interpreter: runs the graphs of a module on the host, op by op, in fp64 or in exact f32.
//
// It takes modules at any point between import and plan: train ops bare or inside train.kernel regions, and dist ops on
// a mesh of one rank, where they are the identity. Errors are emitted at the op concerned. Not thread-safe.
#ifndef COMPILER_INTERP_INTERPRETER_H
#define COMPILER_INTERP_INTERPRETER_H

#include "dialects/train/Train.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"
#include <memory>

namespace recipe::interp {

using Tensor = std::shared_ptr<const train::HostTensor>;

class Interpreter {
public:
  // The module must outlive the interpreter. Variables start as zeros, params() as zeros with size and version set.
  Interpreter(mlir::ModuleOp module, train::ReferenceMode mode);

  train::ReferenceMode mode() const { return context.mode; }
  mlir::ModuleOp module() const { return source; }
  bool hasGraph(llvm::StringRef name) const;

  // The value of every train.input of this name, until it is set again.
  void setInput(llvm::StringRef name, train::HostTensor value);
  llvm::LogicalResult run(llvm::StringRef graph);

  // By symbol; null when there is no such variable.
  Tensor variable(llvm::StringRef symbol) const { return variables.lookup(symbol); }
  // Floats may come in either precision. Fails, without a diagnostic, when there is no such variable or the shape
  // differs.
  llvm::LogicalResult setVariable(llvm::StringRef symbol, const train::HostTensor &value);

  rcp_step_params_v1 &params() { return stepParams; }
  const rcp_step_params_v1 &params() const { return stepParams; }

private:
  class Block;

  mlir::ModuleOp source;
  rcp_step_params_v1 stepParams{};
  train::ReferenceContext context;
  llvm::StringMap<Tensor> variables;
  llvm::StringMap<Tensor> inputs;
  bool singleRank = true; // every mesh has one rank
};

// The tensor with floats in the precision of `mode`.
train::HostTensor inMode(const train::HostTensor &value, train::ReferenceMode mode);

} // namespace recipe::interp
#endif
