// The sizes of one training step, and how its global batch falls into the batch tree (docs/numerics.md, "batch").
//
// Kept on the module as `train.step = {...}` from import on.
#ifndef DIALECTS_TRAIN_STEPFACTS_H
#define DIALECTS_TRAIN_STEPFACTS_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/LogicalResult.h"
#include <functional>
#include <vector>

namespace recipe::train {

struct StepFacts {
  int64_t batchSize = 0;     // B: samples per micro-batch
  int64_t seqLength = 0;     // T: positions per sample
  int64_t globalBatch = 0;   // G: samples per update, over all ranks
  int64_t batchSegments = 8; // numerics.batch_segments
  int64_t segments = 8;      // R: numerics.segments

  static constexpr const char *kAttrName = "train.step";

  // S_b = gcd(G, batch_segments): leaves of the batch tree.
  int64_t batchLeaves() const;
  // p: leaves inside one micro-batch, each chained by itself.
  int64_t batchNodes() const;
  // q: micro-batches that one leaf is chained through.
  int64_t microbatchesPerLeaf() const;
  // The most tree nodes that a rank can complete in one step: those of a single rank.
  int64_t maxNodes() const;
  // The numbers of ranks, ascending, of which each can own whole segments of the batch in whole micro-batches.
  std::vector<int64_t> legalRanks() const;
  // log2(maxNodes()): copies of a gradient that wait for their sibling.
  int64_t pendingLevels() const;

  // Whether an update is one micro-batch of one rank, so that no sum goes on from another micro-batch.
  bool isOneMicrobatch() const { return microbatchesPerLeaf() == 1 && maxNodes() == 1; }

  // Checks ranges and divisibility; `problem` takes one message for each rule that fails.
  llvm::LogicalResult verify(llvm::function_ref<void(const llvm::Twine &)> problem) const;

  mlir::DictionaryAttr toAttr(mlir::MLIRContext *context) const;
  // Reads and checks the attribute of the module; errors are emitted at the module.
  static llvm::FailureOr<StepFacts> fromModule(mlir::ModuleOp module);
};

} // namespace recipe::train
#endif
