// The part of a tensor that one rank has, by the layout of its type.
#ifndef PASSES_LOCALTYPES_H
#define PASSES_LOCALTYPES_H

#include "dialects/dist/Dist.h"
#include "mlir/IR/BuiltinTypes.h"

namespace recipe {

class LocalTypes {
public:
  explicit LocalTypes(mlir::ModuleOp module) : symbols(module) {}

  // Without layout: all of a type that has none. A layout on a mesh that is missing counts as none; the verifier tells.
  mlir::RankedTensorType of(mlir::Type type) const {
    auto tensor = mlir::cast<mlir::RankedTensorType>(type);
    dist::LayoutAttr layout = dist::layoutOf(type);
    auto mesh = layout ? symbols.lookup<dist::MeshOp>(layout.getMesh().getValue()) : dist::MeshOp();
    if (!mesh)
      return mlir::RankedTensorType::get(tensor.getShape(), tensor.getElementType());
    return mlir::RankedTensorType::get(dist::localShape(layout, mesh), tensor.getElementType());
  }

  int64_t bytesOf(mlir::Type type) const {
    mlir::RankedTensorType local = of(type);
    return local.getNumElements() * local.getElementTypeBitWidth() / 8;
  }

private:
  mlir::SymbolTable symbols;
};

} // namespace recipe
#endif
