// Variables of the interpreter as tensors of a Hugging Face model, in a safetensors file.
#ifndef COMPILER_TOOLS_DUMPTENSORS_H
#define COMPILER_TOOLS_DUMPTENSORS_H

#include "absl/status/status.h"
#include "compiler/interp/Interpreter.h"
#include <string>

namespace recipe {

// Current parameters: F64 in mode fp64, F32 in mode exact.
absl::Status dumpParameters(const interp::Interpreter &interpreter, const std::string &path);

// Gradients of the mean loss, before clipping, F64: position segments and uses summed in the precision of the mode,
// divided in fp64 by the valid tokens of the step that ran last.
absl::Status dumpGradients(const interp::Interpreter &interpreter, const std::string &path);

} // namespace recipe
#endif
