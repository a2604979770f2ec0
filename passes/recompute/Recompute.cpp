// Replays in backward: a value that is cheap to compute again is not kept.
#include "dialects/train/Names.h"
#include "dialects/train/Shapes.h"
#include "passes/Passes.h"
#include "passes/recompute/WorkingCopies.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace recipe {
#define GEN_PASS_DEF_RECOMPUTEPASS
#include "passes/Passes.h.inc"

namespace {
using train::CostOpInterface;
using train::GraphOp;

int64_t bytesOf(Value value) {
  RankedTensorType type = train::tensorType(value);
  return type.getNumElements() * type.getElementTypeBitWidth() / 8;
}

std::string described(Operation *op) {
  return "'" + op->getName().getStringRef().str() + "' " + train::nameOf(op).str();
}

// Of @train: which ops of forward are replayed, and the replays.
class Replays {
public:
  // `products`: in a row that may be replayed; `productBytes`: no more than drop so many bytes (negative: any).
  Replays(GraphOp graph, int64_t products, int64_t productBytes)
      : builder(graph.getContext()), mostProducts(products), productBytes(productBytes) {
    for (Operation &op : graph.getBody().front()) {
      if (isa<train::BackwardBeginOp>(op))
        boundary = &op;
      (boundary ? backward : forward).push_back(&op);
    }
    inForward.insert(forward.begin(), forward.end());
    inForward.insert(boundary);
  }

  void run() {
    if (!boundary)
      return;
    // If bytes count, what drops most of them for its arithmetic comes first: cheap ops, then single products.
    for (products = productBytes < 0 ? mostProducts : 0; products <= mostProducts; ++products)
      dropMore();
    // Operands of replays are looked up while uses still are what they were.
    for (Operation *op : backward)
      for (OpOperand &operand : op->getOpOperands())
        if (Operation *source = operand.get().getDefiningOp(); source && dropped.contains(source))
          uses.push_back(&operand);
    for (OpOperand *use : uses) {
      Operation *copy = replayOf(use->get().getDefiningOp(), use->getOwner());
      use->set(copy->getResult(cast<OpResult>(use->get()).getResultNumber()));
    }
    for (Operation *op : llvm::reverse(forward))
      if (isOpTriviallyDead(op))
        op->erase();
  }

  std::string text() const {
    int64_t kept = 0, replayed = 0;
    std::string lines;
    for (const auto &[op, reason] : reasons) {
      (reason.why.empty() ? replayed : kept) += reason.bytes;
      lines += llvm::formatv("  {0} {1,10:f2} MiB  {2}", reason.why.empty() ? "replayed" : "kept    ",
                             double(reason.bytes) / 1048576, reason.name)
                   .str();
      lines += (reason.why.empty() ? "" : ": " + reason.why) + "\n";
    }
    return llvm::formatv("of what forward gives, backward needs {0:f2} MiB: {1:f2} kept, {2:f2} replayed\n",
                         double(kept + replayed) / 1048576, double(kept) / 1048576, double(replayed) / 1048576)
               .str() +
           lines;
  }

private:
  struct Reason {
    std::string name;
    int64_t bytes;
    std::string why; // empty: replayed
  };

  void dropMore() {
    chains.clear();
    for (Operation *op : forward)
      if (crosses(op) && !dropped.contains(op)) {
        std::string why = whyKept(op);
        if (why.empty()) {
          dropped.insert(op);
          productBytesDropped += *productsIn(op) > 0 ? crossingBytes(op) : 0;
        }
        reasons[op] = {described(op), crossingBytes(op), why};
      }
  }

  // Replays are, too. Not asked of the block, which would number all its ops again after a few insertions.
  bool isBackward(Operation *op) const { return !inForward.contains(op); }
  bool crosses(Value value) const {
    return llvm::any_of(value.getUsers(), [&](Operation *user) { return isBackward(user); });
  }
  // What stays in the arena anyway is not kept for backward.
  static bool isResident(Operation *op) {
    auto compute = dyn_cast<train::PrecisionOpInterface>(op);
    return !compute || compute.getPrecisionClass() == train::PrecisionClass::Table;
  }
  bool crosses(Operation *op) const {
    return !isResident(op) && llvm::any_of(op->getResults(), [&](Value result) { return crosses(result); });
  }
  int64_t crossingBytes(Operation *op) const {
    int64_t bytes = 0;
    for (Value result : op->getResults())
      bytes += crosses(result) ? bytesOf(result) : 0;
    return bytes;
  }

  // How many products in a row backward has to replay to have the value; none when it cannot have it.
  std::optional<int64_t> productsBehind(Value value) {
    Operation *source = value.getDefiningOp();
    if (!source || isResident(source) || (crosses(value) && !dropped.contains(source)))
      return 0;
    return productsIn(source);
  }
  // The same of all results of an op that is replayed.
  std::optional<int64_t> productsIn(Operation *op) {
    auto known = chains.find(op);
    if (known != chains.end())
      return known->second;
    std::optional<int64_t> chain;
    if (mayReplay(op)) {
      chain = 0;
      for (Value operand : op->getOperands()) {
        std::optional<int64_t> behind = productsBehind(operand);
        chain = chain && behind ? std::optional(std::max(*chain, *behind)) : std::nullopt;
      }
      if (chain && isa<train::ContractOp>(op) && ++*chain > products)
        chain = std::nullopt;
    }
    return chains[op] = chain;
  }

  static bool isCheap(Operation *op) {
    auto cost = dyn_cast<CostOpInterface>(op);
    return cost && cost.isCheapToReplay();
  }
  // A single product is one of what is kept.
  bool mayReplay(Operation *op) {
    auto product = dyn_cast<train::ContractOp>(op);
    return isCheap(op) || (product && products > 1) ||
           (product && products == 1 && llvm::all_of(product.getLhs(), [&](Value lhs) { return isKept(lhs); }));
  }
  // As it is or, where it is a rounded value, unrounded.
  bool isKept(Value value) {
    Operation *source = value.getDefiningOp();
    if (auto cast = dyn_cast_or_null<train::CastOp>(source); cast && isKept(cast.getX()))
      return true;
    return source && crosses(value) && !dropped.contains(source);
  }

  std::string whyKept(Operation *op) {
    if (!mayReplay(op))
      return "not cheap to compute again";
    int64_t all = 0;
    for (Value result : op->getResults())
      all += bytesOf(result);
    if (2 * crossingBytes(op) < all)
      return llvm::formatv("small beside the {0:f2} MiB that computing it again gives", double(all) / 1048576).str();
    if (std::optional<int64_t> chain = productsIn(op)) {
      bool enough = *chain > 0 && productBytes >= 0 && productBytesDropped >= productBytes;
      return enough ? "enough memory without" : "";
    }
    Operation *source = op;
    while (mayReplay(source)) {
      auto lacking = llvm::find_if(source->getOperands(), [&](Value operand) { return !productsBehind(operand); });
      if (lacking == source->operand_end())
        return "it would need " + described(source) + " again, one product in a row too many";
      source = (*lacking).getDefiningOp();
    }
    return "it would need what " + described(source) + " gives, which is not kept";
  }

  // The replay of a forward op; made before `user`, with those that it needs, unless there is one.
  Operation *replayOf(Operation *op, Operation *user) {
    if (Operation *made = replays.lookup(op))
      return made;
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      Operation *source = operand.getDefiningOp();
      bool again = source && !isResident(source) && (dropped.contains(source) || !crosses(operand));
      operands.push_back(again ? replayOf(source, user)->getResult(cast<OpResult>(operand).getResultNumber())
                               : operand);
    }
    builder.setInsertionPoint(user);
    Operation *copy = builder.clone(*op);
    copy->setOperands(operands);
    copy->setLoc(train::derivedLoc(op, "replay"));
    return replays[op] = copy;
  }

  OpBuilder builder;
  int64_t mostProducts, productBytes;
  int64_t products = 0; // in a row that may be replayed now
  int64_t productBytesDropped = 0;
  Operation *boundary = nullptr;
  std::vector<Operation *> forward, backward;
  DenseSet<Operation *> inForward, dropped;
  DenseMap<Operation *, std::optional<int64_t>> chains; // of products in replays; decided once
  DenseMap<Operation *, Operation *> replays;           // of dropped ops and of what they need
  std::vector<OpOperand *> uses;
  llvm::MapVector<Operation *, Reason> reasons;
};

class RecomputePass : public impl::RecomputePassBase<RecomputePass> {
public:
  using RecomputePassBase::RecomputePassBase;
  RecomputePass(const RecomputePassOptions &options, RecomputeReport *report)
      : RecomputePassBase(options), reportTo(report) {}

private:
  void runOnOperation() override {
    if (!workingCopies)
      recompute::dropWorkingCopies(getOperation());
    auto graph = getOperation().lookupSymbol<GraphOp>("train");
    if (!graph)
      return;
    Replays replays(graph, products, productBytes);
    replays.run();
    if (reportTo && reportTo->wantsText)
      reportTo->text = replays.text();
  }

  RecomputeReport *reportTo = nullptr;
};

} // namespace

std::unique_ptr<Pass> createRecomputePass(const RecomputePassOptions &options, RecomputeReport *report) {
  return std::make_unique<RecomputePass>(options, report);
}

} // namespace recipe
