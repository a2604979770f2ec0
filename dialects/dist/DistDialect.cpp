#include "dialects/dist/Dist.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace recipe::dist;

#include "dialects/dist/DistDialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/dist/DistAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/dist/DistOps.cpp.inc"

void DistDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/dist/DistAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/dist/DistOps.cpp.inc"
      >();
}

LayoutAttr recipe::dist::layoutOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dyn_cast_or_null<LayoutAttr>(tensor.getEncoding()) : LayoutAttr();
}

LayoutAttr LayoutAttr::replicated(FlatSymbolRefAttr mesh, ArrayRef<int64_t> shape) {
  SmallVector<DimAttr> dims;
  for (int64_t extent : shape)
    dims.push_back(DimAttr::get(mesh.getContext(), {}, extent, 0));
  return LayoutAttr::get(mesh.getContext(), mesh, dims, {});
}

LayoutAttr recipe::dist::splitOnly(LayoutAttr layout) {
  MLIRContext *context = layout.getContext();
  SmallVector<DimAttr> dims;
  for (DimAttr dim : layout.getDims())
    dims.push_back(DimAttr::get(context, dim.getAxes(), 0, 0));
  return LayoutAttr::get(context, layout.getMesh(), dims, layout.getPartial());
}

int64_t recipe::dist::shardsOf(DimAttr dim, MeshOp mesh) {
  int64_t shards = 1;
  for (AxisAttr axis : dim.getAxes())
    shards *= axis.getSize() == 0 ? mesh.axisSize(axis.getName().getValue()) : axis.getSize();
  return shards;
}

SmallVector<int64_t> recipe::dist::localShape(LayoutAttr layout, MeshOp mesh) {
  SmallVector<int64_t> shape;
  for (DimAttr dim : layout.getDims())
    shape.push_back((dim.getExtent() + dim.getPadding()) / shardsOf(dim, mesh));
  return shape;
}
