// Register transposes that packing shares.
#ifndef PASSES_CODEGEN_TRANSPOSE_H
#define PASSES_CODEGEN_TRANSPOSE_H

#include "passes/codegen/KernelBuilder.h"

namespace recipe::codegen {
// Eight vectors of eight floats: rows become columns.
void transpose8x8(KernelBuilder &builder, llvm::MutableArrayRef<Val> rows);
} // namespace recipe::codegen
#endif
