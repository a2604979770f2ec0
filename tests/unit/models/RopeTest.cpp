// Inverse frequencies against numbers worked out with Python's floats from the formulas of transformers'
// modeling_rope_utils.
#include "models/Rope.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace recipe::models;

namespace {

struct Expected {
  int64_t index;
  double value;
};

void expectFrequencies(const std::vector<double> &actual, std::initializer_list<Expected> expected) {
  for (const Expected &e : expected)
    EXPECT_NEAR(actual[size_t(e.index)], e.value, 1e-15 * e.value) << e.index;
}

TEST(InverseFrequencies, Default) {
  std::vector<double> frequencies = inverseFrequencies(RopeConfig{10000, {}}, 128);
  EXPECT_EQ(frequencies.size(), 64u);
  expectFrequencies(frequencies,
                    {{0, 1.0}, {1, 0.8659643233600653}, {33, 0.008659643233600653}, {63, 0.00011547819846894582}});
}

TEST(InverseFrequencies, LinearDivides) {
  RopeConfig plain{10000, {}}, linear{10000, {RopeScaling::Type::Linear, 4, 1, 4, 8192}};
  std::vector<double> a = inverseFrequencies(plain, 32), b = inverseFrequencies(linear, 32);
  for (size_t i = 0; i < a.size(); ++i)
    EXPECT_EQ(b[i], a[i] / 4);
}

// Llama-3.2-1B: pairs up to 14 keep their wavelength, 15 to 17 are blended, the rest is 32 times longer.
TEST(InverseFrequencies, Llama3BlendsBetweenTheBounds) {
  std::vector<double> frequencies = inverseFrequencies({500000, {RopeScaling::Type::Llama3, 32, 1, 4, 8192}}, 64);
  expectFrequencies(frequencies, {{0, 1.0},
                                  {1, 0.6636012376960885},
                                  {14, 0.0032114459947525913},
                                  {15, 0.001290547928209264},
                                  {16, 0.00042955679655936815},
                                  {17, 9.70828780262767e-05},
                                  {18, 1.9461638184831125e-05},
                                  {31, 9.418306725434909e-08}});
}

} // namespace
