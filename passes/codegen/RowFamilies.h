// The emit rules of the row families; each file says buffers, scalars and specification.
#ifndef PASSES_CODEGEN_ROWFAMILIES_H
#define PASSES_CODEGEN_ROWFAMILIES_H

#include "passes/codegen/KernelBuilder.h"
#include "passes/codegen/KernelFamily.h"
#include "passes/codegen/Spec.h"

namespace recipe::codegen {

// Norms.cpp
llvm::Error emitNorm(KernelBuilder &b, mlir::DictionaryAttr spec, mlir::Region &);
llvm::Error emitNormGrad(KernelBuilder &b, mlir::DictionaryAttr spec, mlir::Region &);
// ColumnSums.cpp
llvm::Error emitColumnSum(KernelBuilder &b, mlir::DictionaryAttr spec, mlir::Region &);
llvm::Error emitPositionSum(KernelBuilder &b, mlir::DictionaryAttr spec, mlir::Region &);
// Rope.cpp
llvm::Error emitRope(KernelBuilder &b, mlir::DictionaryAttr spec, mlir::Region &);
// Embedding.cpp
llvm::Error emitEmbedding(KernelBuilder &b, mlir::DictionaryAttr spec, mlir::Region &);
llvm::Error emitTokenIndex(KernelBuilder &b, mlir::DictionaryAttr spec, mlir::Region &);
llvm::Error emitEmbeddingGrad(KernelBuilder &b, mlir::DictionaryAttr spec, mlir::Region &);

} // namespace recipe::codegen
#endif
