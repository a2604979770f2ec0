#include "runtime/checkpoint/CheckpointDiff.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "runtime/checkpoint/BoundedJson.h"
#include "runtime/checkpoint/Safetensors.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

using namespace recipe::rt;

/// The leaves of a JSON object by their dotted path, as JSON.
static void addLeaves(const std::string &prefix, const std::string &text, std::map<std::string, std::string> &out) {
  nlohmann::ordered_json json = parseBoundedJson(text);
  if (!json.is_object() || json.empty())
    return;
  nlohmann::ordered_json flat = json.flatten();
  for (const auto &[path, value] : flat.items()) {
    std::string name = prefix + path.substr(1);
    std::replace(name.begin(), name.end(), '/', '.');
    out[name] = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
}

static std::map<std::string, std::string> valuesOf(const CheckpointManifest &manifest) {
  std::map<std::string, std::string> values = manifest.settings;
  values["model.type"] = manifest.modelType;
  values["model.parameters"] = absl::StrCat(manifest.parameters);
  values["numerics"] = describeNumerics(manifest.numerics);
  addLeaves("model.config.", manifest.modelConfig, values);
  return values;
}

std::vector<Difference> recipe::rt::compareManifests(const CheckpointManifest &first,
                                                     const CheckpointManifest &second) {
  std::map<std::string, Difference> all;
  for (const auto &[name, value] : valuesOf(first))
    all[name] = {name, value, "not set"};
  for (const auto &[name, value] : valuesOf(second)) {
    auto [found, isNew] = all.emplace(name, Difference{name, "not set", value});
    if (!isNew)
      found->second.second = value;
  }
  std::vector<Difference> differences;
  for (auto &[name, difference] : all)
    if (difference.first != difference.second)
      differences.push_back(std::move(difference));
  return differences;
}

static std::string shapeOf(const TensorView &tensor) {
  return absl::StrCat(tensor.dtype, " [", absl::StrJoin(tensor.shape, ", "), "]");
}

/// How far two F32 tensors are apart; "" if their bits are equal.
static std::string compareValues(const TensorView &first, const TensorView &second, uint64_t bytes) {
  if (std::memcmp(first.data, second.data, bytes) == 0)
    return "";
  if (first.dtype != "F32")
    return "other bytes";
  uint64_t count = bytes / 4, differing = 0;
  double largest = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const char *p = static_cast<const char *>(first.data) + 4 * i, *q = static_cast<const char *>(second.data) + 4 * i;
    float a, b;
    std::memcpy(&a, p, 4);
    std::memcpy(&b, q, 4);
    if (std::memcmp(p, q, 4) == 0)
      continue;
    ++differing;
    double distance = std::fabs(double(a) - double(b));
    largest = distance > largest || std::isnan(distance) ? distance : largest;
  }
  return absl::StrFormat("%d of %d values differ, by at most %.3g", differing, count, largest);
}

absl::StatusOr<std::vector<std::string>> recipe::rt::compareTensorFiles(const std::string &first,
                                                                        const std::string &second) {
  RCP_ASSIGN_OR_RETURN(SafetensorsFile a, readSafetensors(first));
  RCP_ASSIGN_OR_RETURN(SafetensorsFile b, readSafetensors(second));
  std::vector<std::string> lines;
  for (const TensorView &tensor : a.tensors()) {
    const TensorView *other = b.find(tensor.name);
    std::string text;
    if (!other)
      text = "only in the first";
    else if (shapeOf(tensor) != shapeOf(*other))
      text = absl::StrCat(shapeOf(tensor), " and ", shapeOf(*other));
    else
      text = compareValues(tensor, *other, tensorBytes(tensor).value());
    if (!text.empty())
      lines.push_back(absl::StrCat(tensor.name, ": ", text));
  }
  for (const TensorView &tensor : b.tensors())
    if (!a.find(tensor.name))
      lines.push_back(absl::StrCat(tensor.name, ": only in the second"));
  return lines;
}
