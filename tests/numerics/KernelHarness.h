// Runs one train op, or a region of several, as native kernels (kernel rule, code generation, linking, all in this
// process) and compares every bit of its results and of the step's scalars with the reference meaning in mode exact.
//
// A table test adds cases: an op, the types of its operands and results, and how the operands are filled.
#ifndef TESTS_NUMERICS_KERNELHARNESS_H
#define TESTS_NUMERICS_KERNELHARNESS_H

#include "dialects/step/TargetInfo.h"
#include "dialects/train/Reference.h"
#include "llvm/ADT/ArrayRef.h"
#include <functional>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

namespace recipe::test {

using Random = std::mt19937_64;
using Fill = std::function<void(train::HostTensor &, Random &)>;

// Values around 0 with this spread; a few are zeros of both signs and denormals.
Fill normal(double spread = 1.0);
// Values in [low, high).
Fill uniform(double low, double high);
Fill constant(double value);
// Any bits with an exponent field in [low, high]: 0: zeros and what is not normal, 255: infinities and NaNs.
Fill exponents(uint32_t low, uint32_t high);
// Integers in 0..limit-1; each is -1 with probability `invalid`.
Fill ids(int64_t limit, double invalid = 0.0);

struct KernelOperand {
  std::string type; // "2x3x17xf32"; a bf16 operand is rounded after it is filled
  Fill fill = normal();
};

struct KernelCase {
  std::string name;       // CamelCase, unique in its table
  std::string op;         // "train.add"
  std::string attributes; // "p = 0.1 : f64, dropout_id = 7 : i64", as in textual IR, operandSegmentSizes included
  std::vector<KernelOperand> operands;
  std::vector<std::string> results;
  std::function<void(rcp_step_params_v1 &)> params = {};
  // Changes operands that depend on each other, after all are filled.
  std::function<void(std::vector<train::HostTensor> &)> prepare = {};
  // Of a region of several ops, instead of `op` and `attributes`: its ops as text, with operands %x0, %x1, ..., and the
  // values that it gives.
  std::string body = {};
  std::vector<std::string> yields = {};
};

// A line of a body: "%NAME = train.OP %operands {attributes} : types"; names without %, types without tensor<>.
std::string regionOp(const std::string &results, const std::string &op, const std::vector<std::string> &operands,
                     const std::string &attributes, const std::vector<std::string> &operandTypes,
                     const std::vector<std::string> &resultTypes);

inline void PrintTo(const KernelCase &c, std::ostream *out) { *out << c.name; }

// Fails the running test where native code and reference differ. Workgroups run in both orders; every pair of result
// and operand that may share storage is tried. Memory is surrounded by guard pages: an access outside a tensor crashes.
void expectNativeIsExact(const KernelCase &kernelCase, const step::TargetInfo &target);

// An integer in the specification of the op's first launch.
int64_t specOf(const KernelCase &kernelCase, const step::TargetInfo &target, const char *name);

// The op's kernels compile for the target; they are not run.
void expectCompiles(const KernelCase &kernelCase, const step::TargetInfo &target);

// The kernels of all cases in one ELF shared object: that of a case's launch i has the symbol NAME.i; launches of equal
// kernels share the first one's. Empty where the test has failed. No case may be a region of elementwise ops only.
std::string compileTogether(llvm::ArrayRef<KernelCase> cases, const step::TargetInfo &target);

} // namespace recipe::test
#endif
