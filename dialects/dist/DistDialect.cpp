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
