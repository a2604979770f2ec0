#include "runtime/base/AtomicFile.h"
#include "runtime/checkpoint/Safetensors.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

namespace recipe::rt {

// `text` as a JSON string. JSON has no way to say bytes that are not UTF-8.
static absl::StatusOr<std::string> quote(const std::string &text) {
  using nlohmann::json;
  std::string quoted = json(text).dump(-1, ' ', false, json::error_handler_t::replace);
  json back = json::parse(quoted, nullptr, false);
  if (!back.is_string() || back.get_ref<const std::string &>() != text)
    return absl::InvalidArgumentError(absl::StrCat("names and metadata must be UTF-8, got ", quoted));
  return quoted;
}

static absl::StatusOr<std::string> makeHeader(const std::vector<TensorView> &tensors,
                                              const std::map<std::string, std::string> &metadata) {
  std::vector<std::string> entries;
  if (!metadata.empty()) {
    std::vector<std::string> texts;
    for (const auto &[key, value] : metadata) {
      RCP_ASSIGN_OR_RETURN(std::string quotedKey, quote(key));
      RCP_ASSIGN_OR_RETURN(std::string quotedValue, quote(value));
      texts.push_back(absl::StrCat(quotedKey, ":", quotedValue));
    }
    entries.push_back(absl::StrCat("\"__metadata__\":{", absl::StrJoin(texts, ","), "}"));
  }
  std::set<std::string> names;
  uint64_t begin = 0;
  for (const TensorView &tensor : tensors) {
    if (tensor.name == "__metadata__" || !names.insert(tensor.name).second)
      return absl::InvalidArgumentError(
          absl::StrCat("tensor names must be distinct and not \"__metadata__\", got \"", tensor.name, "\""));
    RCP_ASSIGN_OR_RETURN(std::string name, quote(tensor.name));
    RCP_ASSIGN_OR_RETURN(uint64_t bytes, tensorBytes(tensor));
    uint64_t inPieces = 0;
    for (const TensorPiece &piece : tensor.pieces)
      inPieces += piece.bytes;
    if (!tensor.pieces.empty() && inPieces != bytes)
      return absl::InvalidArgumentError(
          absl::StrCat("the pieces of \"", tensor.name, "\" must have ", bytes, " bytes, got ", inPieces));
    entries.push_back(absl::StrCat(name, ":{\"dtype\":\"", tensor.dtype, "\",\"shape\":[",
                                   absl::StrJoin(tensor.shape, ","), "],\"data_offsets\":[", begin, ",", begin + bytes,
                                   "]}"));
    begin += bytes;
  }
  std::string header = absl::StrCat("{", absl::StrJoin(entries, ","), "}");
  header.resize((header.size() + 7) / 8 * 8, ' ');
  return header;
}

absl::Status writeSafetensors(const std::string &path, const std::vector<TensorView> &tensors,
                              const std::map<std::string, std::string> &metadata) {
  absl::StatusOr<std::string> header = makeHeader(tensors, metadata);
  if (!header.ok())
    return absl::Status(header.status().code(), absl::StrCat(path, ": ", header.status().message()));
  RCP_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::create(path));
  uint64_t length = header->size();
  RCP_RETURN_IF_ERROR(file.append(&length, sizeof(length)));
  RCP_RETURN_IF_ERROR(file.append(header->data(), header->size()));
  for (const TensorView &tensor : tensors) {
    if (tensor.pieces.empty())
      RCP_RETURN_IF_ERROR(file.append(tensor.data, tensorBytes(tensor).value()));
    for (const TensorPiece &piece : tensor.pieces)
      RCP_RETURN_IF_ERROR(file.append(piece.data, piece.bytes));
  }
  return file.commit();
}

} // namespace recipe::rt
