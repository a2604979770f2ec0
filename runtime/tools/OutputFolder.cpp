#include "runtime/tools/OutputFolder.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/AtomicFile.h"
#include "runtime/base/DiskSpace.h"
#include "runtime/base/File.h"
#include "runtime/checkpoint/CheckpointFolder.h"
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace recipe::rt;
namespace fs = std::filesystem;

/// What a run leaves in its folder.
static const char *const resultNames[] = {"metrics.jsonl", "model.safetensors"};

static bool isThere(const fs::path &path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

OutputFolder::~OutputFolder() {
  held.reset();
  for (const fs::path &folder : created)
    if (rmdir(folder.c_str()) != 0)
      break;
}

absl::Status OutputFolder::create() {
  for (fs::path folder = path; !folder.empty() && !isThere(folder); folder = folder.parent_path())
    created.push_back(folder);
  return makeFolders(path);
}

/// An existing file must be one that can be written; it stays as it is.
static absl::Status checkWritable(const std::string &path) {
  // O_NONBLOCK: a FIFO must be refused, not wait for a reader.
  int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0 && errno == ENOENT)
    return absl::OkStatus();
  if (fd < 0)
    return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot be written"));
  struct stat info;
  bool regular = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
  close(fd);
  return regular ? absl::OkStatus()
                 : absl::InvalidArgumentError(absl::StrCat(path, ": exists and is not a regular file"));
}

absl::Status OutputFolder::refuseResults() const {
  std::vector<std::string> found;
  for (const char *name : resultNames)
    if (isThere(fs::path(path) / name))
      found.push_back(name);
  RCP_ASSIGN_OR_RETURN(std::vector<int64_t> steps, listCheckpoints(checkpointsFolder(path)));
  if (!steps.empty())
    found.push_back("checkpoints/" + checkpointName(steps.back()));
  if (found.empty())
    return absl::OkStatus();
  return absl::AlreadyExistsError(absl::StrCat(path, ": must not hold results of another run, found ", found[0],
                                               "; choose another --output-dir, or replace them with --overwrite"));
}

absl::Status OutputFolder::check(const OutputFolderOptions &options) const {
  RCP_RETURN_IF_ERROR(checkWritable(metricsPath()));
  // Created as at the end, and dropped.
  RCP_RETURN_IF_ERROR(AtomicFile::create(weightsPath()).status());
  if (!options.overwrite && !options.resume)
    RCP_RETURN_IF_ERROR(refuseResults());
  RCP_RETURN_IF_ERROR(checkFileSizeLimit(weightsPath(), options.weightBytes));
  // A link leads to another disk. What is there stays until all of the new file is.
  return checkDiskSpace(weightsPath(), isThere(weightsPath()) ? weightsPath() : path, options.weightBytes);
}

absl::StatusOr<OutputFolder> OutputFolder::open(const std::string &path, const OutputFolderOptions &options) {
  OutputFolder folder(path);
  RCP_RETURN_IF_ERROR(folder.create());
  absl::StatusOr<LockFile> lock = LockFile::acquire(path + "/reciperun.lock");
  if (absl::IsFailedPrecondition(lock.status()))
    return absl::FailedPreconditionError(
        absl::StrCat("one run at a time may write to a folder; ", lock.status().message()));
  RCP_RETURN_IF_ERROR(lock.status());
  folder.held.emplace(*std::move(lock));
  RCP_RETURN_IF_ERROR(folder.check(options));
  return folder;
}
