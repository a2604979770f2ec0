// What this compiler is, for --version and for the manifest of a step.bin.
#ifndef COMPILER_VERSION_H
#define COMPILER_VERSION_H

#include <string>

namespace recipe {

// "recipec 0.1.0, LLVM 22.1.8"
std::string producer();

// The producer and what it compiles for, several lines.
std::string versionText();

} // namespace recipe
#endif
