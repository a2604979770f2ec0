#include "runtime/data/EvaluationSet.h"

#include "runtime/data/Window.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cassert>

namespace recipe::rt {

absl::StatusOr<EvaluationSet> EvaluationSet::create(std::vector<TokenRange> ranges, int64_t seqLength,
                                                    int64_t batchSize, int64_t evalSteps) {
  assert(seqLength > 0 && batchSize > 0 && evalSteps >= 0 && !ranges.empty());
  size_t files = ranges.size();
  std::string first = ranges.front().file->path();
  WindowTable windows(std::move(ranges), seqLength, WindowTable::All);
  if (windows.count() == 0)
    return absl::InvalidArgumentError(absl::StrCat(first, ": an evaluation takes at least 2 tokens",
                                                   files > 1 ? " of one file" : "", ", found ", windows.tokenCount(),
                                                   " tokens for it"));
  auto samples = static_cast<int64_t>(windows.count());
  int64_t batches = (samples - 1) / batchSize + 1;
  if (evalSteps > 0 && evalSteps < batches) {
    batches = evalSteps;
    samples = batches * batchSize;
  }
  return EvaluationSet(std::move(windows), seqLength, batchSize, samples, batches);
}

absl::Status EvaluationSet::fill(int64_t batch, const MicroBatch &out) {
  assert(batch >= 0 && batch < batches && out.samples == batchSize);
  return fillSamples(batch * batchSize, out);
}

absl::Status EvaluationSet::fillSamples(int64_t firstSample, const MicroBatch &out) const {
  assert(out.length == seqLength);
  for (int64_t row = 0; row < out.samples; ++row) {
    int64_t sample = firstSample + row;
    if (sample >= samples) {
      fillEmptyRow(row, out);
      continue;
    }
    auto [range, begin] = windows.place(static_cast<uint64_t>(sample));
    RCP_RETURN_IF_ERROR(fillRow(*range->file, begin, range->end, row, out));
  }
  return absl::OkStatus();
}

int64_t EvaluationSet::predictionCount() const {
  return static_cast<int64_t>(windows.predictionCount(static_cast<uint64_t>(samples)));
}

} // namespace recipe::rt
