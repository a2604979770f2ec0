// From the bytes of a step.bin to something that can run.
#ifndef RUNTIME_LOADER_LOADER_H
#define RUNTIME_LOADER_LOADER_H
#include "absl/types/span.h"
#include "runtime/abi/kernel_abi.h"
#include "runtime/abi/step.pb.h"
#include "runtime/base/Status.h"
#include "runtime/loader/NativeLibrary.h"
#include "runtime/loader/RankPlan.h"
#include "runtime/loader/RunTimeKeys.h"
#include <memory>
#include <string>
#include <vector>

namespace recipe::rt {

struct LoadOptions {
  int64_t ranks = 1;
  std::vector<std::string> overrides; // --set key=value
};

/// A step whose every promise was checked, with its code mapped. Kernels are in the order of step.kernels(); the
/// message has lost its native objects and its semantic section.
struct LoadedStep {
  std::unique_ptr<abi::Step> step;
  RankPlan plan;
  RunTimeKeys keys;
  std::unique_ptr<NativeLibrary> library;
  std::vector<rcp_kernel_v1> kernels;
};

/// Checks everything before it maps code: container, ABI version, number of ranks, indices and extents, overrides, CPU
/// features. Every refusal names the rule and what was found.
absl::StatusOr<LoadedStep> loadStep(const std::string &bytes, const LoadOptions &options);

/// The same for a file; messages begin with its path.
absl::StatusOr<LoadedStep> loadStepFile(const std::string &path, const LoadOptions &options);

/// A step to read, not to run: everything is checked, for each of its numbers of ranks, but for its code, which may be
/// for another machine.
absl::StatusOr<std::unique_ptr<abi::Step>> readStepFile(const std::string &path);

} // namespace recipe::rt
#endif
