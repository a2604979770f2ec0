// The buffers of a plan while it is made, and which of them holds an SSA value.
#ifndef PASSES_PLAN_BUFFERS_H
#define PASSES_PLAN_BUFFERS_H

#include "dialects/step/Step.h"
#include "passes/LocalTypes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace recipe::plan {

// Names of categories in the certificate, in its order.
inline constexpr llvm::StringLiteral kParameters = "parameters", kGradients = "gradients", kOptimizer = "optimizer",
                                     kActivations = "activations", kInputs = "inputs", kConstants = "constants",
                                     kWorkspace = "workspace", kCommunication = "communication";
inline constexpr llvm::StringLiteral kCategories[] = {kParameters, kGradients, kOptimizer, kActivations,
                                                      kInputs,     kConstants, kWorkspace, kCommunication};

struct Buffer {
  std::string name;
  step::Space space = step::Space::Transient;
  mlir::RankedTensorType type; // of the whole tensor
  int64_t bytes;               // of a rank's part
  llvm::StringRef category;
  int64_t offset = 0;
  int64_t slotStride = 0;
  int64_t minNodes = 0;    // exists from this number of batch-tree nodes per rank on
  int64_t shares = -1;     // the transient buffer whose storage it takes over
  mlir::ElementsAttr data; // of a constant
  mlir::Location location;

  Buffer(std::string name, step::Space space, mlir::RankedTensorType type, int64_t bytes, llvm::StringRef category,
         mlir::Location location)
      : name(std::move(name)), space(space), type(type), bytes(bytes), category(category), location(location) {}
};

// A value's place: one buffer, or one for each level of a pending variable (in a row in `Buffers::all`).
struct Storage {
  int64_t buffer = -1;
  int64_t levelBytes = 0; // 0: not in levels
};

struct Buffers {
  explicit Buffers(mlir::ModuleOp module) : localTypes(module) {}

  LocalTypes localTypes;
  std::vector<Buffer> all;
  llvm::DenseMap<mlir::Value, Storage> values;
  llvm::DenseMap<mlir::StringAttr, Storage> carried;    // gradients that live from backward to the end of the update
  llvm::DenseMap<mlir::Operation *, int64_t> firstTemp; // of each train.kernel with temporaries; the others follow it
};

} // namespace recipe::plan
#endif
