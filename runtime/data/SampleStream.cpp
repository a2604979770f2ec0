#include "runtime/data/SampleStream.h"

#include "runtime/data/Window.h"

#include "absl/strings/str_cat.h"

#include <cassert>

namespace recipe::rt {

absl::StatusOr<SampleStream> SampleStream::create(TokenRange range, int64_t seqLength, int64_t globalBatch,
                                                  uint64_t seed, bool shuffle) {
  assert(seqLength > 0 && globalBatch > 0);
  uint64_t needed = static_cast<uint64_t>(seqLength) + 1;
  if (range.size() < needed)
    return absl::InvalidArgumentError(absl::StrCat(range.file->path(), ": one training sample takes seq_length + 1 = ",
                                                   needed, " tokens, found ", range.size(), " tokens for training"));
  uint64_t windows = (range.size() - 1) / static_cast<uint64_t>(seqLength);
  return SampleStream(std::move(range), seqLength, globalBatch, SampleOrder(windows, seed, shuffle));
}

absl::Status SampleStream::fill(int64_t step, int64_t microbatch, const MicroBatch &out) {
  return fillSamples(static_cast<uint64_t>(step) * globalBatch + static_cast<uint64_t>(microbatch) * out.samples, out);
}

absl::Status SampleStream::fillSamples(uint64_t firstSample, const MicroBatch &out) const {
  assert(out.length == seqLength);
  for (int64_t row = 0; row < out.samples; ++row) {
    uint64_t begin = range.begin + samples.window(firstSample + row) * static_cast<uint64_t>(seqLength);
    // The window's own end, not the range's: the label of its last token is its last, whatever follows.
    RCP_RETURN_IF_ERROR(fillRow(*range.file, begin, begin + seqLength + 1, row, out));
  }
  return absl::OkStatus();
}

} // namespace recipe::rt
