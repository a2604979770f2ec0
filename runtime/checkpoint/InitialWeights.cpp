#include "runtime/checkpoint/InitialWeights.h"
#include "absl/base/casts.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/checkpoint/BoundedJson.h"
#include "runtime/checkpoint/HuggingFace.h"
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

using namespace recipe::rt;
using Json = nlohmann::ordered_json;
using recipe::abi::Parameter;

static std::string shapeText(const std::vector<int64_t> &shape) {
  return absl::StrCat("[", absl::StrJoin(shape, ", "), "]");
}

/// The number with these bits of IEEE half precision. Exact: every half is a float.
static float fromHalf(uint16_t bits) {
  uint32_t sign = uint32_t(bits & 0x8000) << 16, exponent = (bits >> 10) & 31, fraction = bits & 1023;
  uint32_t out = 0;
  if (exponent == 31) {
    out = 0x7F800000 | fraction << 13;
  } else if (exponent != 0) {
    out = (exponent + 112) << 23 | fraction << 13;
  } else if (fraction != 0) {
    // Subnormal: its leading bit becomes the hidden one.
    uint32_t shift = uint32_t(__builtin_clz(fraction)) - 21;
    out = (113 - shift) << 23 | ((fraction << shift) & 1023) << 13;
  }
  return absl::bit_cast<float>(out | sign);
}

void recipe::rt::readElements(const TensorView &tensor, int64_t first, int64_t count, float *out) {
  const auto *bytes = static_cast<const std::byte *>(tensor.data);
  if (tensor.dtype == "F32") {
    std::memcpy(out, bytes + 4 * first, size_t(4 * count));
    return;
  }
  bool brain = tensor.dtype == "BF16";
  for (int64_t i = 0; i < count; ++i) {
    uint16_t bits;
    std::memcpy(&bits, bytes + 2 * (first + i), 2);
    out[i] = brain ? absl::bit_cast<float>(uint32_t(bits) << 16) : fromHalf(bits);
  }
}

/// The index of the first value that is an infinity or not a number; -1: there is none.
static int64_t firstNotFinite(const TensorView &tensor) {
  int64_t count = 1;
  for (int64_t extent : tensor.shape)
    count *= extent;
  std::array<float, 4096> block;
  for (int64_t first = 0; first < count; first += int64_t(block.size())) {
    int64_t size = std::min<int64_t>(count - first, block.size());
    readElements(tensor, first, size, block.data());
    auto bad = std::find_if(block.begin(), block.begin() + size, [](float value) { return !std::isfinite(value); });
    if (bad != block.begin() + size)
      return first + (bad - block.begin());
  }
  return -1;
}

namespace {

/// Compares a folder with what a step wants and collects what is wrong.
class Matcher {
public:
  Matcher(const recipe::abi::Step &step, const WeightFolder &folder)
      : step(step), files(step.weight_files()), folder(folder) {}

  std::map<std::string, WeightFolder::Tensor> match();
  std::vector<std::string> problems;

private:
  void checkConfig();
  void compare(const std::string &key, const Json &wanted, const Json &found);
  std::string nameInStep(const std::string &name) const;
  bool holdsNoWeights(const std::string &name) const;
  void checkTensor(const Parameter &parameter, const WeightFolder::Tensor &tensor);
  void checkTied(const recipe::abi::WeightFiles::Alias &alias, const WeightFolder::Tensor &tensor);
  void problem(const WeightFolder::Tensor &tensor, const std::string &text) {
    problems.push_back(absl::StrCat(*tensor.file, ": tensor \"", tensor.view->name, "\" ", text));
  }

  const recipe::abi::Step &step;
  const recipe::abi::WeightFiles &files;
  const WeightFolder &folder;
  std::map<std::string, const Parameter *> wanted; // by Hugging Face name
  std::map<std::string, WeightFolder::Tensor> found;
  bool bare = false; // names lack the base prefix
};

} // namespace

/// A file of the base model alone says "h.0.ln_1.weight" for "transformer.h.0.ln_1.weight".
std::string Matcher::nameInStep(const std::string &name) const {
  return bare && !wanted.count(name) ? files.base_prefix() + name : name;
}

bool Matcher::holdsNoWeights(const std::string &name) const {
  return std::any_of(files.not_weights().begin(), files.not_weights().end(),
                     [&](const std::string &ending) { return absl::EndsWith(name, ending); });
}

void Matcher::compare(const std::string &key, const Json &ours, const Json &theirs) {
  if (ours.is_null() || theirs.is_null() || ours == theirs)
    return;
  if (!ours.is_object() || !theirs.is_object()) {
    problems.push_back(absl::StrCat(folder.path(), "/config.json: '", key, "' must be as compiled in, ", ours.dump(),
                                    ", got ", theirs.dump(-1, ' ', false, Json::error_handler_t::replace)));
    return;
  }
  for (const auto &[inner, value] : ours.items())
    if (theirs.contains(inner))
      compare(absl::StrCat(key, ".", inner), value, theirs[inner]);
}

/// Keys that only one side gives are not compared: the other one has a default, and there are several spellings.
void Matcher::checkConfig() {
  if (!folder.config())
    return;
  Json theirs = parseBoundedJson(*folder.config());
  Json ours = parseBoundedJson(step.manifest().model_config());
  if (!theirs.is_object()) {
    problems.push_back(absl::StrCat(folder.path(), "/config.json: must be a JSON object"));
    return;
  }
  for (const std::string &key : files.meaning_keys())
    if (ours.is_object() && ours.contains(key) && theirs.contains(key))
      compare(key, ours[key], theirs[key]);
}

void Matcher::checkTensor(const Parameter &parameter, const WeightFolder::Tensor &tensor) {
  static const char *const readable[] = {"F32", "BF16", "F16"};
  const TensorView &view = *tensor.view;
  std::vector<int64_t> shape(parameter.hf_shape().begin(), parameter.hf_shape().end());
  if (view.shape != shape) {
    bool transposed = shape.size() == 2 && view.shape == std::vector<int64_t>{shape[1], shape[0]};
    problem(tensor, absl::StrCat("must have the shape ", shapeText(shape), ", got ", shapeText(view.shape),
                                 transposed ? ", which is transposed" : ""));
  }
  if (std::find(std::begin(readable), std::end(readable), view.dtype) == std::end(readable))
    problem(tensor, absl::StrCat("must be F32, BF16 or F16, got ", view.dtype));
  else if (int64_t index = firstNotFinite(view); index >= 0)
    problem(tensor, absl::StrCat("must have finite values, got another one at element ", index));
}

void Matcher::checkTied(const recipe::abi::WeightFiles::Alias &alias, const WeightFolder::Tensor &tensor) {
  auto target = found.find(alias.tensor());
  if (target == found.end())
    return; // named as missing
  const TensorView &a = *tensor.view, &b = *target->second.view;
  absl::StatusOr<uint64_t> bytes = tensorBytes(a);
  if (a.dtype != b.dtype || a.shape != b.shape || !bytes.ok() || std::memcmp(a.data, b.data, *bytes) != 0)
    problem(tensor, absl::StrCat("must equal \"", b.name, "\", to which the model ties it, got other values"));
}

std::map<std::string, WeightFolder::Tensor> Matcher::match() {
  checkConfig();
  for (const Parameter &parameter : step.parameters())
    wanted.emplace(parameter.hf_name(), &parameter);
  bare = !files.base_prefix().empty() &&
         std::none_of(folder.tensors().begin(), folder.tensors().end(),
                      [&](const auto &entry) { return absl::StartsWith(entry.first, files.base_prefix()); });
  std::map<std::string, WeightFolder::Tensor> others;
  for (const auto &[name, tensor] : folder.tensors()) {
    auto place = wanted.find(nameInStep(name));
    if (place == wanted.end()) {
      others.emplace(name, tensor);
      continue;
    }
    found.emplace(place->first, tensor);
    checkTensor(*place->second, tensor);
  }
  for (const auto &[name, parameter] : wanted)
    if (!found.count(name))
      problems.push_back(absl::StrCat(folder.path(), ": tensor \"", name, "\" is missing"));
  for (const auto &[name, tensor] : others) {
    auto alias = std::find_if(files.tied().begin(), files.tied().end(),
                              [&, &key = name](const auto &tied) { return tied.name() == key; });
    if (alias != files.tied().end())
      checkTied(*alias, tensor);
    else if (!holdsNoWeights(name))
      problem(tensor, "is not one of the model's");
  }
  return std::move(found);
}

absl::StatusOr<InitialWeights> InitialWeights::open(const abi::Step &step, const std::string &path) {
  // Parameters that share a tensor agree on its shape.
  RCP_RETURN_IF_ERROR(huggingFaceTensors(step, [](uint32_t) -> const std::byte * { return nullptr; }).status());
  RCP_ASSIGN_OR_RETURN(WeightFolder folder, WeightFolder::open(path));
  InitialWeights weights(std::move(folder));
  Matcher matcher(step, weights.folder);
  weights.sources = matcher.match();
  if (!matcher.problems.empty())
    return absl::InvalidArgumentError(absl::StrJoin(matcher.problems, "\n"));
  return weights;
}

void InitialWeights::read(const Parameter &parameter, float *out) const {
  const TensorView &tensor = *sources.at(parameter.hf_name()).view;
  int64_t elements = 1;
  for (int64_t extent : parameter.shape())
    elements *= extent;
  // The tensor as [outer, extent, inner]; the parameter is a run of the middle dimension.
  int64_t outer = 1, whole = elements, begin = 0;
  if (int dim = parameter.slice_dim(); dim >= 0) {
    int64_t inner = 1;
    for (int i = 0; i < parameter.hf_shape_size(); ++i)
      (i < dim ? outer : inner) *= i == dim ? 1 : parameter.hf_shape(i);
    whole = parameter.hf_shape(dim) * inner;
    begin = parameter.slice_offset() * inner;
  }
  int64_t run = elements / outer;
  for (int64_t row = 0; row < outer; ++row)
    readElements(tensor, row * whole + begin, run, out + row * run);
}

void InitialWeights::load(const abi::Step &step, const std::function<std::byte *(uint32_t)> &address) const {
  for (const Parameter &parameter : step.parameters())
    read(parameter, reinterpret_cast<float *>(address(parameter.buffer())));
}
