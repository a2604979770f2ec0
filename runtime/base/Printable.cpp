#include "runtime/base/Printable.h"
#include "absl/strings/str_cat.h"

using namespace recipe;

/// Bytes of the UTF-8 sequence that the text begins with; 0: none.
static size_t sequenceLength(absl::string_view text) {
  auto lead = static_cast<unsigned char>(text[0]);
  size_t length = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
  if (length > text.size())
    return 0;
  for (size_t i = 1; i < length; ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80)
      return 0;
  return length;
}

/// Of one sequence: C0, DEL, and C1, which terminals obey as well.
static bool isControl(absl::string_view sequence) {
  auto first = static_cast<unsigned char>(sequence[0]);
  if (sequence.size() == 1)
    return first < 0x20 || first == 0x7F;
  return first == 0xC2 && static_cast<unsigned char>(sequence[1]) < 0xA0;
}

std::string rt::printable(absl::string_view text) {
  std::string result;
  while (!text.empty()) {
    size_t length = sequenceLength(text);
    absl::string_view sequence = text.substr(0, length ? length : 1);
    if (length && !isControl(sequence))
      absl::StrAppend(&result, sequence);
    else
      for (char byte : sequence)
        absl::StrAppend(&result, "\\x", absl::Hex(static_cast<unsigned char>(byte), absl::kZeroPad2));
    text.remove_prefix(sequence.size());
  }
  return result;
}
