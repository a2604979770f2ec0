// Reading the specification of a kernel: a dictionary of integers, floats and integer arrays that its rule wrote.
#ifndef PASSES_CODEGEN_SPEC_H
#define PASSES_CODEGEN_SPEC_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace recipe::codegen {

// A missing key is a mistake of the rule, not of the user.
inline int64_t specInt(mlir::DictionaryAttr spec, llvm::StringRef name) {
  return spec.getAs<mlir::IntegerAttr>(name).getInt();
}
inline double specFloat(mlir::DictionaryAttr spec, llvm::StringRef name) {
  return spec.getAs<mlir::FloatAttr>(name).getValueAsDouble();
}
inline llvm::ArrayRef<int64_t> specInts(mlir::DictionaryAttr spec, llvm::StringRef name) {
  return spec.getAs<mlir::DenseI64ArrayAttr>(name).asArrayRef();
}

} // namespace recipe::codegen
#endif
