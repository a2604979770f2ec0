// Compiled steps run in this process, for tests that look inside.
#ifndef TESTS_NUMERICS_NATIVERUN_H
#define TESTS_NUMERICS_NATIVERUN_H

#include "runtime/data/TextData.h"
#include "runtime/executor/Executor.h"
#include <map>
#include <string>
#include <vector>

namespace recipe::test {

/// Values of a tensor of a Hugging Face model, row-major.
using TensorMap = std::map<std::string, std::vector<double>>;

/// Null after a test failure. Threads as many as CPUs, at most two.
std::unique_ptr<rt::Executor> openStep(const std::string &path, const std::vector<std::string> &sets = {});

/// A token file in the sizes of a step.
rt::TextDataOptions dataOptions(const std::string &tokens, const abi::Manifest &manifest);

/// The windows of a token file in their order, in the sizes of a step.
rt::TextData openTraining(const std::string &tokens, const abi::Manifest &manifest);

/// F32 and F64 tensors of a safetensors file; a test failure if it cannot be read.
TensorMap readTensors(const std::string &path);

/// The gradients of the mean loss before clipping, as the update sees them: position segments and uses are added in
/// f32; only the division by the step's valid tokens is in fp64.
TensorMap nativeGradients(rt::Executor &executor);

/// Square root of the sum of squares.
double norm(const std::vector<double> &values);
double distance(const std::vector<double> &a, const std::vector<double> &b);
/// Of all tensors together.
double norm(const TensorMap &tensors);

} // namespace recipe::test

#endif // TESTS_NUMERICS_NATIVERUN_H
