#include "runtime/data/TokenFile.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace recipe::rt {

absl::StatusOr<TokenFile> TokenFile::open(const std::string &path) {
  absl::StatusOr<MappedFile> map = MappedFile::open(path);
  if (!map.ok())
    return map.status();
  absl::StatusOr<TokenHeader> head = decodeTokenHeader(map->bytes(), path);
  if (!head.ok())
    return head.status();
  return TokenFile(*std::move(map), *std::move(head), path);
}

// Widens `count` ids to int32 and returns how many lead the first one that is outside the vocabulary.
template <typename Id> static uint64_t widen(const uint8_t *stored, uint64_t count, uint64_t vocabSize, int32_t *out) {
  uint64_t bad = count;
  for (uint64_t i = count; i-- > 0;) {
    Id id;
    std::memcpy(&id, stored + i * sizeof(Id), sizeof(Id));
    out[i] = static_cast<int32_t>(id);
    bad = id < vocabSize ? bad : i;
  }
  return bad;
}

absl::Status TokenFile::read(uint64_t begin, uint64_t count, int32_t *out) const {
  if (begin > head.tokenCount || count > head.tokenCount - begin)
    return absl::OutOfRangeError(
        absl::StrCat(name, ": tokens must lie in 0..", head.tokenCount, ", got ", count, " tokens from ", begin));
  const uint8_t *stored = payload().data() + begin * head.idBytes;
  uint64_t good = count;
  switch (head.idBytes) {
  case 1:
    good = widen<uint8_t>(stored, count, head.vocabSize, out);
    break;
  case 2:
    good = widen<uint16_t>(stored, count, head.vocabSize, out);
    break;
  default: // 4: the header was checked
    good = widen<uint32_t>(stored, count, head.vocabSize, out);
    break;
  }
  if (good < count)
    return absl::DataLossError(absl::StrCat(name, ": token ", begin + good, ": the id must be below the vocabulary of ",
                                            head.vocabSize, ", got ", static_cast<uint32_t>(out[good])));
  return absl::OkStatus();
}

absl::Status TokenFile::verify() const {
  Sha256Digest found = Sha256::of(payload());
  if (found != head.payloadHash)
    return absl::DataLossError(absl::StrCat(name, ": the tokens are damaged, their SHA-256 must be ",
                                            toHex(head.payloadHash), ", got ", toHex(found)));
  std::vector<int32_t> ids(1 << 16);
  for (uint64_t begin = 0; begin < head.tokenCount; begin += ids.size()) {
    uint64_t count = std::min<uint64_t>(ids.size(), head.tokenCount - begin);
    if (absl::Status status = read(begin, count, ids.data()); !status.ok())
      return status;
  }
  return absl::OkStatus();
}

} // namespace recipe::rt
