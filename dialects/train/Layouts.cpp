// The layout rule of each op. Constraints T1 to T5, in messages and tests by number:
//   T1 elementwise operands have one layout; T2 a Partial operand is rejected (D7); T3 contracted or reduced dimensions of
//   partners are split alike; T4 a row op needs its rows whole; T5 an optimizer op has one layout for all its tensors.
#include "dialects/train/Layouts.h"
#include "dialects/dist/Dist.h"
#include "dialects/train/Shapes.h"

using namespace mlir;
using namespace recipe;
using namespace recipe::train;
using dist::AxisAttr;
using dist::DimAttr;
using dist::LayoutAttr;

using Layouts = ArrayRef<Attribute>;
using Results = SmallVectorImpl<Attribute>;

static LayoutAttr at(Layouts layouts, unsigned index) { return cast<LayoutAttr>(layouts[index]); }

static LogicalResult rejectPartial(Operation *op, Layouts layouts) {
  for (auto [index, attr] : llvm::enumerate(layouts))
    if (auto layout = dyn_cast_or_null<LayoutAttr>(attr); layout && layout.isPartial())
      return op->emitOpError("T2: a Partial operand must be reduced first, got: operand ") << index << " " << layout;
  return success();
}

static ArrayRef<AxisAttr> axes(LayoutAttr layout, int64_t dim) {
  return layout.getDims()[dim < 0 ? layout.getDims().size() + dim : dim].getAxes();
}

// A layout over the mesh of `like` whose dimension i has size shape[i] and the axes of dims[i].
static LayoutAttr layoutWith(LayoutAttr like, ArrayRef<int64_t> shape, ArrayRef<ArrayRef<AxisAttr>> dimAxes, ArrayRef<int64_t> padding = {},
                        ArrayRef<AxisAttr> partial = {}) {
  SmallVector<DimAttr> dims;
  for (auto [index, extent] : llvm::enumerate(shape))
    dims.push_back(DimAttr::get(like.getContext(), dimAxes[index], extent, padding.empty() ? 0 : padding[index]));
  return LayoutAttr::get(like.getContext(), like.getMesh(), dims, partial);
}

static SmallVector<AxisAttr> join(ArrayRef<ArrayRef<AxisAttr>> lists) {
  SmallVector<AxisAttr> all;
  for (ArrayRef<AxisAttr> list : lists)
    for (AxisAttr axis : list)
      if (!llvm::is_contained(all, axis))
        all.push_back(axis);
  return all;
}

// T1: all operands alike, nothing Partial, every result like them.
static LogicalResult elementwise(Operation *op, Layouts in, Results &out) {
  if (failed(rejectPartial(op, in)))
    return failure();
  for (unsigned i = 1; i < in.size(); ++i)
    if (in[i] != in[0])
      return op->emitOpError("T1: operands must have one layout, got: ") << in[0] << " and " << in[i];
  out.append(op->getNumResults(), in[0]);
  return success();
}

static LogicalResult wholeRows(Operation *op, LayoutAttr layout) {
  if (!axes(layout, -1).empty())
    return op->emitOpError("T4: rows must be whole on each rank, got: ") << layout;
  return success();
}

// The [8, C] form of a gradient summed over tokens of `x` [B, T, C].
static LayoutAttr positionSums(Operation *op, Value result, LayoutAttr x) {
  return layoutWith(x, shapeOf(result), {axes(x, 1), axes(x, 2)}, {}, axes(x, 0));
}
static LayoutAttr rowStatistics(Value result, LayoutAttr x) { return layoutWith(x, shapeOf(result), {axes(x, 0), axes(x, 1)}); }

LogicalResult EmbeddingOp::inferLayouts(Layouts in, Results &out) {
  if (failed(rejectPartial(*this, in)))
    return failure();
  LayoutAttr ids = at(in, 0), table = at(in, 1);
  out.push_back(layoutWith(ids, shapeOf(getResult()), {axes(ids, 0), axes(ids, 1), axes(table, 1)}, {}, axes(table, 0)));
  return success();
}
LogicalResult EmbeddingGradOp::inferLayouts(Layouts in, Results &out) {
  if (failed(rejectPartial(*this, in.take_front(2))))
    return failure();
  LayoutAttr dy = at(in, 0);
  out.push_back(layoutWith(dy, shapeOf(getResult()), {{}, axes(dy, 2)}, {}, join({axes(dy, 0), axes(dy, 1)})));
  return success();
}
LogicalResult AddOp::inferLayouts(Layouts in, Results &out) { return elementwise(*this, in, out); }
LogicalResult BiasAddOp::inferLayouts(Layouts in, Results &out) {
  if (failed(rejectPartial(*this, in)))
    return failure();
  if (axes(at(in, 0), -1) != axes(at(in, 1), 0))
    return emitOpError("T3: bias and channels must be split alike, got: ") << in[0] << " and " << in[1];
  out.push_back(in[0]);
  return success();
}
LogicalResult BiasGradOp::inferLayouts(Layouts in, Results &out) {
  if (failed(rejectPartial(*this, in.take_front(1))))
    return failure();
  out.push_back(positionSums(*this, getResult(), at(in, 0)));
  return success();
}

LogicalResult ContractOp::inferLayouts(Layouts in, Results &out) {
  unsigned pairs = getLhs().size();
  if (failed(rejectPartial(*this, in.take_front(2 * pairs))))
    return failure();
  SmallVector<AxisAttr> partial;
  LayoutAttr first;
  for (unsigned i = 0; i < pairs; ++i) {
    LayoutAttr lhs = at(in, i), rhs = at(in, pairs + i);
    SmallVector<AxisAttr> kLeft, kRight;
    SmallVector<ArrayRef<AxisAttr>> result;
    if (getForm() == ContractForm::TN) {
      kLeft = join({axes(lhs, 0), axes(lhs, 1)}), kRight = join({axes(rhs, 0), axes(rhs, 1)});
      result = {axes(lhs, -1), axes(rhs, -1)};
    } else {
      bool nt = getForm() == ContractForm::NT;
      kLeft = join({axes(lhs, -1)}), kRight = join({axes(rhs, nt ? 1 : 0)});
      for (int64_t d = 0; d + 1 < int64_t(lhs.getDims().size()); ++d)
        result.push_back(axes(lhs, d));
      result.push_back(axes(rhs, nt ? 0 : 1));
    }
    if (kLeft != kRight)
      return emitOpError("T3: the contracted dimension must be split alike, got: ") << lhs << " and " << rhs;
    LayoutAttr layout = layoutWith(lhs, shapeOf(getResult()), result, {}, kLeft);
    if (first && first != layout)
      return emitOpError("T3: all pairs must give one layout, got: ") << first << " and " << layout;
    first = layout;
  }
  out.push_back(first);
  return success();
}

LogicalResult LayerNormOp::inferLayouts(Layouts in, Results &out) {
  LayoutAttr x = at(in, 0);
  if (failed(rejectPartial(*this, in)) || failed(wholeRows(*this, x)))
    return failure();
  out.append({x, rowStatistics(getMean(), x), rowStatistics(getRstd(), x)});
  return success();
}
LogicalResult LayerNormGradOp::inferLayouts(Layouts in, Results &out) {
  LayoutAttr x = at(in, 1);
  if (failed(rejectPartial(*this, in.take_front(5))) || failed(wholeRows(*this, x)))
    return failure();
  if (in[0] != in[1])
    return emitOpError("T1: operands must have one layout, got: ") << in[0] << " and " << in[1];
  out.append({x, positionSums(*this, getDgain(), x), positionSums(*this, getDbias(), x)});
  return success();
}
LogicalResult RmsNormOp::inferLayouts(Layouts in, Results &out) {
  LayoutAttr x = at(in, 0);
  if (failed(rejectPartial(*this, in)) || failed(wholeRows(*this, x)))
    return failure();
  out.append({x, rowStatistics(getRstd(), x)});
  return success();
}
LogicalResult RmsNormGradOp::inferLayouts(Layouts in, Results &out) {
  LayoutAttr x = at(in, 1);
  if (failed(rejectPartial(*this, in.take_front(4))) || failed(wholeRows(*this, x)))
    return failure();
  if (in[0] != in[1])
    return emitOpError("T1: operands must have one layout, got: ") << in[0] << " and " << in[1];
  out.append({x, positionSums(*this, getDgain(), x)});
  return success();
}

LogicalResult RopeTableOp::inferLayouts(Layouts, Results &out) {
  out.append(2, Attribute());
  return success();
}
LogicalResult RopeOp::inferLayouts(Layouts in, Results &out) {
  if (failed(rejectPartial(*this, in)))
    return failure();
  out.push_back(in[0]);
  return success();
}

static LogicalResult sameHeads(Operation *op, LayoutAttr q, LayoutAttr kv) {
  if (axes(q, 0) != axes(kv, 0) || axes(q, 2) != axes(kv, 2))
    return op->emitOpError("T3: q, k and v must be split alike over samples and heads, got: ") << q << " and " << kv;
  if (!axes(kv, 1).empty())
    return op->emitOpError("T4: k and v must hold all positions, got: ") << kv;
  return success();
}
LogicalResult AttentionOp::inferLayouts(Layouts in, Results &out) {
  LayoutAttr q = at(in, 0);
  if (failed(rejectPartial(*this, in)) || failed(sameHeads(*this, q, at(in, 1))) || failed(sameHeads(*this, q, at(in, 2))))
    return failure();
  LayoutAttr rows = layoutWith(q, shapeOf(getRowMax()), {axes(q, 0), axes(q, 2), axes(q, 1)});
  out.append({q, rows, rows});
  return success();
}
LogicalResult AttentionGradOp::inferLayouts(Layouts in, Results &out) {
  LayoutAttr q = at(in, 1), k = at(in, 2);
  if (failed(rejectPartial(*this, in)) || failed(sameHeads(*this, q, k)) || failed(sameHeads(*this, q, at(in, 3))))
    return failure();
  LayoutAttr kv = layoutWith(k, shapeOf(getDk()), {axes(k, 0), {}, axes(k, 2)}, {}, axes(q, 1));
  out.append({q, kv, kv});
  return success();
}

LogicalResult GeluOp::inferLayouts(Layouts in, Results &out) { return elementwise(*this, in, out); }
LogicalResult GeluGradOp::inferLayouts(Layouts in, Results &out) { return elementwise(*this, in, out); }
LogicalResult SwigluOp::inferLayouts(Layouts in, Results &out) { return elementwise(*this, in, out); }
LogicalResult SwigluGradOp::inferLayouts(Layouts in, Results &out) { return elementwise(*this, in, out); }
LogicalResult DropoutOp::inferLayouts(Layouts in, Results &out) { return elementwise(*this, in, out); }

static LogicalResult wholeLoss(Operation *op, Layouts in) {
  if (failed(rejectPartial(op, in)))
    return failure();
  for (unsigned i : {0u, 1u})
    if (failed(wholeRows(op, at(in, i))))
      return failure();
  if (!axes(at(in, 1), 0).empty())
    return op->emitOpError("T4: the vocabulary must be whole on each rank, got: ") << in[1];
  return success();
}
static LayoutAttr lossSums(Value result, LayoutAttr x) { return layoutWith(x, shapeOf(result), {axes(x, 1)}, {}, axes(x, 0)); }
LogicalResult LinearCrossEntropyOp::inferLayouts(Layouts in, Results &out) {
  if (failed(wholeLoss(*this, in)))
    return failure();
  out.append({lossSums(getLoss(), at(in, 0)), lossSums(getCount(), at(in, 0))});
  return success();
}
LogicalResult LinearCrossEntropyGradOp::inferLayouts(Layouts in, Results &out) {
  if (failed(wholeLoss(*this, in.take_front(3))))
    return failure();
  LayoutAttr x = at(in, 0);
  out.append({lossSums(getLoss(), x), lossSums(getCount(), x), x,
              layoutWith(x, shapeOf(getDweight()), {{}, {}}, {}, join({axes(x, 0), axes(x, 1)}))});
  return success();
}

LogicalResult FillOp::inferLayouts(Layouts, Results &out) {
  out.push_back(Attribute());
  return success();
}
LogicalResult InitNormalOp::inferLayouts(Layouts, Results &out) {
  out.push_back(Attribute());
  return success();
}
// Node sums stay Partial over the data axes until they are all-reduced.
LogicalResult TreeMergeOp::inferLayouts(Layouts in, Results &out) {
  out.append({in[0], in[1]});
  return success();
}
LogicalResult PositionSumOp::inferLayouts(Layouts in, Results &out) {
  if (failed(rejectPartial(*this, in)))
    return failure();
  LayoutAttr x = at(in, 0);
  if (!axes(x, 0).empty())
    return emitOpError("T4: position segments must be whole on each rank, got: ") << x;
  out.push_back(layoutWith(x, shapeOf(getResult()), {axes(x, 1)}));
  return success();
}
LogicalResult StepLossOp::inferLayouts(Layouts in, Results &) { return rejectPartial(*this, in); }
LogicalResult GradNormOp::inferLayouts(Layouts in, Results &) { return rejectPartial(*this, in); }
LogicalResult AdamwOp::inferLayouts(Layouts in, Results &out) {
  if (failed(rejectPartial(*this, in)))
    return failure();
  for (unsigned i = 1; i < in.size(); ++i)
    if (in[i] != in[0])
      return emitOpError("T5: parameter, states and gradient must have one layout, got: ") << in[0] << " and " << in[i];
  out.append(3, in[0]);
  return success();
}
LogicalResult ScheduleOp::inferLayouts(Layouts, Results &) { return success(); }

static LogicalResult verifyType(Operation *op, Type type, SymbolTable &symbols, bool required) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return success();
  LayoutAttr layout = dist::layoutOf(type);
  if (!layout)
    return required ? op->emitOpError("D8: every tensor has a layout after shard, got: ") << type : success();
  auto mesh = symbols.lookup<dist::MeshOp>(layout.getMesh().getValue());
  if (!mesh)
    return op->emitOpError("D5: no mesh ") << layout.getMesh();
  return dist::verifyAgainstMesh(layout, mesh, [&] { return op->emitOpError(); });
}

LogicalResult recipe::train::verifyLayouts(ModuleOp module, bool requireLayouts) {
  SymbolTable symbols(module);
  WalkResult result = module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (failed(verifyType(op, type, symbols, requireLayouts)))
        return WalkResult::interrupt();
    if (isa<KernelOp>(op))
      return WalkResult::skip(); // local, plain types inside; the boundary's rule is checked when the region is formed
    auto rule = dyn_cast<LayoutRuleOpInterface>(op);
    bool laidOut = llvm::any_of(op->getOperandTypes(), [](Type t) { return bool(dist::layoutOf(t)); });
    if (!rule || !laidOut)
      return WalkResult::advance();
    SmallVector<Attribute> operands, results;
    for (Type type : op->getOperandTypes()) {
      operands.push_back(dist::layoutOf(type));
      if (!operands.back()) {
        op->emitOpError("D8: operands with and without layout, got: ") << type;
        return WalkResult::interrupt();
      }
    }
    if (failed(rule.inferLayouts(operands, results)))
      return WalkResult::interrupt();
    for (auto [value, expected] : llvm::zip(op->getResults(), results))
      if (expected && dist::layoutOf(value.getType()) != expected) {
        op->emitOpError("the layout of result ") << value.getResultNumber() << " must follow the op's rule, got: "
                                                 << dist::layoutOf(value.getType()) << " != " << expected;
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
