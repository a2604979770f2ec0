// linear_cross_entropy and its gradient: chunks of tokens, so that logits are never whole.
//
// For each chunk: logits (a temporary), their losses and gradients in place, one more stretch of dweight's chain, and
// dx. The chunks of one size share kernels. dweight is chained in a batch segment and combined over segments by the
// tree: as many whole segments as fit share a chunk (and their tree is that of one gemm), the results of chunks are
// nodes of a binary counter.
#include "mlir/IR/Builders.h"
#include "passes/LossScratch.h"
#include "passes/NodeTreeShape.h"
#include "passes/select/GemmLaunch.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace recipe::select {
namespace {

using step::ArgumentKind;

// A chunk's logits should be small beside the model, and long enough to read the weight and its gradient rarely; with
// AMX, whose products are the faster ones, less has not been measured.
constexpr int64_t kLogitBytes = 100 << 20, kLogitBytesAmx = 128 << 20;
constexpr int64_t kMostTokens = 4096;
constexpr int64_t kAddGrain = 16384;      // elements of a workgroup of the tree's additions
constexpr int64_t kLeastOfSubtree = 8192; // of the vocabulary; subtrees give threads work, so that blocks may be wide

class LossPlan {
public:
  template <class Op>
  LossPlan(Op op, const step::TargetInfo &target, KernelPlan &plan)
      : context(op->getContext()), b(context), target(target), plan(plan), vocabularySegments(op.getVocabSegments()),
        nodes(op.getBatchNodes()), blocks(takesBlocks(op)) {
    auto x = cast<RankedTensorType>(op.getX().getType());
    samples = x.getShape()[0], positions = x.getShape()[1], channels = x.getShape()[2];
    vocabulary = cast<RankedTensorType>(op.getWeight().getType()).getShape()[0];
    bf16 = x.getElementType().isBF16();
    chooseChunks();
    // Rows of whole cache lines: of others every vector lies in two.
    logitStride = blocks ? vocabulary : int64_t(llvm::alignTo(vocabulary, 16));
    logits = gradients = addTemp(chunk * logitStride * 4);
    ofTokens = cast<RankedTensorType>(op->getResult(0).getType()).getRank() == 2;
    if (!ofTokens)
      losses = {ArgumentKind::Temp, addTemp(tokens() * 4)}, counts = {ArgumentKind::Temp, addTemp(tokens() * 4)};
  }

  void forward() {
    for (int64_t token = 0; token < tokens(); token += chunk) {
      int64_t count = std::min(chunk, tokens() - token);
      logitsOf(token, count);
      rowsOf(token, count, false);
    }
  }

  // `weightAccumulator`: its operand, or -1. One node only.
  void backward(int64_t weightAccumulator) {
    // In bf16 a row's gradients take the first half of its logits' place; blocks have not been measured so.
    apart = bf16 && blocks;
    if (apart)
      gradients = addTemp(chunk * vocabulary * 2);
    while (!blocks && 2 * subtrees <= vocabularySegments && 2 * subtrees * kLeastOfSubtree <= vocabulary)
      subtrees *= 2;
    if (subtrees > 1)
      dxSums = addTemp(subtrees * chunk * channels * 4);
    int64_t nodeTokens = tokens() / nodes * nodesPerChunk, count = nodes / nodesPerChunk;
    int64_t levels = llvm::Log2_64_Ceil(count), firstPending = int64_t(plan.temps.size());
    for (int64_t level = 0; level < levels; ++level)
      addTemp(vocabulary * channels * 4);
    for (int64_t node = 0; node < count; ++node) {
      bool last = node == count - 1;
      int64_t merges = llvm::countr_one(uint64_t(node)); // pending subtrees 0..merges-1 are complete
      Argument result{ArgumentKind::Result, 3};
      Argument target = last ? result : Argument{ArgumentKind::Temp, firstPending + merges};
      Argument chain = merges ? result : target; // the result's memory is free until the last node
      for (int64_t begin = 0; begin < nodeTokens; begin += chunk) {
        int64_t token = node * nodeTokens + begin, length = std::min(chunk, nodeTokens - begin);
        logitsOf(token, length);
        rowsOf(token, length, true);
        bool starts = begin == 0;
        Argument from = starts ? Argument{ArgumentKind::Operand, weightAccumulator} : chain;
        dweightOf(token, length, !starts || weightAccumulator >= 0, from, chain);
        dxOf(token, length); // may take the place of these tokens' x
      }
      if (merges)
        merge(merges, firstPending, chain, target);
    }
  }

  // A vector gradient of one channel.
  void sum(Argument terms, int64_t accumulator, int64_t result) {
    Launch launch;
    launch.family = "column_sum";
    launch.spec.push_back(b.getNamedAttr("kind", b.getStringAttr("bias")));
    set(launch, {{"samples", samples},
                 {"positions", positions},
                 {"channels", 1},
                 {"nodes", nodes},
                 {"block", 16},
                 {"strip", 1}});
    launch.spec.push_back(b.getNamedAttr("accumulate", b.getDenseI64ArrayAttr({accumulator >= 0})));
    launch.arguments.push_back(terms);
    if (accumulator >= 0) {
      launch.arguments.push_back({ArgumentKind::Operand, accumulator});
      plan.inPlace.push_back({result, accumulator});
    }
    launch.arguments.push_back({ArgumentKind::Result, result});
    launch.workgroups = train::kPositionSegments;
    launch.scratchBytes = pendingBytes(nodes, 1);
    launch.flops = tokens(), launch.bytes = tokens() * 4;
    plan.launches.push_back(std::move(launch));
  }
  void sums(int64_t lossAccumulator, int64_t countAccumulator) {
    if (ofTokens)
      return; // they are the results
    sum(losses, lossAccumulator, 0);
    sum(counts, countAccumulator, 1);
  }

private:
  int64_t tokens() const { return samples * positions; }

  // Whole batch nodes while they fit, else equal parts of one node where its tokens divide. The weight's gradient takes
  // terms in pairs or in blocks, which begin anew with each sample: none may lie in two chunks.
  void chooseChunks() {
    int64_t fits = std::clamp<int64_t>((target.tilesBF16 ? kLogitBytesAmx : kLogitBytes) / (4 * vocabulary), 16,
                                       kMostTokens),
            node = tokens() / nodes;
    while (nodes % (2 * nodesPerChunk) == 0 && 2 * nodesPerChunk * node <= fits)
      nodesPerChunk *= 2;
    int64_t parts = llvm::divideCeil(node, fits);
    int64_t unit = blocks ? endsBlocks() ? positions : 32 : bf16 ? 2 : 1;
    for (int64_t more = parts; more <= 2 * parts; ++more)
      if (node % more == 0 && node / more % unit == 0) {
        parts = more;
        break;
      }
    chunk = nodesPerChunk * std::min<int64_t>(node, llvm::alignTo(llvm::divideCeil(node, parts), unit));
  }

  // Whether samples end inside a block of 32 terms, with others behind them.
  bool endsBlocks() const { return blocks && positions % 32 != 0 && tokens() / nodes != positions; }

  int64_t addTemp(int64_t bytes) {
    plan.temps.push_back(bytes);
    return int64_t(plan.temps.size()) - 1;
  }
  void set(Launch &launch, ArrayRef<std::pair<StringRef, int64_t>> spec) {
    for (auto [name, value] : spec)
      launch.spec.push_back(b.getNamedAttr(name, b.getI64IntegerAttr(value)));
  }
  void add(GemmShape shape, ArrayRef<Argument> arguments) {
    shape.bf16 = bf16, shape.blocks = blocks;
    Launch launch = gemmLaunch(context, shape, target);
    launch.arguments.assign(arguments.begin(), arguments.end());
    plan.launches.push_back(std::move(launch));
  }
  Argument tokensOf(ArgumentKind kind, int64_t index, int64_t token, int64_t elements, int64_t bytes = 4) const {
    return {kind, index, token * elements * bytes};
  }
  Argument xOf(int64_t token) const { return tokensOf(ArgumentKind::Operand, 0, token, channels, bf16 ? 2 : 4); }

  void logitsOf(int64_t token, int64_t count) {
    GemmShape shape{train::ContractForm::NT, count, vocabulary, {channels}, {0, channels}};
    shape.resultStride = blocks ? 0 : logitStride;
    add(shape, {xOf(token), {ArgumentKind::Operand, 1}, {ArgumentKind::Temp, logits}});
  }

  void rowsOf(int64_t token, int64_t count, bool gradient) {
    Launch launch;
    launch.family = "cross_entropy";
    int64_t grain = int64_t(llvm::alignTo(std::max<int64_t>(1, count / 64), LossScratch::kRows));
    set(launch, {{"vocabulary", vocabulary},
                 {"segment", segmentLength()},
                 {"segments", vocabularySegments},
                 {"gradient", gradient},
                 {"bf16", gradient && bf16},
                 {"stride", logitStride},
                 {"in_place", !apart},
                 {"grain", grain}});
    launch.scalars = {count};
    launch.arguments = {{ArgumentKind::Temp, logits},
                        tokensOf(ArgumentKind::Operand, 2, token, 1),
                        tokensOf(losses.kind, losses.index, token, 1),
                        tokensOf(counts.kind, counts.index, token, 1)};
    if (gradient && apart)
      launch.arguments.push_back({ArgumentKind::Temp, gradients});
    launch.workgroups = llvm::divideCeil(count, grain);
    launch.scratchBytes = LossScratch{vocabularySegments}.bytes();
    launch.flops = count * vocabulary * (gradient ? 8 : 4);
    launch.bytes = count * vocabulary * 4 * (gradient ? 2 : 1);
    plan.launches.push_back(std::move(launch));
  }

  int64_t segmentLength() const { return llvm::alignTo(llvm::divideCeil(vocabulary, vocabularySegments), 16); }

  // Elements between the rows of the logits' gradients; 0: they lie close.
  int64_t gradientStride() const { return blocks ? 0 : bf16 ? 2 * logitStride : logitStride; }

  void dxOf(int64_t token, int64_t count) {
    SmallVector<int64_t> segments;
    for (int64_t segment = 0; segment < vocabularySegments; ++segment)
      segments.append(
          {std::min(segment * segmentLength(), vocabulary), std::min((segment + 1) * segmentLength(), vocabulary)});
    GemmShape shape{train::ContractForm::NN, count, channels, {vocabulary}, segments};
    shape.subtrees = subtrees, shape.lhsStride = gradientStride();
    Argument dx = tokensOf(ArgumentKind::Result, 2, token, channels);
    add(shape, {{ArgumentKind::Temp, gradients},
                {ArgumentKind::Operand, 1},
                subtrees == 1 ? dx : Argument{ArgumentKind::Temp, dxSums}});
    if (subtrees > 1)
      addSubtrees(count * channels, dx);
  }

  // dx = tree(subtrees)
  void addSubtrees(int64_t elements, Argument dx) {
    SmallVector<Argument> arguments;
    SmallVector<int64_t> level;
    SmallVector<std::pair<int64_t, int64_t>> additions;
    for (int64_t subtree = 0; subtree < subtrees; ++subtree) {
      arguments.push_back({ArgumentKind::Temp, dxSums, subtree * elements * 4});
      level.push_back(subtree);
    }
    for (; level.size() > 1; level.resize(level.size() / 2))
      for (size_t i = 0; i < level.size(); i += 2) {
        additions.push_back({level[i], level[i + 1]});
        level[i / 2] = subtrees + int64_t(additions.size()) - 1;
      }
    arguments.push_back(dx);
    addElements(arguments, additions, elements);
  }

  void dweightOf(int64_t token, int64_t count, bool continues, Argument from, Argument to) {
    SmallVector<int64_t> segments;
    for (int64_t node = 0; node < nodesPerChunk; ++node)
      segments.append({count / nodesPerChunk * node, count / nodesPerChunk * (node + 1)});
    SmallVector<Argument> arguments = {{ArgumentKind::Temp, gradients}, xOf(token)};
    if (continues)
      arguments.push_back(from);
    arguments.push_back(to);
    GemmShape shape{train::ContractForm::TN, vocabulary, channels, {count}, segments, continues};
    shape.sample = endsBlocks() ? positions : 0;
    shape.lhsStride = gradientStride();
    add(shape, arguments);
  }

  // target = pending[terms - 1] + (... + (pending[0] + chain))
  void merge(int64_t terms, int64_t firstPending, Argument chain, Argument target) {
    SmallVector<Argument> arguments;
    SmallVector<std::pair<int64_t, int64_t>> additions;
    for (int64_t term = 0; term < terms; ++term) {
      arguments.push_back({ArgumentKind::Temp, firstPending + term});
      additions.push_back({term, terms + term});
    }
    arguments.append({chain, target});
    addElements(arguments, additions, vocabulary * channels);
  }

  // Values are numbered: those of the arguments but the last, then the sums. The last sum goes to the last argument.
  void addElements(ArrayRef<Argument> arguments, ArrayRef<std::pair<int64_t, int64_t>> additions, int64_t elements) {
    Launch launch;
    launch.family = "elementwise";
    launch.arguments.assign(arguments.begin(), arguments.end());
    int64_t inputs = int64_t(arguments.size()) - 1, terms = int64_t(additions.size());
    SmallVector<Attribute> program;
    for (auto [left, right] : additions)
      program.push_back(b.getDictionaryAttr({b.getNamedAttr("op", b.getStringAttr("train.add")),
                                             b.getNamedAttr("operands", b.getDenseI64ArrayAttr({left, right})),
                                             b.getNamedAttr("attributes", b.getDictionaryAttr({}))}));
    launch.spec.push_back(b.getNamedAttr("inputs", b.getDenseI64ArrayAttr(SmallVector<int64_t>(size_t(inputs), 0))));
    launch.spec.push_back(b.getNamedAttr("program", b.getArrayAttr(program)));
    launch.spec.push_back(b.getNamedAttr("results", b.getDenseI64ArrayAttr({inputs + terms - 1})));
    set(launch, {{"grain", kAddGrain}});
    launch.scalars = {elements};
    launch.workgroups = llvm::divideCeil(elements, kAddGrain);
    launch.flops = elements * terms, launch.bytes = elements * 4 * (inputs + 1);
    plan.launches.push_back(std::move(launch));
  }

  MLIRContext *context;
  Builder b;
  const step::TargetInfo &target;
  KernelPlan &plan;
  int64_t vocabularySegments, nodes; // batch segments in this micro-batch
  int64_t samples, positions, channels, vocabulary;
  int64_t nodesPerChunk = 1, chunk; // tokens
  int64_t logits, logitStride;      // a temporary; elements between its rows
  bool ofTokens;                    // losses and counts are results of each token, else temporaries that are summed
  Argument losses{ArgumentKind::Result, 0}, counts{ArgumentKind::Result, 1};
  int64_t subtrees = 1, dxSums = -1; // of the tree over the vocabulary, that dx is computed in; their temporary
  int64_t gradients;                 // of logits: their temporary
  bool apart = false;                // which is one of their own
  bool bf16, blocks;                 // x and weight; how products take their terms
};

LogicalResult lossRule(Operation *op, const step::TargetInfo &target, KernelPlan &plan) {
  auto loss = cast<train::LinearCrossEntropyOp>(op);
  if (failed(checkBlocks(loss, target)))
    return failure();
  LossPlan launches(loss, target, plan);
  launches.forward();
  launches.sums(-1, -1);
  return success();
}

LogicalResult lossGradRule(Operation *op, const step::TargetInfo &target, KernelPlan &plan) {
  auto loss = cast<train::LinearCrossEntropyGradOp>(op);
  int64_t next = 3;
  int64_t lossAccumulator = loss.getLossAccumulator() ? next++ : -1;
  int64_t countAccumulator = loss.getCountAccumulator() ? next++ : -1;
  int64_t weightAccumulator = loss.getWeightAccumulator() ? next++ : -1;
  if (failed(checkBlocks(loss, target)))
    return failure();
  LossPlan launches(loss, target, plan);
  launches.backward(weightAccumulator);
  launches.sums(lossAccumulator, countAccumulator);
  if (loss.getX().getType() == loss.getDx().getType())
    plan.inPlace.push_back({2, 0});
  if (weightAccumulator >= 0)
    plan.inPlace.push_back({3, weightAccumulator});
  return success();
}

} // namespace

ArrayRef<NamedKernelRule> lossRules() {
  static const NamedKernelRule rules[] = {{"train.linear_cross_entropy", lossRule},
                                          {"train.linear_cross_entropy_grad", lossGradRule}};
  return rules;
}

} // namespace recipe::select
