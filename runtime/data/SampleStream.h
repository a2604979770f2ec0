// Training batches: the endless sequence of global samples 0, 1, ... cut from ranges of tokens. Immutable, so safe to
// use from any thread.
//
// A sample is a window of T + 1 tokens; windows start every T tokens, so each token but the first of a window is a
// label once. The label shift happens here and nowhere else.
#ifndef RUNTIME_DATA_SAMPLESTREAM_H
#define RUNTIME_DATA_SAMPLESTREAM_H

#include "runtime/data/Corpus.h"
#include "runtime/data/SampleOrder.h"
#include "runtime/executor/BatchSource.h"

namespace recipe::rt {

class SampleStream : public BatchSource {
public:
  /// `globalBatch`: samples of one step. Refuses ranges without one whole window.
  static absl::StatusOr<SampleStream> create(std::vector<TokenRange> ranges, int64_t seqLength, int64_t globalBatch,
                                             uint64_t seed, bool shuffle);

  /// out.samples = B, out.length = T.
  absl::Status fill(int64_t step, int64_t microbatch, const MicroBatch &out) override;

  /// Global samples firstSample, firstSample + 1, ..., out.samples of them.
  absl::Status fillSamples(uint64_t firstSample, const MicroBatch &out) const;

  const SampleOrder &order() const { return samples; }
  int64_t windowCount() const { return static_cast<int64_t>(samples.windowCount()); }

private:
  SampleStream(WindowTable windows, int64_t seqLength, int64_t globalBatch, SampleOrder samples)
      : windows(std::move(windows)), seqLength(seqLength), globalBatch(globalBatch), samples(samples) {}

  WindowTable windows;
  int64_t seqLength;
  int64_t globalBatch;
  SampleOrder samples;
};

} // namespace recipe::rt

#endif // RUNTIME_DATA_SAMPLESTREAM_H
