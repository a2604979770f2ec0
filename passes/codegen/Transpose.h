// Register transposes that packing shares.
#ifndef PASSES_CODEGEN_TRANSPOSE_H
#define PASSES_CODEGEN_TRANSPOSE_H

#include "passes/codegen/KernelBuilder.h"

namespace recipe::codegen {
// Eight vectors of eight floats: rows become columns.
void transpose8x8(KernelBuilder &builder, llvm::MutableArrayRef<Val> rows);

// 16 rows of 4 words of 32 bits: 4 vectors of 16, the columns.
llvm::SmallVector<Val, 4> transpose16x4(KernelBuilder &b, llvm::ArrayRef<Val> rows);

// Sixteen vectors of 16 words: rows become columns.
void transpose16x16(KernelBuilder &b, llvm::MutableArrayRef<Val> rows);

} // namespace recipe::codegen
#endif
