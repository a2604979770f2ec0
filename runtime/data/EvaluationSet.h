// Evaluation batches: fixed ranges of tokens in order; every token but the first of a range is predicted exactly once.
// The last sample of a range and the last batch may be short: what is missing is token 0 with the label that does not
// count. Immutable, so safe to use from any thread.
#ifndef RUNTIME_DATA_EVALUATIONSET_H
#define RUNTIME_DATA_EVALUATIONSET_H

#include "runtime/data/Corpus.h"
#include "runtime/executor/BatchSource.h"

namespace recipe::rt {

class EvaluationSet : public EvaluationSource {
public:
  /// `evalSteps` > 0 keeps only that many batches. Refuses ranges in which nothing is predicted.
  static absl::StatusOr<EvaluationSet> create(std::vector<TokenRange> ranges, int64_t seqLength, int64_t batchSize,
                                              int64_t evalSteps);

  int64_t batchCount() const override { return batches; }
  /// out.samples = batchSize, out.length = T.
  absl::Status fill(int64_t batch, const MicroBatch &out) override;

  /// Samples firstSample, firstSample + 1, ..., out.samples of them; empty rows beyond the last.
  absl::Status fillSamples(int64_t firstSample, const MicroBatch &out) const;

  /// Labels that count, over all batches.
  int64_t predictionCount() const;

private:
  EvaluationSet(WindowTable windows, int64_t seqLength, int64_t batchSize, int64_t samples, int64_t batches)
      : windows(std::move(windows)), seqLength(seqLength), batchSize(batchSize), samples(samples), batches(batches) {}

  WindowTable windows;
  int64_t seqLength;
  int64_t batchSize;
  int64_t samples; // with at least one label, at most batches * batchSize
  int64_t batches;
};

} // namespace recipe::rt

#endif // RUNTIME_DATA_EVALUATIONSET_H
