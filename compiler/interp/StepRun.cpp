#include "compiler/interp/StepRun.h"
#include "dialects/train/StepFacts.h"

using namespace mlir;
using namespace recipe;
using namespace recipe::interp;

// A graph that only some factorings of the global batch need: `needed` says whether this one does.
static LogicalResult runWhen(Interpreter &interpreter, bool condition, bool needed, StringRef graph) {
  if (!condition || (!needed && !interpreter.hasGraph(graph)))
    return success();
  return interpreter.run(graph);
}

LogicalResult recipe::interp::refresh(Interpreter &interpreter) {
  return runWhen(interpreter, true, /*needed=*/false, "refresh");
}

LogicalResult recipe::interp::runStep(Interpreter &interpreter, int64_t step, LoadMicrobatch load) {
  FailureOr<train::StepFacts> facts = train::StepFacts::fromModule(interpreter.module());
  if (failed(facts))
    return failure();
  int64_t perNode = facts->microbatchesPerLeaf(), nodes = facts->maxNodes();
  rcp_step_params_v1 &params = interpreter.params();
  params.step = step;
  params.node_count = nodes;
  if (failed(interpreter.run("prologue")))
    return failure();
  for (int64_t microbatch = 0; microbatch < perNode * nodes; ++microbatch) {
    params.microbatch = microbatch;
    params.first_sample = microbatch * facts->batchSize;
    params.node = microbatch / perNode;
    bool first = microbatch % perNode == 0, last = microbatch % perNode == perNode - 1;
    if (failed(load(microbatch)) || failed(runWhen(interpreter, first, perNode > 1, "segment_begin")) ||
        failed(interpreter.run("train")) || failed(runWhen(interpreter, last && nodes > 1, nodes > 1, "segment_end")))
      return failure();
  }
  return interpreter.run("update");
}
