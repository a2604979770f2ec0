#include "runtime/data/TokenFormat.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace recipe::rt {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "integers are copied as they lie in memory");

// Offsets of the fields, as in docs/data.md.
static constexpr char Magic[8] = {'R', 'C', 'P', 'T', 'O', 'K', 'S', '\n'};
static constexpr size_t VersionAt = 8, IdBytesAt = 12, VocabSizeAt = 16, TokenCountAt = 24, TokenizerAt = 32,
                        TokenizerHashAt = 64, PayloadHashAt = 96, HeaderHashAt = 128, ReservedAt = 160;

uint64_t largestVocabulary(uint32_t idBytes) {
  switch (idBytes) {
  case 1:
    return uint64_t(1) << 8;
  case 2:
    return uint64_t(1) << 16;
  case 4:
    return uint64_t(1) << 31;
  default:
    return 0;
  }
}

std::array<uint8_t, TokenHeaderBytes> encodeTokenHeader(const TokenHeader &header) {
  assert(header.tokenizer.size() <= TokenizerNameBytes);
  std::array<uint8_t, TokenHeaderBytes> bytes{};
  std::memcpy(&bytes[0], Magic, sizeof(Magic));
  std::memcpy(&bytes[VersionAt], &TokenFormatVersion, sizeof(TokenFormatVersion));
  std::memcpy(&bytes[IdBytesAt], &header.idBytes, sizeof(header.idBytes));
  std::memcpy(&bytes[VocabSizeAt], &header.vocabSize, sizeof(header.vocabSize));
  std::memcpy(&bytes[TokenCountAt], &header.tokenCount, sizeof(header.tokenCount));
  std::memcpy(&bytes[TokenizerAt], header.tokenizer.data(), header.tokenizer.size());
  std::memcpy(&bytes[TokenizerHashAt], header.tokenizerHash.data(), header.tokenizerHash.size());
  std::memcpy(&bytes[PayloadHashAt], header.payloadHash.data(), header.payloadHash.size());
  Sha256Digest own = Sha256::of({bytes.data(), HeaderHashAt});
  std::memcpy(&bytes[HeaderHashAt], own.data(), own.size());
  return bytes;
}

// The length of the file against what its header promises.
static absl::Status checkLength(const TokenHeader &header, uint64_t found, const std::string &name) {
  uint64_t mostTokens = (UINT64_MAX - TokenHeaderBytes) / header.idBytes;
  if (header.tokenCount > mostTokens)
    return absl::InvalidArgumentError(absl::StrCat(name, ": the token count must be at most ", mostTokens,
                                                   " for ids of ", header.idBytes, " bytes, got ", header.tokenCount));
  uint64_t expected = TokenHeaderBytes + header.tokenCount * header.idBytes;
  if (found < expected)
    return absl::DataLossError(absl::StrCat(name, ": truncated, its header announces ", header.tokenCount,
                                            " tokens in ", expected, " bytes, found ", found, " bytes"));
  if (found > expected)
    return absl::DataLossError(absl::StrCat(name, ": bytes follow the last token, its header announces ",
                                            header.tokenCount, " tokens in ", expected, " bytes, found ", found,
                                            " bytes"));
  return absl::OkStatus();
}

// What a good checksum does not tell: that the writer kept to docs/data.md.
static absl::Status checkTokenizer(const TokenHeader &header, absl::Span<const uint8_t> field,
                                   const std::string &name) {
  auto zero = [](uint8_t byte) { return byte == 0; };
  if (header.tokenizer.empty())
    return absl::InvalidArgumentError(absl::StrCat(name, ": the tokenizer's name must not be empty"));
  if (!std::all_of(field.begin() + header.tokenizer.size(), field.end(), zero))
    return absl::InvalidArgumentError(absl::StrCat(name, ": the tokenizer's name must be filled up with zero bytes, ",
                                                   "got others behind \"", header.tokenizer, "\""));
  if (header.tokenizer == "bytes" && !std::all_of(header.tokenizerHash.begin(), header.tokenizerHash.end(), zero))
    return absl::InvalidArgumentError(absl::StrCat(name, ": the hash of the tokenizer's definition must be zero for ",
                                                   "\"bytes\", got ", toHex(header.tokenizerHash)));
  return absl::OkStatus();
}

absl::StatusOr<TokenHeader> decodeTokenHeader(absl::Span<const uint8_t> file, const std::string &name) {
  if (file.size() < sizeof(Magic) || std::memcmp(file.data(), Magic, sizeof(Magic)) != 0)
    return absl::InvalidArgumentError(absl::StrCat(name, ": not a token file (make one with `recipedata tokenize`)"));
  // The version comes before all else: a newer format may differ in everything that follows.
  uint32_t version = 0;
  if (file.size() >= VersionAt + sizeof(version))
    std::memcpy(&version, &file[VersionAt], sizeof(version));
  if (version > TokenFormatVersion)
    return absl::InvalidArgumentError(absl::StrCat(
        name, ": token file format ", version, " is newer than this program, which reads format ", TokenFormatVersion));
  if (file.size() < TokenHeaderBytes)
    return absl::DataLossError(absl::StrCat(name, ": truncated, the header takes ", TokenHeaderBytes, " bytes, found ",
                                            file.size(), " bytes"));
  if (version != TokenFormatVersion)
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": token file format must be ", TokenFormatVersion, ", got ", version));

  TokenHeader header;
  std::memcpy(&header.idBytes, &file[IdBytesAt], sizeof(header.idBytes));
  std::memcpy(&header.vocabSize, &file[VocabSizeAt], sizeof(header.vocabSize));
  std::memcpy(&header.tokenCount, &file[TokenCountAt], sizeof(header.tokenCount));
  std::memcpy(header.tokenizerHash.data(), &file[TokenizerHashAt], header.tokenizerHash.size());
  std::memcpy(header.payloadHash.data(), &file[PayloadHashAt], header.payloadHash.size());
  const char *tokenizer = reinterpret_cast<const char *>(&file[TokenizerAt]);
  header.tokenizer.assign(tokenizer, strnlen(tokenizer, TokenizerNameBytes));

  uint64_t largest = largestVocabulary(header.idBytes);
  if (largest == 0)
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": the id width must be 1, 2 or 4 bytes, got ", header.idBytes));
  if (header.vocabSize == 0 || header.vocabSize > largest)
    return absl::InvalidArgumentError(absl::StrCat(name, ": the vocabulary must be 1..", largest, " for ids of ",
                                                   header.idBytes, " bytes, got ", header.vocabSize));
  if (absl::Status status = checkLength(header, file.size(), name); !status.ok())
    return status;
  if (header.tokenCount == 0)
    return absl::InvalidArgumentError(absl::StrCat(name, ": empty, it holds no tokens"));

  Sha256Digest own = Sha256::of(file.subspan(0, HeaderHashAt));
  bool zeros = std::all_of(&file[ReservedAt], &file[0] + TokenHeaderBytes, [](uint8_t byte) { return byte == 0; });
  if (std::memcmp(own.data(), &file[HeaderHashAt], own.size()) != 0 || !zeros)
    return absl::DataLossError(absl::StrCat(name, ": the header is damaged, its SHA-256 is ", toHex(own),
                                            " and its reserved bytes are ", zeros ? "" : "not ", "zero"));
  if (absl::Status status = checkTokenizer(header, file.subspan(TokenizerAt, TokenizerNameBytes), name); !status.ok())
    return status;
  return header;
}

} // namespace recipe::rt
