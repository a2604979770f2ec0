// Writes a token file as a stream of ids; it appears under its name, complete, when finish() succeeds, and not before.
// One thread at a time.
#ifndef RUNTIME_DATA_TOKENFILEWRITER_H
#define RUNTIME_DATA_TOKENFILEWRITER_H

#include "runtime/base/AtomicFile.h"
#include "runtime/data/TokenFormat.h"

namespace recipe::rt {

class TokenFileWriter {
public:
  /// Ids take the least of 1, 2 and 4 bytes that holds the vocabulary.
  static absl::StatusOr<TokenFileWriter> create(const std::string &path, const std::string &tokenizer,
                                                uint64_t vocabSize);

  /// Ids in their stored width; the caller vouches that each is below the vocabulary.
  absl::Status appendStored(absl::Span<const uint8_t> ids);
  /// An id outside the vocabulary is an error that names its position.
  absl::Status append(absl::Span<const int32_t> ids);
  /// Refuses to leave a file without tokens. Nothing may be appended after.
  absl::Status finish();

  uint64_t tokenCount() const { return header.tokenCount; }

private:
  TokenFileWriter(AtomicFile file, TokenHeader header, std::string name)
      : file(std::move(file)), header(std::move(header)), name(std::move(name)) {}

  AtomicFile file;
  TokenHeader header;
  Sha256 payloadHash;
  std::string name;
};

} // namespace recipe::rt

#endif // RUNTIME_DATA_TOKENFILEWRITER_H
