#include "passes/plan/Certificate.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace recipe::plan {

static std::vector<step::ShareAttr> shares(MLIRContext *context, const Residents &residents, const Buffers &buffers,
                                           const TransientPlan &transient, const Scratch &scratch, int64_t nodes,
                                           int64_t transientBytes) {
  llvm::StringMap<int64_t> bytes = transient.byCategory;
  bytes[kInputs] += residents.inputBytes;
  bytes[kWorkspace] += scratch.stride * scratch.threads;
  int64_t known = transient.peak.bytes + scratch.stride * scratch.threads;
  // Gaps that the assignment of offsets leaves count as what they lie between.
  bytes[kActivations] += transientBytes - known;
  int64_t state = 0;
  for (const Buffer &buffer : buffers.all)
    if (buffer.space == step::Space::State && buffer.minNodes <= nodes) {
      bytes[buffer.category] += buffer.bytes();
      state += buffer.bytes();
    }
  bytes[kParameters] += residents.stateBytes(buffers, nodes) - state;
  std::vector<step::ShareAttr> result;
  for (StringRef category : kCategories)
    result.push_back(step::ShareAttr::get(context, StringAttr::get(context, category), bytes.lookup(category)));
  return result;
}

std::vector<step::RowAttr> certificateRows(MLIRContext *context, const train::StepFacts &facts, const Residents &residents,
                                           const Buffers &buffers, const TransientPlan &transient, const Scratch &scratch) {
  std::vector<step::RowAttr> rows;
  for (int64_t ranks = 1; ranks <= facts.batchLeaves(); ++ranks) {
    // A rank owns whole segments of the batch and whole micro-batches.
    if (facts.batchLeaves() % ranks || facts.globalBatch % (ranks * facts.batchSize))
      continue;
    int64_t nodes = facts.maxNodes() / ranks, transientBytes = scratch.offset + scratch.stride * scratch.threads;
    rows.push_back(step::RowAttr::get(context, ranks, facts.globalBatch / (ranks * facts.batchSize), nodes,
                                      residents.stateBytes(buffers, nodes), residents.inputBytes, transientBytes,
                                      shares(context, residents, buffers, transient, scratch, nodes, transientBytes)));
  }
  return rows;
}

static std::string amount(int64_t bytes) { return llvm::formatv("{0:f2} MiB", bytes / 1048576.0).str(); }

LogicalResult applyBudget(ModuleOp module, std::vector<step::RowAttr> &rows, int64_t budget, int64_t ranks) {
  auto wanted = llvm::find_if(rows, [&](step::RowAttr row) { return row.getRanks() == ranks; });
  if (wanted == rows.end())
    return module.emitError("the global batch must be whole micro-batches and batch segments on each rank, got ")
           << ranks << " ranks";
  if (budget && wanted->total() > budget) {
    SmallVector<step::ShareAttr> largest(wanted->getShares());
    llvm::sort(largest, [](step::ShareAttr a, step::ShareAttr b) {
      return a.getBytes() != b.getBytes() ? a.getBytes() > b.getBytes() : a.getCategory().compare(b.getCategory()) < 0;
    });
    InFlightDiagnostic error = module.emitError("memory.budget must hold the arena of a rank, got ")
                               << amount(budget) << " and at least " << amount(wanted->total()) << " needed";
    for (size_t i = 0; i < 3; ++i)
      error << (i ? ", " : ": ") << largest[i].getCategory().getValue() << " " << amount(largest[i].getBytes());
    return error;
  }
  if (budget)
    llvm::erase_if(rows, [&](step::RowAttr row) { return row.total() > budget; });
  return success();
}

} // namespace recipe::plan
