#include "runtime/loader/Loader.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/abi/Container.h"
#include "runtime/base/File.h"
#include "runtime/loader/CpuFeatures.h"
#include "runtime/loader/Validate.h"

using namespace recipe::rt;

static const char *const hostTriple = "x86_64-unknown-linux-gnu";

/// The first native object that this machine can run.
static absl::StatusOr<const recipe::abi::NativeObject *> chooseObject(const recipe::abi::Step &step) {
  std::vector<std::string> reasons;
  for (const recipe::abi::NativeObject &object : step.objects()) {
    if (object.triple() != hostTriple) {
      reasons.push_back(absl::StrCat("compiled for ", object.triple(), ", this machine is ", hostTriple));
      continue;
    }
    std::vector<std::string> missing = missingCpuFeatures({object.features().begin(), object.features().end()});
    if (missing.empty())
      return &object;
    bool tiles = std::any_of(missing.begin(), missing.end(),
                             [](const std::string &name) { return absl::StartsWith(name, "amx-"); });
    reasons.push_back(absl::StrCat(
        "compiled for ", object.cpu(), ", but this machine lacks ", absl::StrJoin(missing, ", "),
        tiles ? " or its kernel does not let this process use them" : "", "; compile again with target.arch: native"));
  }
  if (reasons.empty())
    return absl::InvalidArgumentError("the step has no native object");
  return absl::InvalidArgumentError(absl::StrJoin(reasons, "\n"));
}

static absl::StatusOr<std::unique_ptr<recipe::abi::Step>> parse(const std::string &bytes) {
  auto step = std::make_unique<recipe::abi::Step>();
  std::string error;
  if (!recipe::abi::parseStep(bytes.data(), bytes.size(), *step, error))
    return absl::InvalidArgumentError(error);
  return step;
}

static absl::StatusOr<LoadedStep> link(std::unique_ptr<recipe::abi::Step> step, const LoadOptions &options) {
  LoadedStep loaded;
  RCP_ASSIGN_OR_RETURN(loaded.plan, planRanks(*step, options.ranks));
  RCP_RETURN_IF_ERROR(validateStep(*step, loaded.plan));
  RCP_ASSIGN_OR_RETURN(loaded.keys, RunTimeKeys::resolve(*step, options.overrides));
  RCP_ASSIGN_OR_RETURN(const recipe::abi::NativeObject *object, chooseObject(*step));
  RCP_ASSIGN_OR_RETURN(loaded.library, NativeLibrary::load(object->data()));
  for (const recipe::abi::Kernel &kernel : step->kernels()) {
    RCP_ASSIGN_OR_RETURN(rcp_kernel_v1 code, loaded.library->kernel(kernel.symbol()));
    loaded.kernels.push_back(code);
  }
  // The code is mapped; a second copy of it would only take memory.
  step->clear_objects();
  step->clear_semantic();
  loaded.step = std::move(step);
  return loaded;
}

absl::StatusOr<LoadedStep> recipe::rt::loadStep(const std::string &bytes, const LoadOptions &options) {
  RCP_ASSIGN_OR_RETURN(std::unique_ptr<abi::Step> step, parse(bytes));
  return link(std::move(step), options);
}

/// All that can be checked without knowing where the step will run.
static absl::Status checkStep(const recipe::abi::Step &step) {
  int64_t previous = 0;
  for (int64_t ranks : step.manifest().legal_ranks()) {
    if (ranks <= previous)
      return absl::InvalidArgumentError(
          absl::StrCat("manifest: legal_ranks must be ascending from 1, got ", ranks, " after ", previous));
    previous = ranks;
    RCP_ASSIGN_OR_RETURN(RankPlan plan, planRanks(step, ranks));
    RCP_RETURN_IF_ERROR(validateStep(step, plan));
  }
  if (previous == 0)
    return absl::InvalidArgumentError("manifest: legal_ranks must not be empty");
  return RunTimeKeys::resolve(step, {}).status();
}

/// Puts the file in front of every line of the reason.
static absl::Status atPath(const std::string &path, const absl::Status &status) {
  std::string text = absl::StrCat(path, ": ");
  for (char c : std::string(status.message())) {
    text += c;
    if (c == '\n')
      absl::StrAppend(&text, path, ": ");
  }
  return absl::Status(status.code(), text);
}

static absl::StatusOr<std::unique_ptr<recipe::abi::Step>> parseFile(const std::string &path) {
  RCP_ASSIGN_OR_RETURN(std::string bytes, recipe::rt::readFile(path));
  absl::StatusOr<std::unique_ptr<recipe::abi::Step>> step = parse(bytes);
  if (!step.ok())
    return atPath(path, step.status());
  return step;
}

absl::StatusOr<std::unique_ptr<recipe::abi::Step>> recipe::rt::readStepFile(const std::string &path) {
  RCP_ASSIGN_OR_RETURN(std::unique_ptr<abi::Step> step, parseFile(path));
  if (absl::Status status = checkStep(*step); !status.ok())
    return atPath(path, status);
  return step;
}

absl::StatusOr<LoadedStep> recipe::rt::loadStepFile(const std::string &path, const LoadOptions &options) {
  RCP_ASSIGN_OR_RETURN(std::unique_ptr<abi::Step> step, parseFile(path));
  absl::StatusOr<LoadedStep> loaded = link(std::move(step), options);
  if (!loaded.ok())
    return atPath(path, loaded.status());
  return loaded;
}
