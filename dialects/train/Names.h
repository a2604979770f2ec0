// Model names: every op of a graph carries one as its location, and ids, keys and reports are made from it.
//
// A backward op is named after the forward op it comes from and the operand whose gradient it gives
// ("h.0.mlp.c_fc/dweight").
#ifndef DIALECTS_TRAIN_NAMES_H
#define DIALECTS_TRAIN_NAMES_H

#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"
#include <cstdint>

namespace recipe::train {

// The model name of an op; empty when its location has none.
llvm::StringRef nameOf(mlir::Operation *op);

mlir::Location namedLoc(mlir::MLIRContext *context, const llvm::Twine &name);

// "<name of op>/<what>"; the op's own location when it has no name.
mlir::Location derivedLoc(mlir::Operation *op, const llvm::Twine &what);

// 32-bit FNV-1a: the key of a name in random draws.
uint32_t nameHash(llvm::StringRef name);

} // namespace recipe::train
#endif
