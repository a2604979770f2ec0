// The train dialect: ops, attributes, interfaces.
#ifndef DIALECTS_TRAIN_TRAIN_H
#define DIALECTS_TRAIN_TRAIN_H

#include "dialects/train/Gradient.h"
#include "dialects/train/Reference.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/train/TrainDialect.h.inc"
#include "dialects/train/TrainEnums.h.inc"

namespace recipe::train {
// Bytes of all ranked, static operands and results, each once.
double operandAndResultBytes(mlir::Operation *op);

// The number of position segments of token sums (docs/numerics.md, "Token sums").
inline constexpr int64_t kPositionSegments = 8;
} // namespace recipe::train

#define GET_ATTRDEF_CLASSES
#include "dialects/train/TrainAttrs.h.inc"

#include "dialects/train/TrainInterfaces.h.inc"

#define GET_OP_CLASSES
#include "dialects/train/TrainOps.h.inc"

#endif
