#include "passes/plan/Timeline.h"

using namespace mlir;

namespace recipe::plan {
namespace {

// The variables that a kernel region fills.
SmallVector<StringAttr> writtenBy(train::KernelOp kernel) {
  SmallVector<StringAttr> names;
  for (Value result : kernel->getResults())
    for (Operation *user : result.getUsers())
      if (auto write = dyn_cast<train::WriteOp>(user))
        names.push_back(write.getVariableAttr().getAttr());
  return names;
}

// Forward and backward: the micro-batch's kernels, and after each of them what becomes possible through it. Then the
// update.
class MicrobatchTimeline {
public:
  MicrobatchTimeline(ModuleOp module, ArrayRef<Bundle> bundles) : module(module) {
    timeline.programs = {"forward", "backward", "update"};
    for (const Bundle &bundle : bundles) {
      open.push_back({&bundle, bundle.size()});
      for (dist::AllReduceOp reduction : bundle)
        bundleOf[variableOf(reduction)] = open.size() - 1;
    }
  }

  FailureOr<Timeline> run(train::GraphOp train) {
    auto begin = module.lookupSymbol<train::GraphOp>("segment_begin");
    auto end = module.lookupSymbol<train::GraphOp>("segment_end");
    if (end && failed(findMerges(train, end)))
      return failure();
    if (begin)
      for (auto kernel : begin.getBody().getOps<train::KernelOp>())
        add(kernel, "segment_begin/", step::Predicate::SegmentBegin);
    for (Operation &op : train.getBody().front()) {
      if (isa<train::BackwardBeginOp>(op))
        program = 1;
      if (auto kernel = dyn_cast<train::KernelOp>(op)) {
        add(kernel, "", step::Predicate::Always);
        sumsChanged(kernel, kernel.getLoc());
      }
    }
    for (const Open &bundle : open)
      for (dist::AllReduceOp reduction : *bundle.reductions)
        if (bundleOf.contains(variableOf(reduction)))
          return reduction.emitError("a sum over ranks must be of what @train adds up, got @")
                 << variableOf(reduction).getValue();
    program = 2;
    if (auto update = module.lookupSymbol<train::GraphOp>("update"))
      for (auto kernel : update.getBody().getOps<train::KernelOp>())
        add(kernel, "", step::Predicate::Always);
    return std::move(timeline);
  }

private:
  void add(train::KernelOp kernel, StringRef prefix, step::Predicate predicate) {
    timeline.moments.push_back({kernel, {}, (prefix + kernel.getName()).str(), kernel.getLoc(), program, predicate});
  }

  static StringAttr variableOf(dist::AllReduceOp reduction) {
    return reduction.getInput().getDefiningOp<train::ReadOp>().getVariableAttr().getAttr();
  }

  // A merge can run when everything that it takes from @train is there.
  LogicalResult findMerges(train::GraphOp train, train::GraphOp end) {
    DenseMap<StringAttr, std::pair<size_t, train::KernelOp>> writers; // the kernel and its place
    for (auto [place, kernel] : llvm::enumerate(train.getBody().getOps<train::KernelOp>()))
      for (StringAttr variable : writtenBy(kernel))
        writers[variable] = {place, kernel};
    for (auto merge : end.getBody().getOps<train::KernelOp>()) {
      std::pair<size_t, train::KernelOp> last{0, {}};
      for (Value input : merge.getInputs())
        if (auto read = input.getDefiningOp<train::ReadOp>())
          if (auto found = writers.find(read.getVariableAttr().getAttr());
              found != writers.end() && (!last.second || found->second.first > last.first))
            last = found->second;
      if (!last.second)
        return merge.emitError("a merge at the end of a segment must be of what @train adds up");
      merges[last.second].push_back(merge);
    }
    return success();
  }

  void sumsChanged(train::KernelOp kernel, Location location) {
    ArrayRef<train::KernelOp> following;
    if (auto found = merges.find(kernel); found != merges.end())
      following = found->second;
    SmallVector<StringAttr> complete = writtenBy(kernel);
    for (train::KernelOp merge : following) {
      add(merge, "segment_end/", step::Predicate::Accumulating);
      llvm::append_range(complete, writtenBy(merge));
    }
    for (StringAttr variable : complete) {
      auto found = bundleOf.find(variable);
      if (found == bundleOf.end())
        continue;
      Open &bundle = open[found->second];
      bundleOf.erase(found);
      if (--bundle.missing == 0)
        issue(*bundle.reductions, location);
    }
  }

  void issue(const Bundle &bundle, Location location) {
    std::string name = ("all_reduce " + variableOf(bundle.front()).getValue()).str();
    if (bundle.size() > 1)
      name += " and " + std::to_string(bundle.size() - 1) + " more";
    timeline.moments.push_back({{}, bundle, name, location, program, step::Predicate::LastMicrobatch});
  }

  ModuleOp module;
  Timeline timeline;
  size_t program = 0;
  DenseMap<Operation *, SmallVector<train::KernelOp, 1>> merges; // by the kernel that they follow

  struct Open {
    const Bundle *reductions;
    size_t missing; // sums that are not complete yet
  };
  SmallVector<Open> open;
  DenseMap<StringAttr, size_t> bundleOf; // of variables whose sums are not complete yet
};

} // namespace

FailureOr<std::vector<Timeline>> timelinesOf(ModuleOp module, ArrayRef<Bundle> bundles) {
  std::vector<Timeline> timelines;
  bool trains = module.lookupSymbol<train::GraphOp>("train") != nullptr;
  for (auto graph : module.getOps<train::GraphOp>()) {
    StringRef name = graph.getSymName();
    if (name == "segment_begin" || name == "segment_end" || (name == "update" && trains))
      continue;
    if (name == "train") {
      FailureOr<Timeline> timeline = MicrobatchTimeline(module, bundles).run(graph);
      if (failed(timeline))
        return failure();
      timelines.push_back(std::move(*timeline));
      continue;
    }
    Timeline timeline;
    timeline.programs = {name.str()};
    for (auto kernel : graph.getBody().getOps<train::KernelOp>())
      timeline.moments.push_back({kernel, {}, kernel.getName().str(), kernel.getLoc()});
    timelines.push_back(std::move(timeline));
  }
  return timelines;
}

} // namespace recipe::plan
