// The proof that the ranks of a step never wait for each other in vain and that every sum over ranks has the order of
// docs/numerics.md: all ranks are simulated, message by message.
#ifndef PASSES_PLAN_ORDERPROOF_H
#define PASSES_PLAN_ORDERPROOF_H

#include "dialects/step/Step.h"
#include "runtime/abi/AllReduceSchedule.h"
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace recipe::plan {

struct OrderedCollective {
  std::string name;
  int64_t elements;
  int64_t elementBytes;
};

// What the ranks do: which collectives, in which order, and the messages that each is made of on a rank.
struct RankScripts {
  std::vector<OrderedCollective> collectives;
  std::vector<std::vector<size_t>> orders; // of each rank, indices into `collectives`
  std::function<std::vector<abi::Transfer>(int rank, size_t collective)> expand;
};

// The scripts of a step on so many ranks: one program for all, expanded as the runtime expands it.
RankScripts scriptsOf(std::vector<OrderedCollective> collectives, int ranks);

// A send is complete when its receive has taken the bytes: what holds without buffers holds with them. No choice
// depends on timing, so one simulation stands for all. Returns nothing, or a counter-example: which rank waits where
// and for what, or which sum is not the tree of adjacent pairs over all ranks.
std::optional<std::string> findCounterExample(const RankScripts &scripts);

// For every number of ranks that the arena has a row for. The error stands at the arena.
llvm::LogicalResult proveOrder(mlir::ModuleOp module);

} // namespace recipe::plan
#endif
