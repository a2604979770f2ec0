#include "runtime/tools/Resume.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/Printable.h"
#include "runtime/checkpoint/CheckpointFolder.h"
#include "runtime/checkpoint/CheckpointLoad.h"
#include "runtime/monitor/MetricsFile.h"
#include "runtime/tools/RunIdentity.h"
#include <filesystem>

using namespace recipe::rt;
namespace fs = std::filesystem;

static bool sameFolder(const fs::path &a, const fs::path &b) {
  std::error_code ignored;
  return fs::equivalent(a, b, ignored);
}

bool recipe::rt::resumesOutputFolder(const std::string &from, const std::string &outputDir) {
  if (from.empty())
    return false;
  // A path may end in a slash.
  fs::path path = fs::path(from) / "";
  return from == "latest" || sameFolder(from, outputDir) ||
         sameFolder(path.parent_path().parent_path(), checkpointsFolder(outputDir));
}

/// A checkpoint that is newer than the one to go on from belongs to a course that this run leaves.
static absl::Status refuseNewer(const ResumeOptions &options, const ResumePoint &point) {
  RCP_ASSIGN_OR_RETURN(std::vector<int64_t> steps, listCheckpoints(checkpointsFolder(options.outputDir)));
  if (options.overwrite || steps.empty() || steps.back() <= point.manifest.step)
    return absl::OkStatus();
  return absl::AlreadyExistsError(
      absl::StrCat(options.outputDir, ": must not hold checkpoints beyond the one to resume from, found ",
                   checkpointName(steps.back()), " and ", checkpointName(point.manifest.step),
                   "; choose another --output-dir, or remove newer results with --overwrite"));
}

/// The newest is found by its name, and so is what goes with --overwrite.
static absl::Status checkName(const ResumePoint &point) {
  // A path may end in a slash.
  std::string name = (fs::path(point.path) / "").parent_path().filename().string();
  if (int64_t step = stepOfName(name); step < 0 || step == point.manifest.step)
    return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(point.path, ": its name must be that of its step, ",
                                                    checkpointName(point.manifest.step),
                                                    "; rename it, or take it from another folder"));
}

absl::StatusOr<ResumePoint> recipe::rt::findResumePoint(const ResumeOptions &options, const CheckpointManifest &now) {
  ResumePoint point;
  RCP_ASSIGN_OR_RETURN(point.path,
                       options.from == "latest" ? newestCheckpoint(options.outputDir) : checkpointAt(options.from));
  RCP_ASSIGN_OR_RETURN(point.manifest, readManifest(point.path));
  point.sameFolder = resumesOutputFolder(options.from, options.outputDir);
  if (point.sameFolder || point.path != options.from)
    RCP_RETURN_IF_ERROR(checkName(point));
  RunDifferences differences = compareRuns(point.manifest, now);
  std::vector<std::string> lines = {
      absl::StrCat(point.path, ": the step must be of the checkpoint's model and batch, these differ:")};
  if (differences.fatal.empty())
    lines = {absl::StrCat(point.path, ": training must go on as it began, unless --allow-changes is given, these ",
                          "settings differ:")};
  for (const auto *group : {&differences.fatal, &differences.deliberate})
    for (const std::string &line : *group)
      lines.push_back("  " + line);
  if (!differences.fatal.empty() || (!differences.deliberate.empty() && !options.allowChanges))
    return absl::FailedPreconditionError(absl::StrJoin(lines, "\n"));
  if (point.manifest.samples % options.globalBatch != 0 ||
      point.manifest.samples / options.globalBatch != point.manifest.step)
    return absl::DataLossError(absl::StrCat(point.path, ": its samples must be its step times the global batch, got ",
                                            point.manifest.samples, ", ", point.manifest.step, " and ",
                                            options.globalBatch));
  for (const std::string &line : differences.deliberate)
    std::fprintf(options.err, "reciperun: changed: %s\n", printable(line).c_str());
  if (!differences.bits.empty())
    std::fprintf(options.err, "reciperun: %s: %s\n", printable(point.path).c_str(),
                 printable(differences.bits).c_str());
  if (point.sameFolder)
    RCP_RETURN_IF_ERROR(refuseNewer(options, point));
  return point;
}

absl::StatusOr<int64_t> recipe::rt::forgetBeyond(const std::string &outputDir, int64_t step) {
  std::string folder = checkpointsFolder(outputDir);
  RCP_RETURN_IF_ERROR(removeLeftovers(folder));
  RCP_ASSIGN_OR_RETURN(std::vector<int64_t> steps, listCheckpoints(folder));
  // The newest first: were the oldest to go first, a kill in between would leave the end of the course that this run
  // leaves, which a later --resume would take for this run's.
  for (size_t i = steps.size(); i > 0 && steps[i - 1] > step; --i)
    RCP_RETURN_IF_ERROR(removeCheckpoint(folder, steps[i - 1]));
  return step < 0 ? 0 : keepMetricsUntil(outputDir + "/metrics.jsonl", step);
}
