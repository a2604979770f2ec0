// Elsewhere: rotary phases in a small number format, wrong by up to half a turn at position 4096. Here: the tables of a
// step.bin are right in every bit that f32 has, at any position.
#include "tests/e2e/Workspace.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

namespace recipe::test {

namespace {

constexpr int64_t kPositions = 131072, kHeadSize = 16;

/// Inverse frequency of a pair, in extended precision, from the formulas of the models' papers.
long double plain(int64_t pair) { return std::pow(500000.0L, -2.0L * pair / kHeadSize); }

/// Wavelengths up to 8192 / 4 stay, above 8192 / 1 they are 32 times longer, between them there is a straight line.
long double llama3(int64_t pair) {
  long double f = plain(pair), turns = 8192 * f / (2 * std::acos(-1.0L));
  if (turns > 4)
    return f;
  if (turns < 1)
    return f / 32;
  long double smooth = (turns - 1) / (4 - 1);
  return (1 - smooth) * f / 32 + smooth * f;
}

/// The f32 constants of [kPositions, kHeadSize / 2] elements: cosines and sines.
std::vector<std::vector<float>> tables(const abi::Step &step) {
  std::vector<std::vector<float>> result;
  for (const abi::Constant &constant : step.constants())
    if (constant.data().size() == sizeof(float) * kPositions * kHeadSize / 2) {
      std::vector<float> values(constant.data().size() / sizeof(float));
      std::memcpy(values.data(), constant.data().data(), constant.data().size());
      result.push_back(std::move(values));
    }
  return result;
}

void expectTables(const std::string &options, long double (*frequency)(int64_t)) {
  Workspace space;
  space.must("recipec compile llama.recipe -o step.bin --set data.seq_length=131072 --set data.batch_size=1 --set "
             "model.config.max_position_embeddings=131072 --set model.config.num_hidden_layers=1 --set "
             "model.config.head_dim=16 --set model.config.rope_theta=500000 " +
             options);
  std::vector<std::vector<float>> found = tables(space.step("step.bin"));
  ASSERT_EQ(found.size(), 2u);
  long double worst = 0;
  for (int64_t position : {0, 1, 4096, 65537, 131070, 131071})
    for (int64_t pair = 0; pair < kHeadSize / 2; ++pair) {
      size_t element = size_t(position * kHeadSize / 2 + pair);
      long double angle = position * frequency(pair);
      long double error =
          std::max(std::abs(found[0][element] - std::cos(angle)), std::abs(found[1][element] - std::sin(angle)));
      EXPECT_LT(error, 1e-6L) << "position " << position << ", pair " << pair;
      worst = std::max(worst, error);
    }
  std::printf("largest error %.2Lg\n", worst);
  EXPECT_EQ(found[0][0], 1.0f);
}

} // namespace

TEST(Pitfall19, RotaryTablesAreExactAtTheLastPosition) { expectTables("", plain); }

TEST(Pitfall19, ScaledRotaryTablesToo) {
  expectTables("--set model.config.rope_scaling='{rope_type: llama3, factor: 32, low_freq_factor: 1, high_freq_factor: "
               "4, original_max_position_embeddings: 8192}'",
               llama3);
}

} // namespace recipe::test
