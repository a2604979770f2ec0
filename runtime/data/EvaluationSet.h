// Evaluation batches: a fixed range of tokens in order, in which every token but the first is predicted exactly once.
// The last sample and the last batch may be short: what is missing is token 0 with the label that does not count.
// Immutable, so safe to use from any thread.
#ifndef RUNTIME_DATA_EVALUATIONSET_H
#define RUNTIME_DATA_EVALUATIONSET_H

#include "runtime/data/TokenFile.h"
#include "runtime/executor/BatchSource.h"

namespace recipe::rt {

class EvaluationSet : public EvaluationSource {
public:
  /// `evalSteps` > 0 keeps only that many batches. Refuses a range in which nothing is predicted.
  static absl::StatusOr<EvaluationSet> create(TokenRange range, int64_t seqLength, int64_t batchSize,
                                              int64_t evalSteps);

  int64_t batchCount() const override { return batches; }
  /// out.samples = batchSize, out.length = T.
  absl::Status fill(int64_t batch, const MicroBatch &out) override;

  /// Samples firstSample, firstSample + 1, ..., out.samples of them; empty rows beyond the last.
  absl::Status fillSamples(int64_t firstSample, const MicroBatch &out) const;

  /// Labels that count, over all batches.
  int64_t predictionCount() const;

private:
  EvaluationSet(TokenRange range, int64_t seqLength, int64_t batchSize, int64_t samples, int64_t batches)
      : range(std::move(range)), seqLength(seqLength), batchSize(batchSize), samples(samples), batches(batches) {}

  TokenRange range;
  int64_t seqLength;
  int64_t batchSize;
  int64_t samples; // with at least one label, at most batches * batchSize
  int64_t batches;
};

} // namespace recipe::rt

#endif // RUNTIME_DATA_EVALUATIONSET_H
