#include "models/GraphBuilder.h"
#include "dialects/train/Names.h"
#include "dialects/train/Shapes.h"

using namespace mlir;
using namespace recipe;
using namespace recipe::models;
using namespace recipe::train;

static constexpr const char *kLoss = "loss", *kCount = "count";

GraphBuilder::GraphBuilder(ModuleOp module, const StepFacts &facts)
    : variables(OpBuilder::atBlockBegin(module.getBody())), builder(module.getContext()), module(module),
      stepFacts(facts) {
  module->setAttr(StepFacts::kAttrName, facts.toAttr(module.getContext()));
}

Location GraphBuilder::loc(StringRef name) {
  bool isNew = names.insert(name).second;
  assert(isNew && "model names are unique in a graph");
  (void)isNew;
  return namedLoc(builder.getContext(), name);
}

RankedTensorType GraphBuilder::f32(ArrayRef<int64_t> shape) const {
  return RankedTensorType::get(shape, Float32Type::get(builder.getContext()));
}

void GraphBuilder::beginGraph(StringRef name, bool isTraining) {
  builder.setInsertionPointToEnd(module.getBody());
  auto graph = GraphOp::create(builder, namedLoc(builder.getContext(), name), name);
  // Variables stay in front of the graphs.
  if (declared.empty())
    variables.setInsertionPoint(graph);
  builder.setInsertionPointToStart(&graph.getBody().emplaceBlock());
  training = isTraining;
  values.clear();
  names.clear();
}

Value GraphBuilder::input(StringRef name) {
  Value &value = values["input " + name.str()];
  if (!value) {
    auto type = RankedTensorType::get({stepFacts.batchSize, stepFacts.seqLength}, builder.getI32Type());
    value = InputOp::create(builder, loc(("input " + name).str()), type, name);
  }
  return value;
}

Value GraphBuilder::parameter(StringRef hfName, ArrayRef<int64_t> shape, Init init, const Slice *slice) {
  std::string symbol = slice ? (hfName + "[" + slice->label + "]").str() : hfName.str();
  RankedTensorType type = f32(shape);
  if (declared.insert(symbol).second)
    declare(symbol, type, hfName, init, slice);
  Value &value = values[symbol];
  if (!value)
    value = ReadOp::create(builder, loc("read " + symbol), type, symbol);
  return value;
}

void GraphBuilder::declare(StringRef symbol, RankedTensorType type, StringRef hfName, Init init, const Slice *slice) {
  auto whole = slice ? ArrayRef<int64_t>(slice->wholeShape) : type.getShape();
  auto how = builder.getDictionaryAttr(
      builder.getNamedAttr(init.kind == Init::Normal ? "normal" : "constant", builder.getF64FloatAttr(init.value)));
  VariableOp::create(
      variables, namedLoc(builder.getContext(), symbol), builder.getStringAttr(symbol), TypeAttr::get(type),
      RoleAttr::get(builder.getContext(), Role::Parameter), builder.getStringAttr(hfName),
      builder.getDenseI64ArrayAttr(whole),
      builder.getDenseI64ArrayAttr(slice ? ArrayRef<int64_t>{slice->dim, slice->offset} : ArrayRef<int64_t>{-1, 0}),
      how, builder.getBoolAttr(type.getRank() == 2), builder.getBoolAttr(true), FlatSymbolRefAttr(), IntegerAttr());
}

Value GraphBuilder::embedding(StringRef name, Value ids, Value table) {
  return EmbeddingOp::create(builder, loc(name), f32({stepFacts.batchSize, stepFacts.seqLength, shapeOf(table)[1]}),
                             ids, table);
}

Value GraphBuilder::add(StringRef name, Value lhs, Value rhs) {
  return AddOp::create(builder, loc(name), lhs.getType(), lhs, rhs);
}

Value GraphBuilder::biasAdd(StringRef name, Value x, Value bias) {
  return BiasAddOp::create(builder, loc(name), x.getType(), x, bias);
}

Value GraphBuilder::contract(StringRef name, Value x, Value weight, ContractForm form, const SegmentList &segments,
                             const SegmentList &outSegments) {
  int64_t n = shapeOf(weight)[form == ContractForm::NN ? 1 : 0];
  // One segment is what a missing attribute means.
  auto out = outSegments.size() == 2 ? DenseI64ArrayAttr() : builder.getDenseI64ArrayAttr(outSegments);
  return ContractOp::create(builder, loc(name), f32({shapeOf(x)[0], shapeOf(x)[1], n}), ValueRange{x},
                            ValueRange{weight}, Value(), form, builder.getDenseI64ArrayAttr(segments), out);
}

Value GraphBuilder::layerNorm(StringRef name, Value x, Value gain, Value bias, double eps) {
  RankedTensorType rows = f32(shapeOf(x).drop_back());
  return LayerNormOp::create(builder, loc(name), x.getType(), rows, rows, x, gain, bias, builder.getF64FloatAttr(eps))
      .getResult();
}

Value GraphBuilder::rmsNorm(StringRef name, Value x, Value gain, double eps) {
  RankedTensorType rows = f32(shapeOf(x).drop_back());
  return RmsNormOp::create(builder, loc(name), x.getType(), rows, x, gain, builder.getF64FloatAttr(eps)).getResult();
}

std::pair<Value, Value> GraphBuilder::ropeTable(StringRef name, ArrayRef<double> inverseFrequencies,
                                                double attentionFactor) {
  RankedTensorType type = f32({stepFacts.seqLength, int64_t(inverseFrequencies.size())});
  auto table = RopeTableOp::create(builder, loc(name), type, type, builder.getDenseF64ArrayAttr(inverseFrequencies),
                                   builder.getF64FloatAttr(attentionFactor));
  return {table.getCosine(), table.getSine()};
}

Value GraphBuilder::rope(StringRef name, Value x, std::pair<Value, Value> table, Value positions, int64_t heads) {
  return RopeOp::create(builder, loc(name), x.getType(), x, table.first, table.second, positions, heads,
                        /*inverse=*/false);
}

Value GraphBuilder::attention(StringRef name, Value q, Value k, Value v, int64_t heads, int64_t kvHeads, double scale,
                              double p) {
  if (!training)
    p = 0;
  RankedTensorType rows = f32({shapeOf(q)[0], heads, shapeOf(q)[1]});
  return AttentionOp::create(builder, loc(name), q.getType(), rows, rows, q, k, v, builder.getI64IntegerAttr(heads),
                             builder.getI64IntegerAttr(kvHeads), builder.getF64FloatAttr(scale),
                             builder.getF64FloatAttr(p), builder.getI64IntegerAttr(p == 0 ? 0 : nameHash(name)))
      .getResult();
}

Value GraphBuilder::gelu(StringRef name, Value x) { return GeluOp::create(builder, loc(name), x.getType(), x); }

Value GraphBuilder::swiglu(StringRef name, Value gate, Value up) {
  return SwigluOp::create(builder, loc(name), gate.getType(), gate, up);
}

Value GraphBuilder::dropout(StringRef name, Value x, double p) {
  if (!training || p == 0)
    return x;
  return DropoutOp::create(builder, loc(name), x.getType(), x, builder.getF64FloatAttr(p),
                           builder.getI64IntegerAttr(nameHash(name)));
}

void GraphBuilder::loss(StringRef name, Value x, Value weight, Value labels) {
  RankedTensorType sums = f32({kPositionSegments});
  auto op = LinearCrossEntropyOp::create(builder, loc(name), sums, sums, x, weight, labels, stepFacts.segments,
                                         training ? stepFacts.batchNodes() : 1);
  writeLoss(kLoss, op.getLoss());
  writeLoss(kCount, op.getCount());
}

void GraphBuilder::writeLoss(StringRef variable, Value value) {
  if (declared.insert(variable).second)
    VariableOp::create(variables, namedLoc(builder.getContext(), variable), builder.getStringAttr(variable),
                       TypeAttr::get(value.getType()), RoleAttr::get(builder.getContext(), Role::Loss), StringAttr(),
                       DenseI64ArrayAttr(), DenseI64ArrayAttr(), DictionaryAttr(), BoolAttr(), BoolAttr(),
                       FlatSymbolRefAttr(), IntegerAttr());
  WriteOp::create(builder, loc(("write " + variable).str()), variable, value);
}
