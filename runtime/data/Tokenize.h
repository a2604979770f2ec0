// Text to token file.
#ifndef RUNTIME_DATA_TOKENIZE_H
#define RUNTIME_DATA_TOKENIZE_H

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace recipe::rt {

/// Writes the tokens of the inputs, joined in the order given with nothing between them, and returns their number.
/// The only tokenizer is "bytes" (one token for each byte, vocabulary 256). Memory does not grow with the inputs; a
/// failure leaves no output, nor does a stop: `stopRequested`, which may be empty, is asked between pieces.
absl::StatusOr<uint64_t> tokenizeFiles(const std::vector<std::string> &inputs, const std::string &output,
                                       const std::string &tokenizer = "bytes",
                                       const std::function<bool()> &stopRequested = {});

} // namespace recipe::rt

#endif // RUNTIME_DATA_TOKENIZE_H
