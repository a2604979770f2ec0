// Constraints D1 to D6 of the dist dialect (listed in DistOps.td).
#include "dialects/dist/Dist.h"

using namespace mlir;
using namespace recipe::dist;

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

LogicalResult AxisAttr::verify(EmitError emitError, StringAttr name, int64_t pre, int64_t size) {
  if (pre < 1 || size < 0)
    return emitError() << "D3: a sub-axis needs pre >= 1 and size >= 0, got pre " << pre << " and size " << size;
  if (size == 0 && pre != 1)
    return emitError() << "D3: a whole axis has pre 1, got " << pre;
  // Also keeps products of parts within 64 bits.
  if (size == 1 || pre > INT32_MAX || size > INT32_MAX)
    return emitError() << "D3: a part of an axis has 2 to 2^31 ranks, got pre " << pre << " and size " << size;
  return success();
}

LogicalResult DimAttr::verify(EmitError emitError, ArrayRef<AxisAttr> axes, int64_t extent, int64_t padding) {
  if (extent < 0 || padding < 0)
    return emitError() << "D4: extent and padding must not be negative, got " << extent << " and " << padding;
  if (axes.empty() && padding != 0)
    return emitError() << "D4: a dimension that is not sharded has no padding, got " << padding;
  return success();
}

// True when the two name parts of one axis that cannot both be split off.
static bool overlap(AxisAttr a, AxisAttr b) {
  if (a.getName() != b.getName())
    return false;
  if (a.getSize() == 0 || b.getSize() == 0)
    return true;
  // Parts are digits of a rank's number on the axis; the inner one begins where, or below where, the outer one ends.
  if (a.getPre() > b.getPre())
    std::swap(a, b);
  return b.getPre() % (a.getPre() * a.getSize()) != 0;
}

LogicalResult LayoutAttr::verify(EmitError emitError, FlatSymbolRefAttr mesh, ArrayRef<DimAttr> dims,
                                 ArrayRef<AxisAttr> partial) {
  SmallVector<AxisAttr> used;
  auto use = [&](AxisAttr axis) -> LogicalResult {
    for (AxisAttr other : used)
      if (overlap(axis, other)) {
        bool parts = axis.getSize() != 0 && other.getSize() != 0 && axis != other;
        return emitError() << (parts ? "D3: parts of an axis must not overlap"
                                     : "D2: an axis may be used once in a layout")
                           << ", got " << axis << " and " << other;
      }
    used.push_back(axis);
    return success();
  };
  for (DimAttr dim : dims)
    for (AxisAttr axis : dim.getAxes())
      if (failed(use(axis)))
        return failure();
  for (AxisAttr axis : partial)
    if (failed(use(axis)))
      return failure();
  return success();
}

LogicalResult LayoutAttr::verifyEncoding(ArrayRef<int64_t> shape, Type elementType, EmitError emitError) const {
  if (shape.size() != getDims().size())
    return emitError() << "D1: a layout has one entry per dimension, got " << getDims().size() << " entries for rank "
                       << shape.size();
  for (auto [index, dim] : llvm::enumerate(getDims()))
    if (dim.getExtent() != shape[index])
      return emitError() << "D4: the extent in a layout is the tensor's, got " << dim.getExtent() << " and "
                         << shape[index] << " in dimension " << index;
  return success();
}

LogicalResult MeshOp::verify() {
  static constexpr StringRef known[] = {"data", "context", "tensor", "pipeline", "expert"};
  if (getAxisNames().size() != getAxisSizes().size())
    return emitOpError("one size per axis, got ")
           << getAxisNames().size() << " names and " << getAxisSizes().size() << " sizes";
  llvm::SmallDenseSet<StringRef> seen;
  for (auto [attr, size] : llvm::zip(getAxisNames(), getAxisSizes())) {
    auto name = dyn_cast<StringAttr>(attr);
    if (!name || !llvm::is_contained(known, name.getValue()))
      return emitOpError("an axis is one of data, context, tensor, pipeline, expert, got ") << attr;
    if (!seen.insert(name.getValue()).second)
      return emitOpError("axis names are distinct, got ") << name << " twice";
    if (size < 1)
      return emitOpError("an axis has at least 1 rank, got ") << size << " for " << name;
  }
  return success();
}

int64_t MeshOp::axisSize(StringRef name) {
  for (auto [attr, size] : llvm::zip(getAxisNames(), getAxisSizes()))
    if (cast<StringAttr>(attr).getValue() == name)
      return size;
  return 0;
}

namespace {
// What a layout op did to the layout, dimension by dimension.
struct Change {
  LayoutAttr from, to;
  SmallVector<AxisAttr> added, removed;        // of dimensions, all together
  SmallVector<int64_t> addedDims, removedDims; // the dimension of each
  SmallVector<AxisAttr> partialAdded, partialRemoved;
};
} // namespace

static FailureOr<Change> changeOf(Operation *op) {
  auto fromType = cast<RankedTensorType>(op->getOperand(0).getType());
  auto toType = cast<RankedTensorType>(op->getResult(0).getType());
  LayoutAttr from = layoutOf(fromType), to = layoutOf(toType);
  if (!from || !to)
    return op->emitOpError("D6: a layout op needs layouts on both sides, got ") << fromType << " and " << toType;
  if (fromType.getShape() != toType.getShape() || fromType.getElementType() != toType.getElementType())
    return op->emitOpError("D6: a layout op keeps global shape and element type, got ")
           << fromType << " and " << toType;
  if (from.getMesh() != to.getMesh())
    return op->emitOpError("D6: a layout op stays on its mesh, got ") << from.getMesh() << " and " << to.getMesh();
  Change change{from, to, {}, {}, {}, {}, {}, {}};
  for (auto [index, before, after] : llvm::enumerate(from.getDims(), to.getDims())) {
    if (before.getAxes() == after.getAxes() && before.getPadding() != after.getPadding())
      return op->emitOpError("D6: padding changes only where axes do, got ")
             << before.getPadding() << " and " << after.getPadding() << " in dimension " << index;
    size_t shared = 0;
    while (shared < before.getAxes().size() && shared < after.getAxes().size() &&
           before.getAxes()[shared] == after.getAxes()[shared])
      ++shared;
    for (AxisAttr axis : before.getAxes().drop_front(shared))
      change.removed.push_back(axis), change.removedDims.push_back(index);
    for (AxisAttr axis : after.getAxes().drop_front(shared))
      change.added.push_back(axis), change.addedDims.push_back(index);
  }
  SmallVector<AxisAttr> keptFrom, keptTo;
  for (AxisAttr axis : from.getPartial())
    (llvm::is_contained(to.getPartial(), axis) ? keptFrom : change.partialRemoved).push_back(axis);
  for (AxisAttr axis : to.getPartial())
    (llvm::is_contained(from.getPartial(), axis) ? keptTo : change.partialAdded).push_back(axis);
  if (keptFrom != keptTo)
    return op->emitOpError("D6: remaining Partial axes keep their order, got ") << from << " -> " << to;
  return change;
}

static bool oneDimension(ArrayRef<int64_t> dims) { return !dims.empty() && llvm::all_equal(dims); }

LogicalResult AllReduceOp::verify() {
  FailureOr<Change> c = changeOf(*this);
  if (failed(c))
    return failure();
  if (c->partialRemoved.empty() || !c->partialAdded.empty() || !c->added.empty() || !c->removed.empty())
    return emitOpError("D6: all_reduce removes Partial axes and nothing else, got ") << c->from << " -> " << c->to;
  return success();
}

LogicalResult ReduceScatterOp::verify() {
  FailureOr<Change> c = changeOf(*this);
  if (failed(c))
    return failure();
  if (c->partialRemoved.empty() || c->partialRemoved != c->added || !oneDimension(c->addedDims) ||
      !c->removed.empty() || !c->partialAdded.empty())
    return emitOpError("D6: reduce_scatter turns Partial axes into shards of one dimension, got ")
           << c->from << " -> " << c->to;
  return success();
}

LogicalResult AllGatherOp::verify() {
  FailureOr<Change> c = changeOf(*this);
  if (failed(c))
    return failure();
  if (!oneDimension(c->removedDims) || !c->added.empty() || !c->partialAdded.empty() || !c->partialRemoved.empty())
    return emitOpError("D6: all_gather removes the innermost axes of one dimension, got ")
           << c->from << " -> " << c->to;
  return success();
}

LogicalResult SliceOp::verify() {
  FailureOr<Change> c = changeOf(*this);
  if (failed(c))
    return failure();
  if (!oneDimension(c->addedDims) || !c->removed.empty() || !c->partialAdded.empty() || !c->partialRemoved.empty())
    return emitOpError("D6: slice adds axes to one dimension, got ") << c->from << " -> " << c->to;
  return success();
}

LogicalResult AllToAllOp::verify() {
  FailureOr<Change> c = changeOf(*this);
  if (failed(c))
    return failure();
  if (c->added.empty() || c->added != c->removed || !oneDimension(c->addedDims) || !oneDimension(c->removedDims) ||
      c->addedDims[0] == c->removedDims[0] || !c->partialAdded.empty() || !c->partialRemoved.empty())
    return emitOpError("D6: all_to_all moves axes from one dimension to another, got ") << c->from << " -> " << c->to;
  return success();
}

LogicalResult recipe::dist::verifyAgainstMesh(LayoutAttr layout, MeshOp mesh, EmitError emitError) {
  auto check = [&](AxisAttr axis, int64_t &ranks) -> LogicalResult {
    int64_t whole = mesh.axisSize(axis.getName().getValue());
    if (whole == 0)
      return emitError() << "D5: mesh @" << mesh.getSymName() << " has no axis " << axis.getName();
    if (axis.getSize() != 0 && whole % (axis.getPre() * axis.getSize()) != 0)
      return emitError() << "D3: pre * size must divide the axis, got " << axis.getPre() << " * " << axis.getSize()
                         << " and " << whole << " ranks of " << axis.getName();
    if (axis.getSize() == whole)
      return emitError() << "D3: a whole axis is written without size, got " << axis;
    ranks *= axis.getSize() == 0 ? whole : axis.getSize();
    return success();
  };
  for (DimAttr dim : layout.getDims()) {
    int64_t ranks = 1;
    for (AxisAttr axis : dim.getAxes())
      if (failed(check(axis, ranks)))
        return failure();
    if ((dim.getExtent() + dim.getPadding()) % ranks != 0)
      return emitError() << "D4: padding completes a dimension to a multiple of its shards, got " << dim.getExtent()
                         << " + " << dim.getPadding() << " over " << ranks;
  }
  int64_t ignored = 1; // how many ranks hold parts of a sum says nothing about its shape
  for (AxisAttr axis : layout.getPartial())
    if (failed(check(axis, ignored)))
      return failure();
  return success();
}
