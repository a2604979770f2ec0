// The token files of a run: which they are, what is held out of them, and the windows that they are cut into.
#ifndef RUNTIME_DATA_CORPUS_H
#define RUNTIME_DATA_CORPUS_H

#include "runtime/data/TokenFile.h"

#include <string>
#include <vector>

namespace recipe::rt {

/// The files that `paths` name, in order; a folder stands for the files in it, by the bytes of their names, without
/// those that begin with a dot. Refuses a folder that holds no file, or another folder.
absl::StatusOr<std::vector<std::string>> tokenFilePaths(const std::vector<std::string> &paths);

/// Cuts files, in order, into windows of T + 1 tokens that start every T tokens of a range. No window reaches from one
/// range into the next. Immutable, thread-safe.
class WindowTable {
public:
  enum Kind {
    Whole, // windows of T + 1 tokens only
    All,   // at the end of a range a shorter one, of at least 2
  };
  WindowTable(std::vector<TokenRange> ranges, int64_t seqLength, Kind kind);

  uint64_t count() const { return ends.empty() ? 0 : ends.back(); }
  /// Tokens of all ranges.
  uint64_t tokenCount() const;
  /// Tokens that windows 0 .. `windows` - 1 predict.
  uint64_t predictionCount(uint64_t windows) const;
  /// The range that a window lies in, and where in its file it begins.
  struct Place {
    const TokenRange *range;
    uint64_t begin;
  };
  Place place(uint64_t window) const;
  const std::vector<TokenRange> &allRanges() const { return ranges; }

private:
  std::vector<TokenRange> ranges;
  std::vector<uint64_t> ends; // windows of the ranges up to this one
  uint64_t seqLength;
};

/// The part of the files that training sees and the part held out: the last floor(evalFraction * tokens) of the tokens
/// of all files, in their order. Refuses a fraction outside [0, 1).
struct CorpusSplit {
  std::vector<TokenRange> training;
  std::vector<TokenRange> heldOut;
};
absl::StatusOr<CorpusSplit> splitCorpus(const std::vector<std::shared_ptr<const TokenFile>> &files,
                                        double evalFraction);

} // namespace recipe::rt

#endif // RUNTIME_DATA_CORPUS_H
