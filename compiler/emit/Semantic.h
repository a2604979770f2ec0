// The semantic section of a step.bin: the module before fusion as MLIR bytecode, for the reference interpreter.
#ifndef COMPILER_EMIT_SEMANTIC_H
#define COMPILER_EMIT_SEMANTIC_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <string>

namespace recipe {

// The same module gives the same bytes.
std::string writeSemantic(mlir::ModuleOp module);

// Null, with diagnostics of the context, when the bytes are not a valid module. The context must have the dialects
// loaded.
mlir::OwningOpRef<mlir::ModuleOp> readSemantic(const std::string &bytes, mlir::MLIRContext &context);

} // namespace recipe
#endif
