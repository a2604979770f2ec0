// The ranks of a run must train the same thing: each has its own step file, command line, data and weights to read.
#ifndef RUNTIME_TOOLS_RANKAGREEMENT_H
#define RUNTIME_TOOLS_RANKAGREEMENT_H
#include "runtime/abi/step.pb.h"
#include "runtime/checkpoint/CheckpointManifest.h"
#include "runtime/checkpoint/CheckpointState.h"
#include "runtime/comm/Communicator.h"
#include "runtime/loader/RunTimeKeys.h"

namespace recipe::rt {

/// What must be the same on all ranks: a name for messages and its value, or a digest of it.
struct SharedPart {
  std::string name, value;
};
using SharedParts = std::vector<SharedPart>;

/// The run-time keys that have a say in the bits of training or in what the ranks do together. Not those that only rank
/// 0 heeds, nor paths: what they lead to is compared.
SharedParts sharedKeys(const abi::Step &step, const RunTimeKeys &keys);

/// The contents of a file, in short.
absl::StatusOr<std::string> digestOfFile(const std::string &path);
/// Of a checkpoint that was loaded, from what its manifest says of its files.
std::string digestOfCheckpoint(const CheckpointManifest &manifest);
/// Of the values in memory.
absl::StatusOr<std::string> digestOfTensors(const StateFile &state);

/// All ranks call it. The same error on all of them, which names the first rank and part that differ from rank 0's.
absl::Status requireSame(Communicator &comm, const SharedParts &own, double timeoutSeconds);

} // namespace recipe::rt
#endif
