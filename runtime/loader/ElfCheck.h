// Is this a shared object that is safe to hand to the dynamic loader?
#ifndef RUNTIME_LOADER_ELFCHECK_H
#define RUNTIME_LOADER_ELFCHECK_H
#include "absl/types/span.h"
#include "runtime/base/Status.h"
#include <cstdint>

namespace recipe::rt {

/// The dynamic loader trusts what it maps. Everything that it follows is checked here: headers, segments, the dynamic
/// table, symbols, hash table and relocations lie inside the file; nothing runs at load time; nothing is imported.
absl::Status checkElf(absl::Span<const uint8_t> file);

} // namespace recipe::rt
#endif
