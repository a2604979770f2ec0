#include "passes/select/LaneProgram.h"
#include "dialects/train/Regions.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace recipe::select {
namespace {

int64_t elementsOf(Value value) { return cast<RankedTensorType>(value.getType()).getNumElements(); }
bool isBF16(Value value) { return cast<RankedTensorType>(value.getType()).getElementType().isBF16(); }
int64_t bytesOf(Value value) {
  return elementsOf(value) * cast<RankedTensorType>(value.getType()).getElementTypeBitWidth() / 8;
}

struct Described {
  DictionaryAttr attributes;    // what the code depends on
  SmallVector<int64_t> scalars; // what only the launch depends on
};

// Names and hashes differ between layers, so they are launch scalars: all layers share one kernel.
Described describe(Operation *op) {
  Builder builder(op->getContext());
  Described described{builder.getDictionaryAttr({}), {}};
  if (auto dropout = dyn_cast<train::DropoutOp>(op)) {
    described.attributes = builder.getDictionaryAttr(builder.getNamedAttr("p", dropout.getPAttr()));
    ArrayRef<int64_t> shape = cast<RankedTensorType>(dropout.getX().getType()).getShape();
    described.scalars = {int64_t(dropout.getDropoutId()), elementsOf(dropout.getX()) / shape[0]};
  } else if (auto fill = dyn_cast<train::FillOp>(op)) {
    described.attributes = builder.getDictionaryAttr(builder.getNamedAttr("value", fill.getValueAttr()));
  } else if (auto cast = dyn_cast<train::CastOp>(op)) {
    bool narrows = isBF16(cast.getResult());
    described.attributes =
        builder.getDictionaryAttr(builder.getNamedAttr("narrows", builder.getI64IntegerAttr(narrows)));
  } else if (auto normal = dyn_cast<train::InitNormalOp>(op)) {
    described.attributes = builder.getDictionaryAttr(builder.getNamedAttr("stddev", normal.getStddevAttr()));
    described.scalars = {int64_t(normal.getKey())};
  } else if (auto adamw = dyn_cast<train::AdamwOp>(op)) {
    described.attributes = builder.getDictionaryAttr(
        {builder.getNamedAttr("beta1", adamw.getBeta1Attr()), builder.getNamedAttr("beta2", adamw.getBeta2Attr()),
         builder.getNamedAttr("eps", adamw.getEpsAttr()),
         builder.getNamedAttr("weight_decay", adamw.getWeightDecayAttr())});
  }
  return described;
}

// Numbers the values: the anchor's result, the inputs, the results of each op.
class ProgramBuilder {
public:
  ProgramBuilder(Block &body, Operation *anchor) : body(body), anchor(anchor), builder(body.getParentOp()) {}

  LaneProgram run() {
    if (anchor) {
      Value taken = anchor->getResult(*train::anchoredResult(anchor));
      numbers[taken] = next++;
      program.elements = elementsOf(taken);
    } else {
      program.elements = elementsOf(body.front().getResult(0));
    }
    for (Operation &op : body.without_terminator())
      if (&op != anchor)
        for (OpOperand &operand : op.getOpOperands())
          addInput(operand);
    for (Operation &op : body.without_terminator())
      if (&op != anchor)
        addStep(&op);
    for (OpOperand &yielded : body.getTerminator()->getOpOperands())
      addResult(yielded);
    auto set = [&](StringRef name, Attribute value) { program.spec.push_back(builder.getNamedAttr(name, value)); };
    set("inputs", builder.getDenseI64ArrayAttr(access));
    set("program", builder.getArrayAttr(steps));
    set("results", builder.getDenseI64ArrayAttr(results));
    if (!halves.empty())
      set("bf16", builder.getDenseI64ArrayAttr(halves));
    return std::move(program);
  }

private:
  void addInput(OpOperand &operand) {
    auto argument = dyn_cast<BlockArgument>(operand.get());
    if (!argument || !numbers.try_emplace(argument, next).second)
      return;
    ++next;
    bool perChannel = isa<train::BiasAddOp>(operand.getOwner()) && train::isPerChannel(operand);
    if (perChannel)
      program.channels = elementsOf(argument);
    if (isBF16(argument))
      halves.push_back(int64_t(access.size()));
    access.push_back(perChannel);
    program.inputs.push_back({step::ArgumentKind::Operand, argument.getArgNumber()});
    program.bytes += bytesOf(argument);
  }

  void addStep(Operation *op) {
    SmallVector<int64_t> operands;
    for (Value operand : op->getOperands())
      operands.push_back(numbers.lookup(operand));
    Described described = describe(op);
    steps.push_back(
        builder.getDictionaryAttr({builder.getNamedAttr("op", builder.getStringAttr(op->getName().getStringRef())),
                                   builder.getNamedAttr("operands", builder.getDenseI64ArrayAttr(operands)),
                                   builder.getNamedAttr("attributes", described.attributes)}));
    program.scalars.append(described.scalars);
    program.flops += int64_t(cast<train::CostOpInterface>(op).getFlops());
    for (Value result : op->getResults())
      numbers[result] = next++;
  }

  void addResult(OpOperand &yielded) {
    auto found = numbers.find(yielded.get());
    if (found == numbers.end())
      return; // the anchor stores it
    int64_t number = yielded.getOperandNumber();
    if (isBF16(yielded.get()))
      halves.push_back(int64_t(access.size() + results.size()));
    results.push_back(found->second);
    program.results.push_back({step::ArgumentKind::Result, number});
    program.bytes += bytesOf(yielded.get());
    for (auto [input, perChannel] : llvm::zip(program.inputs, access))
      if (!perChannel && body.getArgument(unsigned(input.index)).getType() == yielded.get().getType())
        program.inPlace.push_back({number, input.index});
  }

  Block &body;
  Operation *anchor;
  Builder builder;
  LaneProgram program;
  SmallVector<int64_t> access, results, halves;
  SmallVector<Attribute> steps;
  DenseMap<Value, int64_t> numbers;
  int64_t next = 0;
};

} // namespace

LaneProgram laneProgramOf(Block &body, Operation *anchor) { return ProgramBuilder(body, anchor).run(); }

void addEpilogue(Launch &launch, const LaneProgram &program, MLIRContext *context) {
  Builder builder(context);
  launch.arguments.pop_back();
  launch.arguments.append(program.inputs);
  launch.arguments.append(program.results);
  SmallVector<NamedAttribute> epilogue = program.spec;
  epilogue.push_back(builder.getNamedAttr("first_scalar", builder.getI64IntegerAttr(int64_t(launch.scalars.size()))));
  launch.scalars.append(program.scalars);
  launch.spec.push_back(builder.getNamedAttr("epilogue", builder.getDictionaryAttr(epilogue)));
  launch.flops += program.flops;
  launch.bytes += program.bytes - 4 * program.elements;
}

} // namespace recipe::select
