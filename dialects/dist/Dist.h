// The dist dialect: meshes, layouts, collectives; and the verifier that runs after every phase.
#ifndef DIALECTS_DIST_DIST_H
#define DIALECTS_DIST_DIST_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/dist/DistDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/dist/DistAttrs.h.inc"

#define GET_OP_CLASSES
#include "dialects/dist/DistOps.h.inc"

namespace recipe::dist {
// The layout a type carries, or null.
LayoutAttr layoutOf(mlir::Type type);

// The axes of each dimension and the Partial ones, without extents and padding: what a rank's local part keeps of a
// layout.
LayoutAttr splitOnly(LayoutAttr layout);

// Ranks that share one dimension.
int64_t shardsOf(DimAttr dim, MeshOp mesh);

// The shape of a rank's part, padding included.
llvm::SmallVector<int64_t> localShape(LayoutAttr layout, MeshOp mesh);

// D3, D5: every axis of the layout exists in the mesh and sub-axes divide it; D4: padding completes the shards.
llvm::LogicalResult verifyAgainstMesh(LayoutAttr layout, MeshOp mesh,
                                      llvm::function_ref<mlir::InFlightDiagnostic()> emitError);
} // namespace recipe::dist
#endif
