// Text that others wrote, for a terminal.
#ifndef RUNTIME_BASE_PRINTABLE_H
#define RUNTIME_BASE_PRINTABLE_H
#include "absl/strings/string_view.h"
#include <string>

namespace recipe::rt {

/// The text with every control character and every byte that is not UTF-8 as \x and two digits: printing it moves no
/// cursor, changes no title and breaks no line.
std::string printable(absl::string_view text);

} // namespace recipe::rt
#endif
