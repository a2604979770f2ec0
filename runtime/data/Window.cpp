#include "runtime/data/Window.h"

#include <algorithm>
#include <numeric>

namespace recipe::rt {

// Ends a row that has `pairs` pairs of tokens and labels.
static void finishRow(int64_t pairs, int64_t row, const MicroBatch &out) {
  int64_t first = row * out.length;
  std::fill(out.tokens + first + pairs, out.tokens + first + out.length, 0);
  std::fill(out.labels + first + pairs, out.labels + first + out.length, kIgnoredLabel);
  std::iota(out.positions + first, out.positions + first + out.length, 0);
}

absl::Status fillRow(const TokenFile &file, uint64_t begin, uint64_t end, int64_t row, const MicroBatch &out) {
  int64_t pairs = static_cast<int64_t>(std::min<uint64_t>(end - begin - 1, static_cast<uint64_t>(out.length)));
  int32_t *tokens = out.tokens + row * out.length, *labels = out.labels + row * out.length;
  RCP_RETURN_IF_ERROR(file.read(begin, pairs, tokens));
  RCP_RETURN_IF_ERROR(file.read(begin + 1, pairs, labels));
  finishRow(pairs, row, out);
  return absl::OkStatus();
}

void fillEmptyRow(int64_t row, const MicroBatch &out) { finishRow(0, row, out); }

} // namespace recipe::rt
