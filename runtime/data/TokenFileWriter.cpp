#include "runtime/data/TokenFileWriter.h"

#include "absl/strings/str_cat.h"

#include <cassert>
#include <vector>

namespace recipe::rt {

absl::StatusOr<TokenFileWriter> TokenFileWriter::create(const std::string &path, const std::string &tokenizer,
                                                        uint64_t vocabSize) {
  if (tokenizer.empty() || tokenizer.size() > TokenizerNameBytes)
    return absl::InvalidArgumentError(absl::StrCat(path, ": the tokenizer's name must have 1..", TokenizerNameBytes,
                                                   " bytes, got ", tokenizer.size()));
  if (vocabSize == 0 || vocabSize > largestVocabulary(4))
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": the vocabulary must be 1..", largestVocabulary(4), ", got ", vocabSize));
  TokenHeader header;
  header.idBytes = vocabSize <= largestVocabulary(1) ? 1 : vocabSize <= largestVocabulary(2) ? 2 : 4;
  header.vocabSize = vocabSize;
  header.tokenizer = tokenizer;
  absl::StatusOr<AtomicFile> file = AtomicFile::create(path);
  if (!file.ok())
    return file.status();
  // The real header is known only at the end.
  std::array<uint8_t, TokenHeaderBytes> blank{};
  if (absl::Status status = file->append(blank.data(), blank.size()); !status.ok())
    return status;
  return TokenFileWriter(*std::move(file), std::move(header), path);
}

absl::Status TokenFileWriter::appendStored(absl::Span<const uint8_t> ids) {
  assert(header.idBytes > 0 && ids.size() % header.idBytes == 0);
  payloadHash.update(ids.data(), ids.size());
  header.tokenCount += ids.size() / header.idBytes;
  return file.append(ids.data(), ids.size());
}

absl::Status TokenFileWriter::append(absl::Span<const int32_t> ids) {
  std::vector<uint8_t> stored;
  stored.reserve(ids.size() * header.idBytes);
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0 || static_cast<uint64_t>(ids[i]) >= header.vocabSize)
      return absl::InvalidArgumentError(absl::StrCat(name, ": token ", header.tokenCount + i,
                                                     ": the id must be below the vocabulary of ", header.vocabSize,
                                                     ", got ", ids[i]));
    for (uint32_t byte = 0; byte < header.idBytes; ++byte)
      stored.push_back(static_cast<uint8_t>(static_cast<uint32_t>(ids[i]) >> (8 * byte)));
  }
  return appendStored(stored);
}

absl::Status TokenFileWriter::finish() {
  if (header.tokenCount == 0)
    return absl::InvalidArgumentError(absl::StrCat(name, ": not written, there are no tokens"));
  header.payloadHash = payloadHash.finish();
  std::array<uint8_t, TokenHeaderBytes> bytes = encodeTokenHeader(header);
  if (absl::Status status = file.writeAt(0, bytes.data(), bytes.size()); !status.ok())
    return status;
  return file.commit();
}

} // namespace recipe::rt
