// How files of weights for a model family look, beyond the names of its parameters.
#ifndef MODELS_WEIGHTFILES_H
#define MODELS_WEIGHTFILES_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <utility>
#include <vector>

namespace recipe::models {

struct WeightFiles {
  std::string architecture;                              // transformers' class, in `architectures` of a config
  std::string basePrefix;                                // files of the base model alone lack it
  std::vector<std::string> notWeights;                   // endings of tensors that hold no weights: masks, tables
  std::vector<std::string> meaningKeys;                  // of a config: what weights of the same shapes mean
  std::vector<std::pair<std::string, std::string>> tied; // a name that files may have, and the parameter it repeats
};

// Of a family and the module that was built for it.
WeightFiles weightFiles(llvm::StringRef type, mlir::ModuleOp module);

} // namespace recipe::models
#endif
