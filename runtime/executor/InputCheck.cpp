#include "runtime/executor/InputCheck.h"
#include "absl/strings/str_cat.h"
#include <algorithm>

namespace recipe::rt {

// One pass without branches in the common case that all is well.
static absl::Status checkRange(const char *what, const int32_t *values, const MicroBatch &batch, int64_t low,
                               int64_t limit) {
  int64_t count = batch.samples * batch.length, outside = 0;
  for (int64_t i = 0; i < count; ++i)
    outside += values[i] < low || values[i] >= limit;
  if (outside == 0)
    return absl::OkStatus();
  int64_t first = std::find_if(values, values + count, [&](int32_t x) { return x < low || x >= limit; }) - values;
  return absl::DataLossError(absl::StrCat(what, " of a micro-batch must be below ", limit,
                                          low == 0 ? " and not negative" : "", ", got ", values[first], " in sample ",
                                          first / batch.length, " at position ", first % batch.length));
}

absl::Status checkInputs(const MicroBatch &batch, int64_t vocabulary) {
  RCP_RETURN_IF_ERROR(checkRange("tokens", batch.tokens, batch, 0, vocabulary));
  RCP_RETURN_IF_ERROR(checkRange("labels", batch.labels, batch, INT32_MIN, vocabulary));
  return checkRange("positions", batch.positions, batch, 0, batch.length);
}

} // namespace recipe::rt
