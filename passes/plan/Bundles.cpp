#include "passes/plan/Bundles.h"
#include "runtime/abi/AllReduceSchedule.h"
#include <map>

using namespace mlir;

namespace recipe::plan {

FailureOr<std::vector<Bundle>> bundleReductions(ModuleOp module, const Residents &residents, const Buffers &buffers) {
  std::map<int64_t, dist::AllReduceOp> byBuffer; // state buffers are in the order of their places
  for (auto graph : module.getOps<train::GraphOp>())
    for (auto reduction : graph.getBody().getOps<dist::AllReduceOp>()) {
      auto read = reduction.getInput().getDefiningOp<train::ReadOp>();
      if (!read || graph.getSymName() != "update" || !read.getResult().hasOneUse())
        return reduction.emitError("a sum over ranks must be of a variable that nothing else in @update reads");
      if (!byBuffer.insert({residents.variables.lookup(read.getVariable()).buffer, reduction}).second)
        return reduction.emitError("a variable must be summed over ranks once, got @") << read.getVariable();
    }
  // Backward completes the last ones first.
  std::vector<Bundle> bundles;
  int64_t bytes = 0, next = -1;
  for (auto [index, reduction] : llvm::reverse(byBuffer)) {
    if (bundles.empty() || index + 1 != next || bytes >= abi::kAllReduceChunkBytes) {
      bundles.emplace_back();
      bytes = 0;
    }
    bundles.back().insert(bundles.back().begin(), reduction);
    bytes += buffers.all[index].bytes;
    next = index;
  }
  return bundles;
}

} // namespace recipe::plan
