// Buffers, kernels, sub-programs and the certificate of a planned module as protobuf.
#ifndef COMPILER_EMIT_PROGRAM_H
#define COMPILER_EMIT_PROGRAM_H

#include "mlir/IR/BuiltinOps.h"
#include "runtime/abi/step.pb.h"

namespace recipe::emit {

// Everything of the step that the module says by itself. Its order follows the module's.
void emitProgram(mlir::ModuleOp module, abi::Step &step);

} // namespace recipe::emit
#endif
