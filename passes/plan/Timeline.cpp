#include "passes/plan/Timeline.h"

using namespace mlir;

namespace recipe::plan {

static void append(Timeline &timeline, train::GraphOp graph, size_t program, step::Predicate predicate,
                   StringRef prefix) {
  for (Operation &op : graph.getBody().front()) {
    if (isa<train::BackwardBeginOp>(op))
      ++program;
    if (auto kernel = dyn_cast<train::KernelOp>(op))
      timeline.moments.push_back({kernel, (prefix + kernel.getName()).str(), program, predicate});
  }
}

std::vector<Timeline> timelinesOf(ModuleOp module) {
  std::vector<Timeline> timelines;
  for (auto graph : module.getOps<train::GraphOp>()) {
    StringRef name = graph.getSymName();
    if (name == "segment_begin" || name == "segment_end")
      continue;
    Timeline timeline;
    if (name != "train") {
      timeline.programs = {name.str()};
      append(timeline, graph, 0, step::Predicate::Always, "");
    } else {
      timeline.programs = {"forward", "backward"};
      if (auto begin = module.lookupSymbol<train::GraphOp>("segment_begin"))
        append(timeline, begin, 0, step::Predicate::SegmentBegin, "segment_begin/");
      append(timeline, graph, 0, step::Predicate::Always, "");
      if (auto end = module.lookupSymbol<train::GraphOp>("segment_end"))
        append(timeline, end, 1, step::Predicate::Accumulating, "segment_end/");
    }
    timelines.push_back(std::move(timeline));
  }
  return timelines;
}

} // namespace recipe::plan
