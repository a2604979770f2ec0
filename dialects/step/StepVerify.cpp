// What each step op must hold by itself, and that the symbols it names exist. The plan as a whole: ArenaVerify.cpp.
#include "dialects/dist/Dist.h"
#include "dialects/step/Step.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace recipe;
using namespace recipe::step;

static constexpr int64_t kAlignment = 64, kPage = 4096;

LogicalResult BufferOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  if (!type.hasStaticShape())
    return emitOpError("needs a static shape, got ") << type;
  if (int64_t offset = getOffset(); offset < 0 || offset % kAlignment)
    return emitOpError("offset must be a multiple of 64, 0 or more, got ") << offset;
  int64_t bytes = type.getNumElements() * type.getElementTypeBitWidth() / 8;
  if (!type.getEncoding() && bytes != int64_t(getBytes()))
    return emitOpError("size must be that of its type, got ") << getBytes() << " and " << bytes;
  if (getSpace() == Space::Input ? int64_t(getSlotStride()) < int64_t(getBytes()) : getSlotStride() != 0)
    return emitOpError("slot_stride must hold an input buffer and be 0 for others, got ") << getSlotStride();
  if (getData() && (getSpace() != Space::State || getData()->getShapedType() != getType()))
    return emitOpError("data needs a state buffer of its type, got ") << getData()->getShapedType();
  if (getMinNodes() && getSpace() != Space::State)
    return emitOpError("min_nodes is for state buffers");
  return success();
}

static BufferOp lookupBuffer(Operation *op, FlatSymbolRefAttr name, SymbolTableCollection &symbols) {
  return symbols.lookupNearestSymbolFrom<BufferOp>(op, name);
}

// The size is that of a rank's part of the tensor.
static LogicalResult verifyLocalSize(BufferOp buffer, SymbolTableCollection &symbols) {
  dist::LayoutAttr layout = dist::layoutOf(buffer.getType());
  if (!layout)
    return success();
  auto mesh = symbols.lookupNearestSymbolFrom<dist::MeshOp>(buffer, layout.getMesh());
  if (!mesh)
    return buffer.emitOpError("D5: no mesh ") << layout.getMesh();
  if (failed(dist::verifyAgainstMesh(layout, mesh, [&] { return buffer.emitOpError(); })))
    return failure();
  int64_t bytes = cast<RankedTensorType>(buffer.getType()).getElementTypeBitWidth() / 8;
  for (int64_t extent : dist::localShape(layout, mesh))
    bytes *= extent;
  if (bytes == int64_t(buffer.getBytes()))
    return success();
  return buffer.emitOpError("size must be that of a rank's part of its type, got ")
         << buffer.getBytes() << " and " << bytes;
}

LogicalResult BufferOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (failed(verifyLocalSize(*this, symbols)))
    return failure();
  if (!getSharesAttr())
    return success();
  BufferOp other = lookupBuffer(*this, getSharesAttr(), symbols);
  if (!other || other.getSpace() != Space::Transient || getSpace() != Space::Transient)
    return emitOpError("shares must name a transient buffer and stand on one, got ") << getSharesAttr();
  if (other.getOffset() != getOffset() || other.getBytes() != getBytes())
    return emitOpError("must lie exactly where the buffer lies that it shares with, got ")
           << getOffset() << "+" << getBytes() << " and " << other.getOffset() << "+" << other.getBytes();
  return success();
}

LogicalResult ParameterOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto liesIn = [&](Attribute name, ArrayRef<Space> spaces) {
    auto symbol = dyn_cast<FlatSymbolRefAttr>(name);
    BufferOp buffer = symbol ? lookupBuffer(*this, symbol, symbols) : BufferOp();
    return buffer && llvm::is_contained(spaces, buffer.getSpace());
  };
  if (!liesIn(getValuesAttr(), Space::State))
    return emitOpError("must name state buffers, got ") << getValuesAttr();
  for (Attribute name : getOptimizer())
    if (!liesIn(name, Space::State))
      return emitOpError("must name state buffers, got ") << name;
  for (Attribute name : getGradients())
    if (!liesIn(name, {Space::State, Space::Transient}))
      return emitOpError("must name state or transient buffers as gradients, got ") << name;
  return success();
}

LogicalResult ArenaOp::verify() {
  if (getRows().empty())
    return emitOpError("needs a row for each legal number of ranks");
  for (Attribute attribute : getRows()) {
    auto row = dyn_cast<RowAttr>(attribute);
    if (!row)
      return emitOpError("rows must be #step.row, got ") << attribute;
    int64_t sum = 0;
    for (ShareAttr share : row.getShares())
      sum += share.getBytes();
    if (sum != row.total())
      return emitOpError("categories must add up to the arena, got ") << sum << " and " << row.total();
    if (getBudget() && row.total() > int64_t(getBudget()))
      return emitOpError("must stay within memory.budget, got ") << row.total() << " and " << getBudget();
  }
  if (getScratchStride() % kAlignment || getScratchOffset() % kAlignment)
    return emitOpError("scratch must be aligned to 64 bytes, got ")
           << getScratchOffset() << " and " << getScratchStride();
  if (int64_t(getCommunication()) < 0 || getCommunication() % kAlignment)
    return emitOpError("communication must be a multiple of 64 bytes, got ") << int64_t(getCommunication());
  return success();
}

LogicalResult ProgramOp::verify() {
  for (Operation &op : getBody().front())
    if (!isa<InstructionOp, CollectiveOp>(op))
      return op.emitOpError("cannot stand in a step.program");
  return success();
}

LogicalResult InstructionOp::verify() {
  if (getWorkgroups() < 1)
    return emitOpError("needs a workgroup, got ") << getWorkgroups();
  if (int64_t(getScratchBytes()) < 0)
    return emitOpError("scratch must not be negative, got ") << getScratchBytes();
  for (Attribute argument : getArguments())
    if (!isa<SliceAttr>(argument))
      return emitOpError("arguments must be #step.slice, got ") << argument;
  return success();
}

LogicalResult InstructionOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Operation *module = (*this)->getParentOp()->getParentOp();
  if (!isa_and_nonnull<KernelOp>(symbols.lookupSymbolIn(module, getKernelAttr())))
    return emitOpError("must name a step.kernel, got ") << getKernelAttr();
  for (auto slice : getArguments().getAsRange<SliceAttr>()) {
    auto buffer = dyn_cast_or_null<BufferOp>(symbols.lookupSymbolIn(module, slice.getBuffer()));
    if (!buffer)
      return emitOpError("must name a step.buffer, got ") << slice.getBuffer();
    if (slice.getOffset() < 0 || slice.getOffset() >= int64_t(buffer.getBytes()))
      return emitOpError("argument must lie inside its buffer, got ")
             << slice << " and " << buffer.getBytes() << " bytes";
  }
  return success();
}

// Of the first buffer; the others' types are those of the proof of C3.
static int64_t elementBytes(CollectiveOp op, SymbolTableCollection &symbols) {
  auto buffer = cast<BufferOp>(
      symbols.lookupSymbolIn(op->getParentOp()->getParentOp(), cast<FlatSymbolRefAttr>(op.getBuffers()[0])));
  return cast<RankedTensorType>(buffer.getType()).getElementTypeBitWidth() / 8;
}

LogicalResult CollectiveOp::verify() {
  if (getBuffers().empty() || !llvm::all_of(getBuffers(), llvm::IsaPred<FlatSymbolRefAttr>))
    return emitOpError("must name buffers, got ") << getBuffers();
  if (int64_t(getElements()) < 1)
    return emitOpError("needs an element, got ") << int64_t(getElements());
  if (getSignal() == 0)
    return emitOpError("needs a signal that instructions can wait for, got 0");
  return success();
}

LogicalResult CollectiveOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Operation *module = (*this)->getParentOp()->getParentOp();
  auto kernel = dyn_cast_or_null<KernelOp>(symbols.lookupSymbolIn(module, getKernelAttr()));
  if (!kernel || kernel.getFamily() != "combine")
    return emitOpError("must name a step.kernel of family \"combine\", got ") << getKernelAttr();
  int64_t begin = -1, end = -1;
  for (auto name : getBuffers().getAsRange<FlatSymbolRefAttr>()) {
    auto buffer = dyn_cast_or_null<BufferOp>(symbols.lookupSymbolIn(module, name));
    if (!buffer || buffer.getSpace() != Space::State || buffer.getData() || buffer.getMinNodes())
      return emitOpError("must name state buffers that every rank has, got ") << name;
    // Offsets are multiples of a page at most.
    if (end >= 0 && (int64_t(buffer.getOffset()) < end || int64_t(buffer.getOffset()) - end >= kPage))
      return emitOpError("must name buffers that follow each other, got ")
             << name << " at " << buffer.getOffset() << " after " << end;
    begin = begin < 0 ? buffer.getOffset() : begin;
    end = buffer.end();
  }
  int64_t bytes = elementBytes(*this, symbols) * int64_t(getElements());
  if (bytes == end - begin)
    return success();
  return emitOpError("must take all of its buffers, got ") << bytes << " and " << end - begin << " bytes";
}
