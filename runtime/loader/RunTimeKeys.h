// The recipe keys that a run may change, with their values after `--set key=value`.
#ifndef RUNTIME_LOADER_RUNTIMEKEYS_H
#define RUNTIME_LOADER_RUNTIMEKEYS_H
#include "absl/types/span.h"
#include "runtime/abi/kernel_abi.h"
#include "runtime/abi/step.pb.h"
#include "runtime/base/Status.h"
#include <array>
#include <map>
#include <string>
#include <vector>

namespace recipe::rt {

/// Immutable once resolved. A key that the step does not carry has the caller's fallback.
class RunTimeKeys {
public:
  /// Checks the compiled values, then applies the overrides in order. Reports every bad override, one a line: unknown
  /// key (with a suggestion), compiled-in key (with its value), wrong type, out of range.
  static absl::StatusOr<RunTimeKeys> resolve(const abi::Step &step, absl::Span<const std::string> overrides);

  /// Of a key that takes one or more texts; empty if it is not set.
  std::vector<std::string> list(const std::string &key) const;
  /// Empty if the key is not set.
  std::string text(const std::string &key, const std::string &fallback) const;
  double number(const std::string &key, double fallback) const;
  int64_t integer(const std::string &key, int64_t fallback) const;
  bool boolean(const std::string &key, bool fallback) const;

  /// rcp_step_params_v1.run_values.
  const std::array<double, RCP_RUN_VALUES> &runValues() const { return values; }

private:
  void store(const abi::RunTimeKey &key, const std::string &text, double value);

  std::map<std::string, std::string> texts;
  std::array<double, RCP_RUN_VALUES> values{};
};

/// The texts that `text` stands for: itself, or what the list says that it is, as JSON or as bare words. Refuses a list
/// that is not closed, is empty or has an empty element.
absl::StatusOr<std::vector<std::string>> parseList(const std::string &text);

/// The number of updates after which a run of `wanted` updates ends; -1: of as many as the schedule has. Refuses more
/// than that, and a schedule that ends before its warm-up does.
absl::StatusOr<int64_t> lastUpdate(const RunTimeKeys &keys, int64_t wanted);

/// Refuses what a recipe may not say either: when or how long to evaluate, and nothing to evaluate on.
absl::Status checkEvaluationKeys(const RunTimeKeys &keys);

} // namespace recipe::rt
#endif
