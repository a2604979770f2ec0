// What is in a step.bin, as text.
#ifndef COMPILER_TOOLS_INSPECT_H
#define COMPILER_TOOLS_INSPECT_H

#include "absl/status/status.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace recipe {

// Prints nothing of a file that the loader would not take on each of its numbers of ranks. With `instructions`, every
// launch and its buffers.
absl::Status inspectStep(const std::string &path, bool instructions, llvm::raw_ostream &out);

} // namespace recipe
#endif
