#include "runtime/data/Corpus.h"

#include "runtime/base/Status.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <filesystem>

namespace recipe::rt {

namespace fs = std::filesystem;

static absl::StatusOr<std::vector<std::string>> filesOf(const std::string &folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().filename().native().front() == '.')
      continue;
    std::error_code ignored;
    if (entry->is_directory(ignored))
      return absl::InvalidArgumentError(absl::StrCat(
          folder, ": a data folder must hold token files only, found the folder ", entry->path().filename().native()));
    files.push_back(entry->path().native());
  }
  if (error)
    return absl::InvalidArgumentError(absl::StrCat(folder, ": the folder cannot be read: ", error.message()));
  if (files.empty())
    return absl::InvalidArgumentError(absl::StrCat(folder, ": a data folder must hold token files, found none"));
  std::sort(files.begin(), files.end());
  return files;
}

absl::StatusOr<std::vector<std::string>> tokenFilePaths(const std::vector<std::string> &paths) {
  std::vector<std::string> files;
  for (const std::string &path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    RCP_ASSIGN_OR_RETURN(std::vector<std::string> inside, filesOf(path));
    files.insert(files.end(), inside.begin(), inside.end());
  }
  return files;
}

WindowTable::WindowTable(std::vector<TokenRange> rangesInOrder, int64_t length, Kind kind)
    : ranges(std::move(rangesInOrder)), seqLength(static_cast<uint64_t>(length)) {
  uint64_t end = 0;
  for (const TokenRange &range : ranges) {
    uint64_t predictions = range.size() < 2 ? 0 : range.size() - 1;
    end += kind == Whole ? predictions / seqLength : (predictions + seqLength - 1) / seqLength;
    ends.push_back(end);
  }
}

uint64_t WindowTable::tokenCount() const {
  uint64_t count = 0;
  for (const TokenRange &range : ranges)
    count += range.size();
  return count;
}

uint64_t WindowTable::predictionCount(uint64_t windows) const {
  uint64_t count = 0, first = 0;
  for (size_t i = 0; i < ranges.size() && first < windows; ++i) {
    uint64_t most = (std::min(windows, ends[i]) - first) * seqLength;
    count += ranges[i].size() < 2 ? 0 : std::min(most, ranges[i].size() - 1);
    first = ends[i];
  }
  return count;
}

WindowTable::Place WindowTable::place(uint64_t window) const {
  assert(window < count());
  size_t index = static_cast<size_t>(std::upper_bound(ends.begin(), ends.end(), window) - ends.begin());
  uint64_t first = index == 0 ? 0 : ends[index - 1];
  return {&ranges[index], ranges[index].begin + (window - first) * seqLength};
}

absl::StatusOr<CorpusSplit> splitCorpus(const std::vector<std::shared_ptr<const TokenFile>> &files,
                                        double evalFraction) {
  // Written so that a NaN is refused as well.
  if (!(evalFraction >= 0 && evalFraction < 1))
    return absl::InvalidArgumentError(absl::StrCat("eval_fraction must be at least 0 and below 1, got ", evalFraction));
  uint64_t total = 0;
  for (const auto &file : files)
    total += file->tokenCount();
  uint64_t left = total - static_cast<uint64_t>(std::floor(evalFraction * static_cast<double>(total)));
  CorpusSplit split;
  for (const auto &file : files) {
    uint64_t count = file->tokenCount(), cut = std::min(count, left);
    left -= cut;
    if (cut > 0)
      split.training.push_back({file, 0, cut});
    if (cut < count)
      split.heldOut.push_back({file, cut, count});
  }
  return split;
}

} // namespace recipe::rt
