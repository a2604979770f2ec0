#include "runtime/data/EvaluationSet.h"

#include "runtime/data/Window.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cassert>

namespace recipe::rt {

absl::StatusOr<EvaluationSet> EvaluationSet::create(TokenRange range, int64_t seqLength, int64_t batchSize,
                                                    int64_t evalSteps) {
  assert(seqLength > 0 && batchSize > 0 && evalSteps >= 0);
  if (range.size() < 2)
    return absl::InvalidArgumentError(absl::StrCat(
        range.file->path(), ": an evaluation takes at least 2 tokens, found ", range.size(), " tokens for it"));
  int64_t predictions = static_cast<int64_t>(range.size() - 1);
  int64_t samples = (predictions - 1) / seqLength + 1;
  int64_t batches = (samples - 1) / batchSize + 1;
  if (evalSteps > 0 && evalSteps < batches) {
    batches = evalSteps;
    samples = batches * batchSize;
  }
  return EvaluationSet(std::move(range), seqLength, batchSize, samples, batches);
}

absl::Status EvaluationSet::fill(int64_t batch, const MicroBatch &out) {
  assert(batch >= 0 && batch < batches && out.samples == batchSize);
  return fillSamples(batch * batchSize, out);
}

absl::Status EvaluationSet::fillSamples(int64_t firstSample, const MicroBatch &out) const {
  assert(out.length == seqLength);
  for (int64_t row = 0; row < out.samples; ++row) {
    int64_t sample = firstSample + row;
    if (sample >= samples)
      fillEmptyRow(row, out);
    else
      RCP_RETURN_IF_ERROR(fillRow(*range.file, range.begin + sample * seqLength, range.end, row, out));
  }
  return absl::OkStatus();
}

int64_t EvaluationSet::predictionCount() const {
  return std::min(static_cast<int64_t>(range.size() - 1), samples * seqLength);
}

} // namespace recipe::rt
