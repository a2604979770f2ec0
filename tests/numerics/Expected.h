// What an op should give, from a definition written for the test alone: values in double precision, the sum of the
// magnitudes that meet in each value, and the length of its longest chain. Mode fp64 must agree to rounding, mode exact
// within max(8, sqrt(chain)) * 2^-24 * terms (and what flushing denormal intermediate results loses).
#ifndef TESTS_NUMERICS_EXPECTED_H
#define TESTS_NUMERICS_EXPECTED_H

#include "tests/numerics/OpGraph.h"

namespace recipe::test {

struct Expected {
  Expected() = default;
  Expected(llvm::ArrayRef<int64_t> shape, int64_t chain) : value(zeros(shape)), terms(zeros(shape)), chain(chain) {}
  void add(int64_t index, double term, double magnitude) {
    value.f64[index] += term;
    terms.f64[index] += magnitude;
  }
  void add(int64_t index, double term) { add(index, term, std::abs(term)); }
  void set(int64_t index, double result, double magnitude) {
    value.f64[index] = result;
    terms.f64[index] = magnitude;
  }

  HostTensor value, terms;
  int64_t chain = 1;
};

// Runs graph "forward" in both modes and compares what it wrote; every output must be expected.
void expectMeaning(OpGraph &ops, const Values &inputs, const std::map<std::string, Expected> &expected,
                   const rcp_step_params_v1 &params = {});

} // namespace recipe::test
#endif
