// Where a run's tokens come from. runtime/data implements it; tests use their own.
#ifndef RUNTIME_EXECUTOR_BATCHSOURCE_H
#define RUNTIME_EXECUTOR_BATCHSOURCE_H
#include "runtime/base/Status.h"
#include <cstdint>

namespace recipe::rt {

/// Labels with this value do not count.
inline constexpr int32_t kIgnoredLabel = -1;

/// One micro-batch to fill: three row-major [samples, length] arrays.
struct MicroBatch {
  int32_t *tokens;
  int32_t *labels;
  int32_t *positions;
  int64_t samples;
  int64_t length;
};

/// fill() runs on prefetch threads, several calls at once; the result must depend on its arguments only.
class BatchSource {
public:
  virtual ~BatchSource() = default;
  /// The samples of micro-batch `microbatch` of step `step`: samples microbatch*B ... of that step's global batch, over
  /// all ranks.
  virtual absl::Status fill(int64_t step, int64_t microbatch, const MicroBatch &out) = 0;
};

/// The fixed evaluation set, cut into batches of B samples; the last one is padded with kIgnoredLabel.
class EvaluationSource {
public:
  virtual ~EvaluationSource() = default;
  virtual int64_t batchCount() const = 0;
  virtual absl::Status fill(int64_t batch, const MicroBatch &out) = 0;
};

} // namespace recipe::rt
#endif
