// The large recipes compile, without their data and on any machine, and say what they need.
#include "tests/e2e/Workspace.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <sys/resource.h>

namespace recipe::test {

namespace {

struct Large {
  const char *name;
  int64_t parameters;
  std::vector<int64_t> ranks;
};

struct RecipesCompileTest : testing::TestWithParam<Large> {};

} // namespace

TEST_P(RecipesCompileTest, PrintsItsCertificate) {
  const Large &large = GetParam();
  Workspace space;
  std::string recipe = RECIPEC_SOURCE_DIR "/recipes/" + std::string(large.name) + ".recipe";
  Outcome outcome = space.must("recipec compile " + recipe + " -o step.bin");
  for (const char *part : {"\nmemory of one rank, MiB\n", "\nat its peak, MiB\n", "\nstep.bin: "})
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << "\n" << outcome.out;
  std::printf("%s", outcome.out.substr(outcome.out.find("\nstep.bin: ") + 1).c_str());

  abi::Step step = space.step("step.bin");
  EXPECT_EQ(step.manifest().parameter_count(), large.parameters);
  EXPECT_EQ(std::vector<int64_t>(step.manifest().legal_ranks().begin(), step.manifest().legal_ranks().end()),
            large.ranks);
  ASSERT_EQ(size_t(step.certificate().rows_size()), large.ranks.size());
  for (const auto &row : step.certificate().rows()) {
    uint64_t sum = 0;
    for (const auto &category : row.categories())
      sum += category.bytes();
    EXPECT_EQ(sum, row.total_bytes());
    // Weights, one gradient and the two moments, 4 bytes each, are the least that can be.
    EXPECT_GE(row.total_bytes(), uint64_t(16 * large.parameters));
  }
}

// As many segments as there may be, and as many samples in a micro-batch: the kernels sum them in loops. (Unrolled
// trees once made code generation take minutes.)
TEST(ManySegments, CodeKeepsItsSize) {
  Workspace space;
  std::string compile = "recipec compile " RECIPEC_SOURCE_DIR "/recipes/quickstart.recipe";
  space.must(compile + " -o few.bin");
  space.must(compile + " --set numerics.segments=16 --set numerics.batch_segments=64 --set data.batch_size=64" +
             " -o many.bin");
  size_t few = space.step("few.bin").objects(0).data().size();
  size_t many = space.step("many.bin").objects(0).data().size();
  EXPECT_GT(few, 50000u);
  EXPECT_LT(many, few + few / 2);
}

// Sizes of blocks are not tried one by one, nor with each of K's steps, and a table of positions is not computed for
// its size: either took 10 seconds or more.
TEST(ManySegments, HugeConfigsAreCheckedQuickly) {
  struct Huge {
    const char *name, *vocabulary;
    std::string positions;
    const char *constants; // MiB
  };
  for (const Huge &huge :
       {Huge{"vocabulary", "2147483647", "64", " 0.01 "}, {"positions", "256", "16777216", " 2048.00 "}}) {
    Workspace space;
    space.files().write("config.json", "{\"model_type\": \"llama\", \"hidden_size\": 32, \"intermediate_size\": 64, "
                                       "\"num_hidden_layers\": 1, \"num_attention_heads\": 1, \"vocab_size\": " +
                                           std::string(huge.vocabulary) +
                                           ", \"max_position_embeddings\": " + huge.positions + "}");
    auto cpuSeconds = [] {
      rusage used;
      getrusage(RUSAGE_CHILDREN, &used);
      return double(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
             1e-6 * double(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
    };
    double before = cpuSeconds();
    Outcome outcome =
        space.must("recipec check llama.recipe --set model.config_path=config.json --set data.batch_size=1 "
                   "--set data.seq_length=" +
                   huge.positions);
    EXPECT_LT(cpuSeconds() - before, 5) << huge.name;
    EXPECT_NE(outcome.out.find(huge.constants), std::string::npos) << outcome.out;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Recipes, RecipesCompileTest,
    testing::Values(Large{"llama7b", 6738415616, {1, 2, 4, 8}}, Large{"gpt2-124m", 124439808, {1, 2}},
                    Large{"llama-3.2-1b", 1235814400, {1, 2, 4, 8}}, Large{"llama-110m", 112678656, {1, 2}}),
    [](const auto &info) {
      std::string name = info.param.name;
      name.erase(std::remove_if(name.begin(), name.end(), [](char c) { return c == '-' || c == '.'; }), name.end());
      return name;
    });

} // namespace recipe::test
