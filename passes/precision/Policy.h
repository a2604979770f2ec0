// Which ops stay in f32: whole classes, and operations by name.
#ifndef PASSES_PRECISION_POLICY_H
#define PASSES_PRECISION_POLICY_H

#include "dialects/train/Train.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallSet.h"
#include <string>
#include <vector>

namespace recipe::precision {

// The names of classes that a policy may list. Some of them are in f32 whether listed or not.
std::vector<std::string> classNames();

// Whether `text` is `pattern`, in which * stands for any text and ? for any character.
bool matchesGlob(llvm::StringRef pattern, llvm::StringRef text);

// Of `keep`, those that are neither the name of a class nor match the model name of an op in @train.
std::vector<std::string> matchNothing(mlir::ModuleOp module, llvm::ArrayRef<std::string> keep);

class Policy {
public:
  // `keep`: names of classes and globs over the model names of ops. An op's gradients are kept with it, and so is
  // whatever reads a parameter that a kept op reads, such as the gradient that several ops share.
  Policy(mlir::ModuleOp module, llvm::ArrayRef<std::string> keep);

  bool isKept(mlir::Operation *op) const;

private:
  bool isNamed(mlir::Operation *op) const;

  std::vector<train::PrecisionClass> classes;
  std::vector<std::string> globs;
  llvm::DenseSet<mlir::StringAttr> parameters; // that kept ops read
};

} // namespace recipe::precision
#endif
