#include "runtime/checkpoint/Safetensors.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

namespace recipe::rt {

using nlohmann::json;

namespace {

// The longest header that other readers of the format accept.
constexpr uint64_t MaxHeaderBytes = 100'000'000;

struct Placed {
  TensorView view;
  uint64_t begin;
  uint64_t end;
};

struct Header {
  std::vector<Placed> tensors;
  std::map<std::string, std::string> texts;
};

} // namespace

// A JSON parser keeps the last of two equal keys and drops the other without a word, so they are looked for here.
static absl::StatusOr<json> parseHeader(absl::Span<const uint8_t> text) {
  std::vector<std::set<std::string>> keys;
  std::string repeated;
  bool isRepeated = false;
  auto watch = [&](int, json::parse_event_t event, json &parsed) {
    if (event == json::parse_event_t::object_start)
      keys.emplace_back();
    else if (event == json::parse_event_t::object_end)
      keys.pop_back();
    else if (event == json::parse_event_t::key && !keys.back().insert(parsed.get_ref<const std::string &>()).second &&
             !isRepeated) {
      isRepeated = true;
      repeated = parsed.get_ref<const std::string &>();
    }
    return true;
  };
  // The format demands the brace at once; JSON would allow space before it.
  json header = json::parse(text.begin(), text.end(), watch, /*allow_exceptions=*/false);
  if (header.is_discarded() || !header.is_object() || text[0] != '{')
    return absl::InvalidArgumentError("the header must be one JSON object");
  if (isRepeated)
    return absl::InvalidArgumentError(absl::StrCat("the header names \"", repeated, "\" twice"));
  return header;
}

// An array of whole numbers from 0 to 2^63-1.
static bool readNumbers(const json &value, std::vector<int64_t> &numbers) {
  if (!value.is_array())
    return false;
  for (const json &number : value) {
    if (!number.is_number_unsigned() || number.get<uint64_t>() > INT64_MAX)
      return false;
    numbers.push_back(static_cast<int64_t>(number.get<uint64_t>()));
  }
  return true;
}

static absl::StatusOr<Placed> readEntry(const std::string &name, const json &entry) {
  Placed placed{{name, "", {}, nullptr, {}}, 0, 0};
  auto wrong = [&](const char *rule) {
    return absl::InvalidArgumentError(absl::StrCat("tensor \"", name, "\": ", rule));
  };
  if (!entry.is_object() || entry.size() != 3 || !entry.contains("dtype") || !entry.contains("shape") ||
      !entry.contains("data_offsets"))
    return wrong("must be described by dtype, shape and data_offsets");
  const json &dtype = *entry.find("dtype");
  if (!dtype.is_string())
    return wrong("dtype must be a string");
  placed.view.dtype = dtype.get_ref<const std::string &>();
  if (!readNumbers(*entry.find("shape"), placed.view.shape))
    return wrong("shape must be an array of whole numbers");
  std::vector<int64_t> offsets;
  if (!readNumbers(*entry.find("data_offsets"), offsets) || offsets.size() != 2)
    return wrong("data_offsets must be two whole numbers");
  placed.begin = static_cast<uint64_t>(offsets[0]);
  placed.end = static_cast<uint64_t>(offsets[1]);
  RCP_ASSIGN_OR_RETURN(uint64_t bytes, tensorBytes(placed.view));
  if (placed.begin > placed.end || placed.end - placed.begin != bytes)
    return absl::InvalidArgumentError(absl::StrCat("tensor \"", name, "\": ", placed.view.dtype, " [",
                                                   absl::StrJoin(placed.view.shape, ", "), "] takes ", bytes,
                                                   " bytes, got data_offsets ", placed.begin, " and ", placed.end));
  return placed;
}

static absl::StatusOr<Header> readHeader(absl::Span<const uint8_t> text) {
  RCP_ASSIGN_OR_RETURN(json parsed, parseHeader(text));
  Header header;
  for (const auto &[name, entry] : parsed.items()) {
    if (name != "__metadata__") {
      RCP_ASSIGN_OR_RETURN(Placed placed, readEntry(name, entry));
      header.tensors.push_back(std::move(placed));
      continue;
    }
    if (!entry.is_object())
      return absl::InvalidArgumentError("__metadata__ must map strings to strings");
    for (const auto &[key, value] : entry.items()) {
      if (!value.is_string())
        return absl::InvalidArgumentError(
            absl::StrCat("__metadata__ must map strings to strings, got something else for \"", key, "\""));
      header.texts.emplace(key, value.get_ref<const std::string &>());
    }
  }
  // Empty tensors share their place with the next one, so the place alone is no order.
  std::sort(header.tensors.begin(), header.tensors.end(), [](const Placed &a, const Placed &b) {
    return std::tie(a.begin, a.end, a.view.name) < std::tie(b.begin, b.end, b.view.name);
  });
  return header;
}

// Tensors in ascending order must fill the `size` bytes that follow the header.
static absl::Status checkPlaces(const std::vector<Placed> &tensors, uint64_t size) {
  uint64_t end = 0;
  for (const Placed &tensor : tensors) {
    if (tensor.begin != end)
      return absl::InvalidArgumentError(absl::StrCat("tensor \"", tensor.view.name, "\": must begin at byte ", end,
                                                     ", where the one before ends, got ", tensor.begin));
    end = tensor.end;
  }
  if (end > size)
    return absl::DataLossError(
        absl::StrCat("truncated, the header announces ", end, " bytes of tensors, found ", size));
  if (end < size)
    return absl::DataLossError(
        absl::StrCat("bytes follow the last tensor, the header announces ", end, " bytes of tensors, found ", size));
  return absl::OkStatus();
}

static absl::StatusOr<Header> readAll(absl::Span<const uint8_t> file) {
  uint64_t length = 0;
  if (file.size() < sizeof(length))
    return absl::DataLossError(
        absl::StrCat("not a safetensors file, it must have at least 8 bytes, found ", file.size()));
  std::memcpy(&length, file.data(), sizeof(length));
  uint64_t rest = file.size() - sizeof(length);
  if (length == 0 || length > MaxHeaderBytes)
    return absl::InvalidArgumentError(
        absl::StrCat("not a safetensors file, its header must have 1..", MaxHeaderBytes, " bytes, got ", length));
  if (length > rest)
    return absl::DataLossError(
        absl::StrCat("truncated, the header takes ", length, " bytes after the first 8, found ", rest));
  RCP_ASSIGN_OR_RETURN(Header header, readHeader(file.subspan(sizeof(length), length)));
  absl::Span<const uint8_t> data = file.subspan(sizeof(length) + length);
  RCP_RETURN_IF_ERROR(checkPlaces(header.tensors, data.size()));
  for (Placed &tensor : header.tensors)
    tensor.view.data = data.data() + tensor.begin;
  return header;
}

SafetensorsFile::SafetensorsFile(MappedFile map, std::vector<TensorView> views,
                                 std::map<std::string, std::string> texts)
    : map(std::move(map)), views(std::move(views)), texts(std::move(texts)) {
  for (size_t i = 0; i < this->views.size(); ++i)
    byName.emplace(this->views[i].name, i);
}

const TensorView *SafetensorsFile::find(const std::string &name) const {
  auto found = byName.find(name);
  return found == byName.end() ? nullptr : &views[found->second];
}

absl::StatusOr<SafetensorsFile> readSafetensors(const std::string &path) {
  RCP_ASSIGN_OR_RETURN(MappedFile map, MappedFile::open(path));
  absl::StatusOr<Header> header = readAll(map.bytes());
  if (!header.ok())
    return absl::Status(header.status().code(), absl::StrCat(path, ": ", header.status().message()));
  std::vector<TensorView> views;
  for (Placed &tensor : header->tensors)
    views.push_back(std::move(tensor.view));
  return SafetensorsFile(std::move(map), std::move(views), std::move(header->texts));
}

} // namespace recipe::rt
