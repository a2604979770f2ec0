// What mpirun says when it cannot start the ranks, in our words.
#ifndef RUNTIME_TOOLS_MPIRUNTROUBLE_H
#define RUNTIME_TOOLS_MPIRUNTROUBLE_H
#include <optional>
#include <string>

namespace recipe::rt {

/// What is wrong and what to do, of a text of mpirun's in one line; nothing: a text that is not known.
std::optional<std::string> mpirunTrouble(const std::string &text);

} // namespace recipe::rt
#endif
