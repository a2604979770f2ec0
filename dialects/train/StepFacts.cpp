#include "dialects/train/StepFacts.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace recipe::train;

int64_t StepFacts::batchLeaves() const { return std::gcd(globalBatch, batchSegments); }

int64_t StepFacts::batchNodes() const {
  int64_t leaf = globalBatch / batchLeaves();
  return batchSize <= leaf ? 1 : batchSize / leaf;
}

int64_t StepFacts::microbatchesPerLeaf() const {
  int64_t leaf = globalBatch / batchLeaves();
  return batchSize <= leaf ? leaf / batchSize : 1;
}

int64_t StepFacts::maxNodes() const { return batchLeaves() / batchNodes(); }

int64_t StepFacts::pendingLevels() const { return llvm::Log2_64(uint64_t(maxNodes())); }

std::vector<int64_t> StepFacts::legalRanks() const {
  std::vector<int64_t> legal;
  for (int64_t ranks = 1; ranks <= batchLeaves(); ++ranks)
    if (batchLeaves() % ranks == 0 && globalBatch % (ranks * batchSize) == 0)
      legal.push_back(ranks);
  return legal;
}

LogicalResult StepFacts::verify(llvm::function_ref<void(const Twine &)> problem) const {
  bool good = true;
  auto expect = [&](bool rule, const Twine &text) {
    if (!rule)
      problem(text);
    good &= rule;
  };
  auto powerOfTwo = [](int64_t n) { return n >= 1 && n <= 16 && (n & (n - 1)) == 0; };
  expect(batchSize >= 1, "batch_size must be at least 1, got " + Twine(batchSize));
  expect(seqLength >= 1, "seq_length must be at least 1, got " + Twine(seqLength));
  // Also keeps every product with a channel count within 64 bits.
  expect(batchSize < (int64_t(1) << 31) && seqLength < (int64_t(1) << 31) && batchSize * seqLength < (int64_t(1) << 31),
         "a micro-batch must have fewer than 2^31 tokens, got " + Twine(batchSize) + " x " + Twine(seqLength));
  expect(powerOfTwo(segments), "segments must be a power of two from 1 to 16, got " + Twine(segments));
  expect(batchSegments >= 1 && (batchSegments & (batchSegments - 1)) == 0,
         "batch_segments must be a power of two, got " + Twine(batchSegments));
  if (!good)
    return failure();
  expect(globalBatch >= batchSize && globalBatch % batchSize == 0,
         "global_batch must be a multiple of batch_size, got " + Twine(globalBatch) + " and " + Twine(batchSize));
  if (!good)
    return failure();
  int64_t leaf = globalBatch / batchLeaves();
  expect(leaf % batchSize == 0 || batchSize % leaf == 0,
         "batch_size must divide a batch segment or be a multiple of it, got " + Twine(batchSize) +
             " and segments of " + Twine(leaf) + " samples");
  return success(good);
}

DictionaryAttr StepFacts::toAttr(MLIRContext *context) const {
  Builder b(context);
  return b.getDictionaryAttr({b.getNamedAttr("batch_size", b.getI64IntegerAttr(batchSize)),
                              b.getNamedAttr("seq_length", b.getI64IntegerAttr(seqLength)),
                              b.getNamedAttr("global_batch", b.getI64IntegerAttr(globalBatch)),
                              b.getNamedAttr("batch_segments", b.getI64IntegerAttr(batchSegments)),
                              b.getNamedAttr("segments", b.getI64IntegerAttr(segments))});
}

FailureOr<StepFacts> StepFacts::fromModule(ModuleOp module) {
  auto dict = module->getAttrOfType<DictionaryAttr>(kAttrName);
  if (!dict)
    return module.emitError() << "the module needs the attribute '" << kAttrName << "'", failure();
  StepFacts facts;
  bool complete = true;
  auto read = [&](StringRef key, int64_t &value) {
    if (auto attr = dict.getAs<IntegerAttr>(key)) {
      value = attr.getInt();
      return;
    }
    module.emitError() << "'" << kAttrName << "' needs an integer '" << key << "'";
    complete = false;
  };
  read("batch_size", facts.batchSize);
  read("seq_length", facts.seqLength);
  read("global_batch", facts.globalBatch);
  read("batch_segments", facts.batchSegments);
  read("segments", facts.segments);
  if (!complete ||
      failed(facts.verify([&](const Twine &text) { module.emitError() << "'" << kAttrName << "': " << text; })))
    return failure();
  return facts;
}
