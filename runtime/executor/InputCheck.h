// What kernels take for granted of a micro-batch (docs/abi.md): they use ids as row numbers without looking.
#ifndef RUNTIME_EXECUTOR_INPUTCHECK_H
#define RUNTIME_EXECUTOR_INPUTCHECK_H
#include "runtime/executor/BatchSource.h"

namespace recipe::rt {

/// Tokens are 0..vocabulary-1, labels below the vocabulary (negative ones do not count), positions 0..length-1.
absl::Status checkInputs(const MicroBatch &batch, int64_t vocabulary);

} // namespace recipe::rt
#endif
