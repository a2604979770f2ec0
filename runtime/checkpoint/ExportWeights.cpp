#include "runtime/checkpoint/ExportWeights.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/AtomicFile.h"
#include "runtime/base/DiskSpace.h"
#include "runtime/base/File.h"
#include "runtime/base/MappedFile.h"
#include "runtime/base/Sha256.h"
#include "runtime/checkpoint/BoundedJson.h"
#include "runtime/checkpoint/CheckpointState.h"
#include <algorithm>
#include <filesystem>

using namespace recipe::rt;
using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

absl::StatusOr<std::string> recipe::rt::exportedConfig(const std::string &modelConfig, const std::string &modelType) {
  Json config = parseBoundedJson(modelConfig);
  if (!config.is_object())
    return absl::InvalidArgumentError("the model's configuration must be a JSON object");
  config["model_type"] = modelType;
  // What files were published in before has no bearing on ours. Newer releases call the key dtype.
  config.erase("dtype");
  config["torch_dtype"] = "float32";
  return config.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// Copies in one pass: what is written is what was hashed.
static absl::Status copyVerified(const std::string &from, const CheckpointFile &expected, const std::string &to) {
  RCP_ASSIGN_OR_RETURN(MappedFile source, MappedFile::open(from));
  RCP_ASSIGN_OR_RETURN(AtomicFile target, AtomicFile::create(to));
  Sha256 hash;
  absl::Span<const uint8_t> rest = source.bytes();
  while (!rest.empty()) {
    absl::Span<const uint8_t> block = rest.subspan(0, std::min<size_t>(rest.size(), 1 << 20));
    hash.update(block.data(), block.size());
    RCP_RETURN_IF_ERROR(target.append(block.data(), block.size()));
    rest.remove_prefix(block.size());
  }
  std::string found = toHex(hash.finish());
  if (found != expected.sha256)
    return absl::DataLossError(
        absl::StrCat(from, ": damaged or changed, its SHA-256 must be ", expected.sha256, ", got ", found));
  return target.commit();
}

static absl::Status refuseContents(const std::string &folder) {
  std::error_code error;
  fs::file_status status = fs::status(folder, error);
  if (!fs::exists(status))
    return absl::OkStatus();
  if (!fs::is_directory(status))
    return absl::InvalidArgumentError(absl::StrCat(folder, ": must be a new folder, found something else"));
  bool empty = fs::is_empty(folder, error);
  if (error)
    return absl::InvalidArgumentError(absl::StrCat(folder, ": the folder cannot be read: ", error.message()));
  return empty ? absl::OkStatus()
               : absl::InvalidArgumentError(absl::StrCat(folder, ": must be a new or an empty folder, found files"));
}

static std::string parentOf(const std::string &path) {
  fs::path parent = fs::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

namespace {

/// A new folder under a temporary name, which goes with its contents unless it is renamed.
class Draft {
public:
  explicit Draft(const std::string &name) : name(name), path(name + ".partial") {}
  ~Draft() {
    std::error_code ignored;
    if (mine)
      fs::remove_all(path, ignored);
  }
  Draft(const Draft &) = delete;
  Draft &operator=(const Draft &) = delete;

  absl::Status create() {
    std::error_code error;
    mine = fs::create_directory(path, error);
    if (error)
      return absl::InvalidArgumentError(absl::StrCat(name, ": cannot be created: ", error.message()));
    return mine
               ? absl::OkStatus()
               : absl::InvalidArgumentError(absl::StrCat(path, ": must not exist; if an export was killed, remove it"));
  }

  const std::string &folder() const { return path; }

  absl::Status keep() {
    std::error_code error;
    fs::rename(path, name, error); // over an empty folder, too
    if (error)
      return absl::InvalidArgumentError(absl::StrCat(name, ": cannot be created: ", error.message()));
    mine = false;
    return absl::OkStatus();
  }

private:
  std::string name, path;
  bool mine = false;
};

} // namespace

absl::Status recipe::rt::exportWeights(const std::string &checkpoint, const CheckpointManifest &manifest,
                                       const std::string &name) {
  std::string folder = name;
  while (folder.size() > 1 && folder.back() == '/')
    folder.pop_back();
  RCP_RETURN_IF_ERROR(refuseContents(folder));
  auto weights = std::find_if(manifest.files.begin(), manifest.files.end(),
                              [](const CheckpointFile &file) { return file.name == WeightsFileName; });
  if (weights == manifest.files.end())
    return absl::InvalidArgumentError(absl::StrCat(checkpoint, ": must have the file ", WeightsFileName));
  absl::StatusOr<std::string> config = exportedConfig(manifest.modelConfig, manifest.modelType);
  if (!config.ok())
    return absl::Status(config.status().code(), absl::StrCat(checkpoint, ": ", config.status().message()));
  Draft draft(folder);
  RCP_RETURN_IF_ERROR(draft.create());
  RCP_RETURN_IF_ERROR(checkDiskSpace(folder, draft.folder(), weights->bytes + config->size()));
  RCP_RETURN_IF_ERROR(copyVerified(absl::StrCat(checkpoint, "/", WeightsFileName), *weights,
                                   absl::StrCat(draft.folder(), "/", WeightsFileName)));
  RCP_RETURN_IF_ERROR(writeFileAtomically(draft.folder() + "/config.json", config->data(), config->size()));
  RCP_RETURN_IF_ERROR(draft.keep());
  return syncFolder(parentOf(folder));
}
