#include "runtime/checkpoint/CheckpointSave.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/DiskSpace.h"
#include "runtime/base/File.h"
#include "runtime/checkpoint/CheckpointFolder.h"
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>

using namespace recipe::rt;

/// More than a manifest takes, with the file system's own records.
static const uint64_t smallFilesBytes = 1 << 20;

absl::StatusOr<CheckpointSize> recipe::rt::checkpointSize(const std::vector<StateFile> &state) {
  CheckpointSize size;
  size.total = smallFilesBytes;
  for (const StateFile &file : state) {
    RCP_ASSIGN_OR_RETURN(uint64_t bytes, safetensorsBytes(file.tensors, file.metadata));
    size.total += bytes;
    size.longest = std::max(size.longest, bytes);
  }
  return size;
}

CheckpointSave::CheckpointSave(CheckpointRequest wanted) : request(std::move(wanted)) {
  finished = absl::StrCat(request.folder, "/", checkpointName(request.manifest.step));
  partial = finished + ".partial";
}

CheckpointSave::~CheckpointSave() {
  files.clear();
  std::error_code ignored;
  if (!partial.empty())
    std::filesystem::remove_all(partial, ignored);
}

absl::StatusOr<CheckpointSave> CheckpointSave::begin(CheckpointRequest request) {
  CheckpointSave save(std::move(request));
  RCP_ASSIGN_OR_RETURN(CheckpointSize size, checkpointSize(save.request.state));
  RCP_RETURN_IF_ERROR(checkFileSizeLimit(save.finished, size.longest));
  RCP_RETURN_IF_ERROR(makeFolders(save.request.folder));
  RCP_RETURN_IF_ERROR(checkDiskSpace(save.finished, save.request.folder, size.total));
  // What a killed run left under this name must not get into the checkpoint.
  RCP_RETURN_IF_ERROR(removeLeftovers(save.request.folder));
  RCP_RETURN_IF_ERROR(makeFolders(save.partial));
  RCP_RETURN_IF_ERROR(save.createFiles());
  return save;
}

absl::Status CheckpointSave::createFiles() {
  for (StateFile &file : request.state) {
    RCP_ASSIGN_OR_RETURN(SafetensorsWriter writer, SafetensorsWriter::create(absl::StrCat(partial, "/", file.name),
                                                                             std::move(file.tensors), file.metadata));
    files.push_back(std::move(writer));
  }
  return absl::OkStatus();
}

absl::Status CheckpointSave::readState() {
  for (SafetensorsWriter &file : files)
    RCP_RETURN_IF_ERROR(file.write());
  return absl::OkStatus();
}

absl::Status CheckpointSave::finish() {
  for (size_t i = 0; i < files.size(); ++i) {
    uint64_t bytes = files[i].bytes();
    RCP_ASSIGN_OR_RETURN(Sha256Digest digest, files[i].commit());
    request.manifest.files.push_back({request.state[i].name, bytes, toHex(digest)});
  }
  std::string manifest = encodeManifest(request.manifest);
  // It and the folder are durable after this, so that the name below never stands for less.
  RCP_RETURN_IF_ERROR(writeFileAtomically(partial + "/" + ManifestFileName, manifest.data(), manifest.size()));
  if (!request.log.empty())
    RCP_RETURN_IF_ERROR(syncFile(request.log));
  if (rename(partial.c_str(), finished.c_str()) != 0)
    return absl::ErrnoToStatus(errno, absl::StrCat(finished, ": cannot be put in place"));
  partial.clear();
  RCP_RETURN_IF_ERROR(syncFolder(request.folder));
  return keepNewest(request.folder, request.keepNewest);
}
