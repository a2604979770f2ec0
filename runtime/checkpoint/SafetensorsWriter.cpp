#include "runtime/checkpoint/SafetensorsWriter.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

namespace recipe::rt {

// What is handed to the file at once.
static constexpr size_t BlockBytes = size_t(1) << 20;

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

absl::StatusOr<uint64_t> safetensorsBytes(const std::vector<TensorView> &tensors,
                                          const std::map<std::string, std::string> &metadata) {
  RCP_ASSIGN_OR_RETURN(std::string header, makeHeader(tensors, metadata));
  uint64_t bytes = sizeof(uint64_t) + header.size();
  for (const TensorView &tensor : tensors)
    bytes += tensorBytes(tensor).value();
  return bytes;
}

SafetensorsWriter::SafetensorsWriter(AtomicFile file, std::string header, std::vector<TensorView> tensors)
    : file(std::move(file)), header(std::move(header)), tensors(std::move(tensors)), total(this->header.size()) {
  for (const TensorView &tensor : this->tensors)
    total += tensorBytes(tensor).value();
}

absl::StatusOr<SafetensorsWriter> SafetensorsWriter::create(const std::string &path, std::vector<TensorView> tensors,
                                                            const std::map<std::string, std::string> &metadata) {
  absl::StatusOr<std::string> header = makeHeader(tensors, metadata);
  if (!header.ok())
    return absl::Status(header.status().code(), absl::StrCat(path, ": ", header.status().message()));
  RCP_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::create(path));
  uint64_t length = header->size();
  header->insert(0, reinterpret_cast<const char *>(&length), sizeof(length));
  return SafetensorsWriter(std::move(file), *std::move(header), std::move(tensors));
}

absl::Status SafetensorsWriter::flush() {
  hash.update(block.data(), block.size());
  absl::Status status = file.append(block.data(), block.size());
  block.clear();
  return status;
}

absl::Status SafetensorsWriter::append(const void *data, uint64_t bytes) {
  const auto *next = static_cast<const uint8_t *>(data);
  while (bytes > 0) {
    uint64_t size = std::min<uint64_t>(bytes, block.capacity() - block.size());
    block.insert(block.end(), next, next + size);
    next += size;
    bytes -= size;
    if (block.size() == block.capacity())
      RCP_RETURN_IF_ERROR(flush());
  }
  return absl::OkStatus();
}

absl::Status SafetensorsWriter::write() {
  block.reserve(BlockBytes);
  RCP_RETURN_IF_ERROR(append(header.data(), header.size()));
  for (const TensorView &tensor : tensors) {
    if (tensor.pieces.empty())
      RCP_RETURN_IF_ERROR(append(tensor.data, tensorBytes(tensor).value()));
    for (const TensorPiece &piece : tensor.pieces)
      RCP_RETURN_IF_ERROR(append(piece.data, piece.bytes));
  }
  return flush();
}

absl::StatusOr<Sha256Digest> SafetensorsWriter::commit() {
  RCP_RETURN_IF_ERROR(file.commit());
  return hash.finish();
}

absl::Status writeSafetensors(const std::string &path, const std::vector<TensorView> &tensors,
                              const std::map<std::string, std::string> &metadata) {
  RCP_ASSIGN_OR_RETURN(SafetensorsWriter writer, SafetensorsWriter::create(path, tensors, metadata));
  RCP_RETURN_IF_ERROR(writer.write());
  return writer.commit().status();
}

} // namespace recipe::rt
