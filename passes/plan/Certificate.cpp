#include "passes/plan/Certificate.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace recipe::plan {

static std::vector<step::ShareAttr> shares(MLIRContext *context, const Residents &residents, const Buffers &buffers,
                                           const TransientPlan &transient, const Scratch &scratch, int64_t nodes,
                                           int64_t communication, int64_t transientBytes) {
  llvm::StringMap<int64_t> bytes = transient.byCategory;
  bytes[kInputs] += residents.inputBytes;
  bytes[kWorkspace] += scratch.stride * scratch.threads;
  bytes[kCommunication] += communication;
  int64_t known = transient.peak.bytes + scratch.stride * scratch.threads + communication;
  // Gaps that the assignment of offsets leaves count as what they lie between.
  bytes[kActivations] += transientBytes - known;
  int64_t state = 0;
  for (const Buffer &buffer : buffers.all)
    if (buffer.space == step::Space::State && buffer.minNodes <= nodes) {
      bytes[buffer.category] += buffer.bytes;
      state += buffer.bytes;
    }
  bytes[kParameters] += residents.stateBytes(buffers, nodes) - state;
  std::vector<step::ShareAttr> result;
  for (StringRef category : kCategories)
    result.push_back(step::ShareAttr::get(context, StringAttr::get(context, category), bytes.lookup(category)));
  return result;
}

std::vector<step::RowAttr> certificateRows(MLIRContext *context, const train::StepFacts &facts,
                                           const Residents &residents, const Buffers &buffers,
                                           const TransientPlan &transient, const Scratch &scratch) {
  std::vector<step::RowAttr> rows;
  for (int64_t ranks : facts.legalRanks()) {
    int64_t nodes = facts.maxNodes() / ranks, communication = ranks > 1 ? scratch.communication : 0;
    int64_t transientBytes = scratch.offset + scratch.stride * scratch.threads + communication;
    rows.push_back(step::RowAttr::get(
        context, ranks, facts.globalBatch / (ranks * facts.batchSize), nodes, residents.stateBytes(buffers, nodes),
        residents.inputBytes, transientBytes,
        shares(context, residents, buffers, transient, scratch, nodes, communication, transientBytes)));
  }
  return rows;
}

static std::string amount(int64_t bytes) {
  // Two digits of a MiB say nothing of less than this.
  if (bytes < 1 << 16)
    return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
  return llvm::formatv("{0:f2} MiB", bytes / 1048576.0).str();
}

static std::string largestShares(step::RowAttr row) {
  SmallVector<step::ShareAttr> shares(row.getShares());
  llvm::sort(shares, [](step::ShareAttr a, step::ShareAttr b) {
    return a.getBytes() != b.getBytes() ? a.getBytes() > b.getBytes() : a.getCategory().compare(b.getCategory()) < 0;
  });
  std::string text;
  for (size_t i = 0; i < 3; ++i)
    text += (i ? ", " : "") + shares[i].getCategory().getValue().str() + " " + amount(shares[i].getBytes());
  return text;
}

std::string applyBudget(step::ArenaOp arena, int64_t budget, int64_t ranks) {
  SmallVector<Attribute> kept;
  step::RowAttr wanted;
  for (auto row : arena.getRows().getAsRange<step::RowAttr>()) {
    if (row.getRanks() == ranks)
      wanted = row;
    if (!budget || row.total() <= budget)
      kept.push_back(row);
  }
  if (!wanted)
    return "the global batch must fall into whole micro-batches and batch segments on each rank, got " +
           std::to_string(ranks) + " ranks";
  if (budget && wanted.total() > budget)
    return "memory.budget must hold the arena of one rank, got " + amount(budget) + " and a need of " +
           amount(wanted.total()) + " (" + largestShares(wanted) + ")";
  arena.setRowsAttr(ArrayAttr::get(arena.getContext(), kept));
  arena.setBudget(budget);
  return "";
}

} // namespace recipe::plan
