// What a run is, as far as its checkpoints are concerned: the model, and every setting that has a say in the bits of
// training. Layout, threads, paths and intervals have none.
#ifndef RUNTIME_TOOLS_RUNIDENTITY_H
#define RUNTIME_TOOLS_RUNIDENTITY_H
#include "runtime/abi/step.pb.h"
#include "runtime/checkpoint/CheckpointManifest.h"
#include "runtime/loader/RunTimeKeys.h"

namespace recipe::rt {

/// A manifest without step, samples, files and provenance. `dataHash` stands for the tokens that are trained on.
CheckpointManifest describeRun(const abi::Step &step, const RunTimeKeys &keys, const std::string &dataHash);

/// One spelling for one number; other kinds as they are.
std::string canonicalValue(abi::RunTimeKey::Kind kind, const std::string &text);

/// How a run differs from the one that wrote a checkpoint, a line for each difference.
struct RunDifferences {
  std::vector<std::string> fatal;      // the state or the place in the data would mean something else
  std::vector<std::string> deliberate; // training would go on otherwise than it began
  std::string bits; // settings apart, how the order of operations differs, and on which side is what; empty: not at all
};
RunDifferences compareRuns(const CheckpointManifest &checkpoint, const CheckpointManifest &now);

} // namespace recipe::rt
#endif
