#include "runtime/checkpoint/CheckpointFolder.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/base/File.h"
#include "runtime/checkpoint/CheckpointManifest.h"
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>

using namespace recipe::rt;
namespace fs = std::filesystem;

std::string recipe::rt::checkpointName(int64_t step) { return absl::StrFormat("step-%08d", step); }

int64_t recipe::rt::stepOfName(const std::string &name) {
  int64_t step;
  // Back again, so that each step has one name.
  if (!absl::StartsWith(name, "step-") || !absl::SimpleAtoi(name.substr(5), &step) || step < 0 ||
      checkpointName(step) != name)
    return -1;
  return step;
}

/// The names in a folder; none if it does not exist.
static absl::StatusOr<std::vector<std::string>> namesIn(const std::string &folder) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entry(folder, error), end;
  for (; !error && entry != end; entry.increment(error))
    names.push_back(entry->path().filename().string());
  if (error && error != std::errc::no_such_file_or_directory)
    return absl::ErrnoToStatus(error.value(), absl::StrCat(folder, ": the folder cannot be read"));
  return names;
}

absl::StatusOr<std::vector<int64_t>> recipe::rt::listCheckpoints(const std::string &folder) {
  RCP_ASSIGN_OR_RETURN(std::vector<std::string> names, namesIn(folder));
  std::vector<int64_t> steps;
  for (const std::string &name : names)
    if (int64_t step = stepOfName(name); step >= 0)
      steps.push_back(step);
  std::sort(steps.begin(), steps.end());
  return steps;
}

std::string recipe::rt::checkpointsFolder(const std::string &outputDir) { return outputDir + "/checkpoints"; }

/// A user may have given one another name.
static absl::Status noCheckpoint(const std::string &folder) {
  std::string text = absl::StrCat(folder, ": no checkpoint found");
  RCP_ASSIGN_OR_RETURN(std::vector<std::string> names, namesIn(folder));
  std::sort(names.begin(), names.end());
  std::error_code ignored;
  for (const std::string &name : names)
    if (stepOfName(name.substr(0, name.find('.'))) < 0 &&
        fs::exists(fs::path(folder) / name / ManifestFileName, ignored))
      return absl::NotFoundError(
          absl::StrCat(text, " that has its step's name; ", name, " is to be named by its path"));
  return absl::NotFoundError(text);
}

absl::StatusOr<std::string> recipe::rt::newestCheckpoint(const std::string &outputDir) {
  std::string folder = checkpointsFolder(outputDir);
  RCP_ASSIGN_OR_RETURN(std::vector<int64_t> steps, listCheckpoints(folder));
  if (steps.empty())
    return noCheckpoint(folder);
  return absl::StrCat(folder, "/", checkpointName(steps.back()));
}

absl::StatusOr<std::string> recipe::rt::checkpointAt(const std::string &path) {
  std::error_code ignored;
  if (fs::is_directory(checkpointsFolder(path), ignored))
    return newestCheckpoint(path);
  if (!fs::exists(fs::path(path) / ManifestFileName, ignored))
    return absl::NotFoundError(absl::StrCat(path,
                                            ": must be a checkpoint or the output folder of a run, found neither ",
                                            ManifestFileName, " nor checkpoints"));
  return path;
}

absl::Status recipe::rt::readCheckpoint(const std::string &name,
                                        const std::function<absl::Status(const std::string &path)> &read) {
  const int attempts = 10;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    RCP_ASSIGN_OR_RETURN(std::string path, checkpointAt(name));
    absl::Status status = read(path);
    std::error_code ignored;
    if (status.ok() || fs::exists(path, ignored))
      return status;
    if (path == name)
      return absl::NotFoundError(absl::StrCat(path, ": was removed while it was read"));
  }
  return absl::NotFoundError(absl::StrCat(name, ": its newest checkpoint was removed while it was read, ", attempts,
                                          " times in a row; a larger logging.keep_last keeps it longer"));
}

static absl::Status removeTree(const std::string &path) {
  std::error_code error;
  fs::remove_all(path, error);
  return error ? absl::ErrnoToStatus(error.value(), absl::StrCat(path, ": cannot be removed")) : absl::OkStatus();
}

absl::Status recipe::rt::removeLeftovers(const std::string &folder) {
  RCP_ASSIGN_OR_RETURN(std::vector<std::string> names, namesIn(folder));
  for (const std::string &name : names) {
    size_t dot = name.find('.');
    std::string suffix = dot == std::string::npos ? "" : name.substr(dot);
    if (stepOfName(name.substr(0, dot)) >= 0 && (suffix == ".partial" || suffix == ".removed"))
      RCP_RETURN_IF_ERROR(removeTree(folder + "/" + name));
  }
  return absl::OkStatus();
}

absl::Status recipe::rt::removeCheckpoint(const std::string &folder, int64_t step) {
  std::string path = folder + "/" + checkpointName(step), removed = path + ".removed";
  // Its name goes first: deleting many files takes time in which the checkpoint is not whole.
  if (rename(path.c_str(), removed.c_str()) != 0)
    return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot be removed"));
  RCP_RETURN_IF_ERROR(syncFolder(folder));
  return removeTree(removed);
}

absl::Status recipe::rt::keepNewest(const std::string &folder, int64_t keep) {
  if (keep == 0)
    return absl::OkStatus();
  RCP_ASSIGN_OR_RETURN(std::vector<int64_t> steps, listCheckpoints(folder));
  for (size_t i = 0; i + size_t(keep) < steps.size(); ++i)
    RCP_RETURN_IF_ERROR(removeCheckpoint(folder, steps[i]));
  return absl::OkStatus();
}
