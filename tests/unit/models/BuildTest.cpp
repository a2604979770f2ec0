// The published configs load, verify, and have the published numbers of parameters.
#include "tests/unit/models/Build.h"
#include <ctime>

using namespace recipe;
using namespace recipe::models;

namespace {

struct Published {
  const char *type, *config;
  int64_t parameters;
};

class PublishedConfig : public testing::TestWithParam<Published> {};

train::StepFacts facts(int64_t batch, int64_t length) {
  train::StepFacts facts;
  facts.batchSize = batch;
  facts.seqLength = length;
  facts.globalBatch = 8 * batch;
  return facts;
}

TEST_P(PublishedConfig, LoadsAndVerifiesWithinASecond) {
  std::string config = readText(std::string(RECIPEC_SOURCE_DIR) + "/recipes/configs/" + GetParam().config);
  std::clock_t start = std::clock();
  Built built(GetParam().type, config, facts(4, 1024));
  ASSERT_EQ(built.problemTexts(), std::vector<std::string>());
  EXPECT_TRUE(succeeded(mlir::verify(*built.module)));
  EXPECT_LT(double(std::clock() - start) / CLOCKS_PER_SEC, 1.0);
  EXPECT_EQ(parameterCount(*built.module), GetParam().parameters);
}

INSTANTIATE_TEST_SUITE_P(All, PublishedConfig,
                         testing::Values(Published{"gpt2", "gpt2.json", 124439808},
                                         Published{"llama", "llama-2-7b.json", 6738415616},
                                         Published{"llama", "llama-3.2-1b.json", 1235814400}),
                         [](const auto &info) {
                           std::string name = info.param.config;
                           std::replace_if(name.begin(), name.end(), [](char c) { return !isalnum(c); }, '_');
                           return name;
                         });

} // namespace
