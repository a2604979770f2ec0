// Elementwise train ops on 16 lanes: values in, values out, nothing stored. Kernels over whole tensors and epilogues
// share them.
#ifndef PASSES_CODEGEN_LANERULES_H
#define PASSES_CODEGEN_LANERULES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "passes/codegen/EmitPolicy.h"

namespace recipe::codegen {

struct LaneInput {
  KernelBuilder &builder;
  EmitPolicy &policy;
  mlir::DictionaryAttr attributes; // the op's, as its kernel rule left them
  ValRange prepared;               // what the op's `prepare` returned
  Val element;                     // i64: index of lane 0 in the op's (local) result tensor
};

struct LaneRule {
  llvm::StringRef op;
  // Values that do not depend on the element; `scalars` are the op's launch scalars. May be null.
  Vals (*prepare)(KernelBuilder &builder, mlir::DictionaryAttr attributes, ValRange scalars);
  Vals (*lanes)(const LaneInput &input, ValRange operands);
  unsigned scalars = 0; // number of launch scalars that the op takes
  bool isShort = false; // a few instructions
};

// Null for an op that is not elementwise.
const LaneRule *findLaneRule(llvm::StringRef op);

} // namespace recipe::codegen
#endif
