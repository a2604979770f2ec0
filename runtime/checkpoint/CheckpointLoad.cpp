#include "runtime/checkpoint/CheckpointLoad.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/File.h"
#include "runtime/base/InputFile.h"
#include "runtime/base/Sha256.h"
#include <algorithm>
#include <set>

using namespace recipe::rt;

static const size_t blockBytes = 1 << 20;

absl::StatusOr<CheckpointManifest> recipe::rt::readManifest(const std::string &path) {
  std::string name = absl::StrCat(path, "/", ManifestFileName);
  RCP_ASSIGN_OR_RETURN(std::string text, readFile(name));
  absl::StatusOr<CheckpointManifest> manifest = decodeManifest(text);
  if (!manifest.ok())
    return absl::Status(manifest.status().code(), absl::StrCat(name, ": ", manifest.status().message()));
  return manifest;
}

/// The file, if it has the length that the manifest states.
static absl::StatusOr<InputFile> openStated(const std::string &path, const CheckpointFile &stated) {
  RCP_ASSIGN_OR_RETURN(InputFile file, InputFile::open(path));
  if (file.bytes() != stated.bytes)
    return absl::DataLossError(
        absl::StrCat(path, ": damaged or changed, it must have ", stated.bytes, " bytes, got ", file.bytes()));
  return file;
}

static absl::Status checkHash(const std::string &path, const CheckpointFile &stated, Sha256 &hash) {
  std::string found = toHex(hash.finish());
  if (found != stated.sha256)
    return absl::DataLossError(
        absl::StrCat(path, ": damaged or changed, its SHA-256 must be ", stated.sha256, ", got ", found));
  return absl::OkStatus();
}

static absl::Status hashRange(const InputFile &file, uint64_t begin, uint64_t end, Sha256 &hash) {
  std::vector<uint8_t> block(size_t(std::min<uint64_t>(blockBytes, end - begin)));
  for (uint64_t at = begin; at < end; at += block.size()) {
    size_t bytes = size_t(std::min<uint64_t>(block.size(), end - at));
    RCP_RETURN_IF_ERROR(file.read(at, block.data(), bytes));
    hash.update(block.data(), bytes);
  }
  return absl::OkStatus();
}

static absl::Status verifyBytes(const std::string &path, const CheckpointFile &stated, const InputFile &file) {
  Sha256 hash;
  RCP_RETURN_IF_ERROR(hashRange(file, 0, file.bytes(), hash));
  return checkHash(path, stated, hash);
}

namespace {

struct OpenedFile {
  std::string path;
  const CheckpointFile &stated;
  InputFile bytes;
  absl::StatusOr<SafetensorsFile> tensors; // believed after the bytes
};

} // namespace

absl::Status recipe::rt::verifyCheckpoint(const std::string &path, const CheckpointManifest &manifest) {
  // All at once: what a run removes while it is read is there until the end.
  std::vector<OpenedFile> files;
  for (const CheckpointFile &stated : manifest.files) {
    std::string name = absl::StrCat(path, "/", stated.name);
    RCP_ASSIGN_OR_RETURN(InputFile bytes, openStated(name, stated));
    files.push_back({name, stated, std::move(bytes), readSafetensors(name)});
  }
  for (const OpenedFile &file : files) {
    RCP_RETURN_IF_ERROR(verifyBytes(file.path, file.stated, file.bytes));
    RCP_RETURN_IF_ERROR(file.tensors.status());
  }
  return absl::OkStatus();
}

/// What differs between the tensors of the file and those of the step, a line each.
static absl::Status compareTensors(const std::string &path, const SafetensorsFile &file, const StateFile &state) {
  std::vector<std::string> problems;
  std::set<std::string> wanted;
  for (const TensorView &tensor : state.tensors) {
    wanted.insert(tensor.name);
    const TensorView *found = file.find(tensor.name);
    auto describe = [](const TensorView &view) {
      return absl::StrCat(view.dtype, " [", absl::StrJoin(view.shape, ", "), "]");
    };
    if (!found)
      problems.push_back(absl::StrCat(path, ": no tensor '", tensor.name, "', which the step has"));
    else if (describe(*found) != describe(tensor))
      problems.push_back(absl::StrCat(path, ": tensor '", tensor.name, "' must be the step's ", describe(tensor),
                                      ", got ", describe(*found)));
  }
  for (const TensorView &tensor : file.tensors())
    if (!wanted.count(tensor.name))
      problems.push_back(absl::StrCat(path, ": tensor '", tensor.name, "' is none of the step's"));
  return problems.empty() ? absl::OkStatus() : absl::InvalidArgumentError(absl::StrJoin(problems, "\n"));
}

static absl::Status readPiece(InputFile &file, uint64_t &at, const void *memory, uint64_t bytes, Sha256 &hash) {
  // The state's views are of memory that checkpointState() got for writing.
  auto *to = static_cast<uint8_t *>(const_cast<void *>(memory)); // NOLINT(cppcoreguidelines-pro-type-const-cast)
  for (uint64_t done = 0; done < bytes; done += blockBytes) {
    size_t size = size_t(std::min<uint64_t>(blockBytes, bytes - done));
    RCP_RETURN_IF_ERROR(file.read(at, to + done, size));
    hash.update(to + done, size);
    at += size;
  }
  return absl::OkStatus();
}

/// Tensors fill a file from the end of its header to its end, in order.
static absl::Status loadTensors(const std::string &path, const CheckpointFile &stated, const SafetensorsFile &names,
                                const StateFile &state) {
  std::map<std::string, const TensorView *> targets;
  for (const TensorView &tensor : state.tensors)
    targets[tensor.name] = &tensor;
  uint64_t begin = stated.bytes;
  for (const TensorView &tensor : names.tensors())
    begin -= tensorBytes(tensor).value();
  RCP_ASSIGN_OR_RETURN(InputFile file, openStated(path, stated));
  Sha256 hash;
  RCP_RETURN_IF_ERROR(hashRange(file, 0, begin, hash));
  for (const TensorView &tensor : names.tensors()) {
    const TensorView &target = *targets.at(tensor.name);
    if (target.pieces.empty())
      RCP_RETURN_IF_ERROR(readPiece(file, begin, target.data, tensorBytes(tensor).value(), hash));
    for (const TensorPiece &piece : target.pieces)
      RCP_RETURN_IF_ERROR(readPiece(file, begin, piece.data, piece.bytes, hash));
  }
  return checkHash(path, stated, hash);
}

static absl::Status loadFile(const std::string &path, const CheckpointFile &stated, const StateFile &state) {
  RCP_ASSIGN_OR_RETURN(InputFile bytes, openStated(path, stated));
  absl::StatusOr<SafetensorsFile> names = readSafetensors(path);
  absl::Status status = names.ok() ? compareTensors(path, *names, state) : names.status();
  if (status.ok())
    return loadTensors(path, stated, *names, state);
  // Damage explains the rest.
  RCP_RETURN_IF_ERROR(verifyBytes(path, stated, bytes));
  return status;
}

absl::Status recipe::rt::loadCheckpoint(const std::string &path, const CheckpointManifest &manifest,
                                        const std::vector<StateFile> &state) {
  for (const StateFile &file : state) {
    auto stated = std::find_if(manifest.files.begin(), manifest.files.end(),
                               [&](const CheckpointFile &candidate) { return candidate.name == file.name; });
    if (stated == manifest.files.end())
      return absl::InvalidArgumentError(absl::StrCat(path, ": the checkpoint must have a file '", file.name, "'"));
    RCP_RETURN_IF_ERROR(loadFile(absl::StrCat(path, "/", file.name), *stated, file));
  }
  return absl::OkStatus();
}
