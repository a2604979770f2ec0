// The folder that a run writes to: one run at a time, and the results of an earlier one only when told to. One thread.
#ifndef RUNTIME_TOOLS_OUTPUTFOLDER_H
#define RUNTIME_TOOLS_OUTPUTFOLDER_H
#include "runtime/base/LockFile.h"
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace recipe::rt {

struct OutputFolderOptions {
  bool overwrite = false;   // results of an earlier run may be there
  uint64_t weightBytes = 0; // length of the weights file to come
  bool resume = false;      // they are this run's own
};

/// Holds the folder's lock. Destroyed, it removes what it created as far as nothing was put into it.
class OutputFolder {
public:
  /// Refuses, before anything is computed: a folder in use, results of an earlier run, and what would fail at the end:
  /// a place that cannot be written, too little free disk space, too low a limit on the size of files. Changes nothing
  /// in the folder but for the lock file.
  static absl::StatusOr<OutputFolder> open(const std::string &path, const OutputFolderOptions &options);

  OutputFolder(OutputFolder &&) = default;
  OutputFolder &operator=(OutputFolder &&) = delete;
  ~OutputFolder();

  const std::string &name() const { return path; }
  std::string metricsPath() const { return path + "/metrics.jsonl"; }
  std::string weightsPath() const { return path + "/model.safetensors"; }

private:
  explicit OutputFolder(std::string path) : path(std::move(path)) {}
  absl::Status create();
  absl::Status check(const OutputFolderOptions &options) const;
  absl::Status refuseResults() const;

  std::string path;
  std::vector<std::filesystem::path> created; // by us, the innermost first
  std::optional<LockFile> held;
};

} // namespace recipe::rt
#endif
