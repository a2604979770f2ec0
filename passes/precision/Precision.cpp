// Casts to bf16: one for each value that an op takes in bf16, where the value is made; of a parameter one for each
// update, kept in a working variable. And how products of what stays f32 are computed.
#include "dialects/train/Names.h"
#include "dialects/train/Shapes.h"
#include "dialects/train/Variables.h"
#include "passes/Passes.h"
#include "passes/precision/Policy.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace recipe {
#define GEN_PASS_DEF_PRECISIONPASS
#include "passes/Passes.h.inc"
} // namespace recipe

using namespace recipe;
using namespace recipe::train;

namespace {

bool hasAttribute(Operation *op, StringRef name) {
  return llvm::any_of(op->getName().getAttributeNames(), [&](StringAttr has) { return has.getValue() == name; });
}

class Caster {
public:
  Caster(ModuleOp module, const precision::Policy &policy, BF16Order order)
      : module(module), symbols(module), policy(policy), order(order), builder(module.getContext()) {}

  void run() {
    for (StringRef name : {"train", "eval"})
      if (auto graph = module.lookupSymbol<GraphOp>(name))
        castOperands(graph);
    if (working.empty())
      return;
    if (auto update = module.lookupSymbol<GraphOp>("update"))
      castWrites(update);
    buildRefresh();
  }

private:
  void castOperands(GraphOp graph) {
    DenseMap<Value, Value> rounded;
    SmallVector<PrecisionOpInterface> ops(graph.getBody().getOps<PrecisionOpInterface>());
    for (PrecisionOpInterface op : ops) {
      SmallVector<OpOperand *> operands = op.getBF16Operands();
      if (operands.empty() || policy.isKept(op))
        continue;
      if (hasAttribute(op, "bf16_order") && order != BF16Order::Pairs)
        op->setAttr("bf16_order", BF16OrderAttr::get(op->getContext(), order));
      for (OpOperand *operand : operands) {
        Value value = operand->get();
        if (isBF16(value))
          continue;
        Value &cast = rounded[value];
        if (!cast)
          cast = roundedValue(value);
        operand->set(cast);
        if (auto read = value.getDefiningOp<ReadOp>(); read && read->use_empty())
          read.erase();
      }
    }
  }

  Value roundedValue(Value value) {
    Operation *source = value.getDefiningOp();
    builder.setInsertionPointAfter(source);
    if (auto read = dyn_cast<ReadOp>(source))
      if (auto parameter = symbols.lookup<VariableOp>(read.getVariable()); parameter.getRole() == Role::Parameter)
        return readVariable(builder, workingCopy(parameter));
    std::string what = "bf16";
    if (unsigned number = cast<OpResult>(value).getResultNumber())
      what += "." + std::to_string(number);
    return CastOp::create(builder, derivedLoc(source, what), bf16(value.getType()), value);
  }

  static RankedTensorType bf16(Type type) {
    auto tensor = cast<RankedTensorType>(type);
    return RankedTensorType::get(tensor.getShape(), BFloat16Type::get(type.getContext()), tensor.getEncoding());
  }

  VariableOp workingCopy(VariableOp parameter) {
    VariableOp &copy = working[parameter];
    if (!copy)
      copy = declareVariable(module, ("working:" + parameter.getSymName()).str(), bf16(parameter.getType()),
                             Role::Working, Belongs{parameter, std::nullopt});
    return copy;
  }

  Value workingValue(VariableOp parameter, Value value) {
    return CastOp::create(builder, namedLoc(module.getContext(), "working " + parameter.getSymName()),
                          bf16(value.getType()), value);
  }

  // The copies follow the parameters that the update writes.
  void castWrites(GraphOp update) {
    for (auto write : llvm::make_early_inc_range(update.getBody().getOps<WriteOp>())) {
      auto found = working.find(symbols.lookup(write.getVariable()));
      if (found == working.end())
        continue;
      auto parameter = cast<VariableOp>(found->first);
      builder.setInsertionPointAfter(write);
      writeVariable(builder, found->second.getSymName(), workingValue(parameter, write.getValue()));
    }
  }

  // All copies, from parameters that came from anywhere: the initial state, a file.
  void buildRefresh() {
    declareGraph(builder, module, "refresh");
    for (auto [parameter, copy] : working)
      writeVariable(builder, copy.getSymName(),
                    workingValue(cast<VariableOp>(parameter), readVariable(builder, cast<VariableOp>(parameter))));
  }

  ModuleOp module;
  SymbolTable symbols;
  const precision::Policy &policy;
  BF16Order order;
  OpBuilder builder;
  llvm::MapVector<Operation *, VariableOp> working; // by parameter, in the order of use
};

// Ops that multiply f32 operands, all of one type, by parts in bf16.
void multiplyByParts(GraphOp graph) {
  auto attribute = F32ProductsAttr::get(graph.getContext(), F32Products::BF16X6);
  for (Operation &op : graph.getBody().front())
    if (isa<PrecisionOpInterface>(op) && hasAttribute(&op, "f32_products") && !isBF16(op.getOperand(0)))
      op.setAttr("f32_products", attribute);
}

class PrecisionPass : public recipe::impl::PrecisionPassBase<PrecisionPass> {
public:
  using PrecisionPassBase::PrecisionPassBase;

private:
  void runOnOperation() override {
    precision::Policy policy(getOperation(), std::vector<std::string>(keepFp32.begin(), keepFp32.end()));
    if (casts)
      Caster(getOperation(), policy, blocks ? BF16Order::Blocks : BF16Order::Pairs).run();
    for (StringRef name : {"train", "eval"})
      if (auto graph = getOperation().lookupSymbol<GraphOp>(name); graph && bf16x6)
        multiplyByParts(graph);
  }
};

} // namespace
