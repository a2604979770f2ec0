#include "tests/numerics/Expected.h"
#include <gtest/gtest.h>

using namespace recipe::test;

void recipe::test::expectMeaning(OpGraph &ops, const Values &inputs, const std::map<std::string, Expected> &expected,
                                 const rcp_step_params_v1 &params) {
  Values fp64 = run(ops, "forward", ReferenceMode::Fp64, inputs, params);
  Values exact = run(ops, "forward", ReferenceMode::Exact, inputs, params);
  ASSERT_EQ(fp64.size(), expected.size());
  for (const auto &[name, want] : expected) {
    ASSERT_TRUE(fp64.count(name)) << name;
    ASSERT_EQ(fp64[name].shape, want.value.shape) << name;
    ASSERT_EQ(exact[name].shape, want.value.shape) << name;
    double factor = std::max(8.0, std::sqrt(double(want.chain))) * 0x1p-24;
    for (int64_t i = 0, n = want.value.size(); i < n; ++i) {
      double value = want.value.f64[i], terms = want.terms.f64[i];
      ASSERT_NEAR(fp64[name].f64[i], value, 1e-13 * double(want.chain + 8) * terms) << name << "[" << i << "]";
      ASSERT_NEAR(exact[name].f32[i], fp64[name].f64[i], factor * terms + 0x1p-110) << name << "[" << i << "]";
    }
  }
}
