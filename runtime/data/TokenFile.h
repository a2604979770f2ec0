// A memory-mapped token file: a validated header and its ids. Immutable after open(), so safe to use from any thread.
// The ids themselves are checked when they are read; the payload's SHA-256 only by verify(), which reads all of it.
#ifndef RUNTIME_DATA_TOKENFILE_H
#define RUNTIME_DATA_TOKENFILE_H

#include "runtime/base/MappedFile.h"
#include "runtime/data/TokenFormat.h"

#include <memory>

namespace recipe::rt {

class TokenFile {
public:
  static absl::StatusOr<TokenFile> open(const std::string &path);

  const std::string &path() const { return name; }
  const TokenHeader &header() const { return head; }
  uint64_t tokenCount() const { return head.tokenCount; }
  uint64_t vocabSize() const { return head.vocabSize; }

  /// The ids as stored, idBytes each, 64-byte aligned.
  absl::Span<const uint8_t> payload() const { return map.bytes().subspan(TokenHeaderBytes); }

  /// Copies tokens [begin, begin + count) to `out`. An id outside the vocabulary is an error that names its position;
  /// `out` is then partly written.
  absl::Status read(uint64_t begin, uint64_t count, int32_t *out) const;

  /// Reads the whole file: payload checksum and every id.
  absl::Status verify() const;

private:
  TokenFile(MappedFile map, TokenHeader head, std::string name)
      : map(std::move(map)), head(std::move(head)), name(std::move(name)) {}

  MappedFile map;
  TokenHeader head;
  std::string name;
};

/// Consecutive tokens [begin, end) of a file, which it keeps open.
struct TokenRange {
  std::shared_ptr<const TokenFile> file;
  uint64_t begin = 0;
  uint64_t end = 0;

  uint64_t size() const { return end - begin; }
};

} // namespace recipe::rt

#endif // RUNTIME_DATA_TOKENFILE_H
