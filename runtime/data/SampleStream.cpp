#include "runtime/data/SampleStream.h"

#include "runtime/data/Window.h"

#include "absl/strings/str_cat.h"

#include <cassert>

namespace recipe::rt {

absl::StatusOr<SampleStream> SampleStream::create(std::vector<TokenRange> ranges, int64_t seqLength,
                                                  int64_t globalBatch, uint64_t seed, bool shuffle) {
  assert(seqLength > 0 && globalBatch > 0);
  size_t files = ranges.size();
  std::string first = ranges.empty() ? "" : ranges.front().file->path();
  WindowTable windows(std::move(ranges), seqLength, WindowTable::Whole);
  if (windows.count() == 0)
    return absl::InvalidArgumentError(absl::StrCat(first, files > 1 ? absl::StrCat(" and ", files - 1, " more") : "",
                                                   ": one training sample takes seq_length + 1 = ", seqLength + 1,
                                                   " tokens", files > 1 ? " of one file" : "", ", found ",
                                                   windows.tokenCount(), " tokens for training"));
  SampleOrder order(windows.count(), seed, shuffle);
  return SampleStream(std::move(windows), seqLength, globalBatch, order);
}

absl::Status SampleStream::fill(int64_t step, int64_t microbatch, const MicroBatch &out) {
  return fillSamples(static_cast<uint64_t>(step) * globalBatch + static_cast<uint64_t>(microbatch) * out.samples, out);
}

absl::Status SampleStream::fillSamples(uint64_t firstSample, const MicroBatch &out) const {
  assert(out.length == seqLength);
  for (int64_t row = 0; row < out.samples; ++row) {
    auto [range, begin] = windows.place(samples.window(firstSample + row));
    // The window's own end, not the range's: the label of its last token is its last, whatever follows.
    RCP_RETURN_IF_ERROR(fillRow(*range->file, begin, begin + seqLength + 1, row, out));
  }
  return absl::OkStatus();
}

} // namespace recipe::rt
