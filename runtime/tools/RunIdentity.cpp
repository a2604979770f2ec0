#include "runtime/tools/RunIdentity.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "runtime/checkpoint/CheckpointDiff.h"
#include <charconv>
#include <set>

using namespace recipe::rt;
using recipe::abi::RunTimeKey;

/// Not a recipe key, but the product of some: samples per update.
static const char *const globalBatchName = "global_batch";
static const char *const dataName = "data.sha256";
static const char *const productsName = "precision.f32_products";

/// Whether the recipe key has a say in the bits, given equal model, data and global batch.
static bool shapesTraining(const std::string &key) {
  static const std::set<std::string> single = {"data.seq_length", "data.shuffle", "data.eval_fraction",
                                               "experiment.seed", "model.precision"};
  // A way to split the global batch, which changes no bit.
  if (key == "optim.grad_accum_steps")
    return false;
  return single.count(key) || absl::StartsWith(key, "optim.") || absl::StartsWith(key, "numerics.") ||
         key == "precision.keep_fp32" || key == productsName; // precision.compute is model.precision
}

std::string recipe::rt::canonicalValue(RunTimeKey::Kind kind, const std::string &text) {
  double number;
  if (kind != RunTimeKey::NUMBER || !absl::SimpleAtod(text, &number))
    return text;
  char digits[40];
  return std::string(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

CheckpointManifest recipe::rt::describeRun(const abi::Step &step, const RunTimeKeys &keys,
                                           const std::string &dataHash) {
  const abi::Manifest &m = step.manifest();
  CheckpointManifest run;
  run.modelType = m.model_type();
  run.modelConfig = m.model_config().empty() ? "{}" : m.model_config();
  run.parameters = m.parameter_count();
  for (const abi::ResolvedRecipe::Entry &entry : step.recipe().entries())
    if (shapesTraining(entry.key()) && !entry.run_time())
      run.settings[entry.key()] = entry.value();
  for (const RunTimeKey &key : step.run_time_keys())
    if (std::string value = keys.text(key.key(), ""); shapesTraining(key.key()) && !value.empty())
      run.settings[key.key()] = canonicalValue(key.kind(), value);
  run.numerics = numericsOf(m);
  run.settings[globalBatchName] = absl::StrCat(m.global_batch());
  run.settings[dataName] = dataHash;
  return run;
}

/// Settings and model. Nothing held out and not set are the same; so are products by fma and those of a step that knows
/// no others.
static CheckpointManifest withoutDefaults(CheckpointManifest run) {
  run.numerics = {};
  auto fraction = run.settings.find("data.eval_fraction");
  double value;
  if (fraction != run.settings.end() && absl::SimpleAtod(fraction->second, &value) && value == 0)
    run.settings.erase(fraction);
  run.settings.emplace(productsName, "fma");
  return run;
}

RunDifferences recipe::rt::compareRuns(const CheckpointManifest &checkpoint, const CheckpointManifest &now) {
  RunDifferences differences;
  for (const Difference &one : compareManifests(withoutDefaults(checkpoint), withoutDefaults(now))) {
    // Samples are counted in windows of seq_length, updates in global batches. Weights are fp32 in every precision.
    bool fatal = (absl::StartsWith(one.name, "model.") && one.name != "model.precision") ||
                 one.name == globalBatchName || one.name == "data.seq_length";
    (fatal ? differences.fatal : differences.deliberate)
        .push_back(absl::StrCat(one.name, ": ", one.first, " in the checkpoint, ", one.second, " now"));
  }
  differences.bits = compareNumerics(checkpoint.numerics, now.numerics);
  return differences;
}
