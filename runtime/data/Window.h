// One row of a batch from consecutive tokens: the one place of the label shift.
#ifndef RUNTIME_DATA_WINDOW_H
#define RUNTIME_DATA_WINDOW_H

#include "runtime/data/TokenFile.h"
#include "runtime/executor/BatchSource.h"

namespace recipe::rt {

/// Fills row `row` of `out` with the pairs (token, next token) of tokens [begin, min(begin + T + 1, end)) of the file;
/// where no pair is left, token 0 and the label that does not count. Positions are 0..T-1 in every row.
absl::Status fillRow(const TokenFile &file, uint64_t begin, uint64_t end, int64_t row, const MicroBatch &out);

/// A row without any pair.
void fillEmptyRow(int64_t row, const MicroBatch &out);

} // namespace recipe::rt

#endif // RUNTIME_DATA_WINDOW_H
