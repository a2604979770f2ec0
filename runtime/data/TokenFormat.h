// The header of a token file: 192 little-endian bytes, described in docs/data.md. Values only, no I/O.
#ifndef RUNTIME_DATA_TOKENFORMAT_H
#define RUNTIME_DATA_TOKENFORMAT_H

#include "runtime/base/Sha256.h"

#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include <array>
#include <cstdint>
#include <string>

namespace recipe::rt {

inline constexpr uint32_t TokenFormatVersion = 1;
inline constexpr size_t TokenHeaderBytes = 192;
inline constexpr size_t TokenizerNameBytes = 32;

struct TokenHeader {
  uint32_t idBytes = 1;   // 1, 2 or 4
  uint64_t vocabSize = 0; // ids are 0..vocabSize-1
  uint64_t tokenCount = 0;
  std::string tokenizer;        // at most TokenizerNameBytes
  Sha256Digest tokenizerHash{}; // of the tokenizer's definition; zero when the name says all ("bytes")
  Sha256Digest payloadHash{};   // of the ids as stored
};

/// The largest vocabulary that ids of this width hold: 2^8, 2^16, and 2^31 because a batch carries ids as int32.
/// 0 for a width that does not exist.
uint64_t largestVocabulary(uint32_t idBytes);

std::array<uint8_t, TokenHeaderBytes> encodeTokenHeader(const TokenHeader &header);

/// Checks everything that the header and the length of the file can tell. `name` opens every message.
absl::StatusOr<TokenHeader> decodeTokenHeader(absl::Span<const uint8_t> file, const std::string &name);

} // namespace recipe::rt

#endif // RUNTIME_DATA_TOKENFORMAT_H
