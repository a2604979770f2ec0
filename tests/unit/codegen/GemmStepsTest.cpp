// passes/GemmStepCounts.h against the steps themselves.
#include "dialects/train/Segments.h"
#include "passes/GemmStepCounts.h"
#include <gtest/gtest.h>
#include <random>

using namespace recipe;

namespace {

struct Case {
  train::SegmentList segments;
  int64_t pairs, kBlock;
  GemmOperands operands;
  int64_t sample, subtrees;
};

GemmStepCounts countsOf(const Case &c) { return {c.segments, c.pairs, c.kBlock, c.operands, c.sample, c.subtrees}; }

void expectSame(const Case &c) {
  GemmSteps steps(c.segments, c.pairs, c.kBlock, /*accumulator=*/false, c.operands, c.sample, c.subtrees);
  GemmStepCounts counts = countsOf(c);
  EXPECT_EQ(counts.steps, int64_t(steps.steps.size()));
  EXPECT_EQ(counts.groups, int64_t(steps.groups.size()) - 1);
  EXPECT_EQ(counts.levels(), steps.levels());
  EXPECT_EQ(counts.crossingLevels(), steps.crossingLevels());
  EXPECT_EQ(counts.oneStepEach(), steps.oneStepEach());
}

Case randomCase(std::mt19937_64 &random) {
  auto below = [&](int64_t limit) { return int64_t(random() % uint64_t(limit)); };
  Case c{{}, 1 + below(3), 0, GemmOperands(below(5)), 0, int64_t(1) << below(3)};
  c.kBlock = areTiles(c.operands) ? 1 + below(40) : 8 * (1 + below(20));
  if (areTiles(c.operands) && below(2))
    c.sample = 1 + below(200);
  int64_t segments = c.subtrees << below(4), longest = int64_t(1) << (1 + below(13));
  llvm::SmallVector<int64_t> end(size_t(c.pairs), 0);
  for (int64_t segment = 0; segment < segments; ++segment)
    for (int64_t &each : end) {
      c.segments.push_back(each);
      each += below(4) ? below(longest) : 0;
      c.segments.push_back(each);
    }
  return c;
}

TEST(GemmSteps, CountsAreThoseOfTheSteps) {
  std::mt19937_64 random(20);
  for (int i = 0; i < 20000 && !testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE(i);
    expectSame(randomCase(random));
  }
}

// Every chain lies in a step of its own, and as many steps are one short as it takes: counted one by one this took
// seconds for each size of blocks.
TEST(GemmSteps, CountsOfLongChainsAreQuick) {
  constexpr int64_t kTerms = int64_t(1) << 40;
  for (int64_t i = 0; i < 10000; ++i) {
    GemmStepCounts counts = countsOf({train::equalSegments(kTerms, 8), 1, 512, GemmOperands::F32, 0, 4});
    ASSERT_EQ(counts.steps, kTerms / 512);
    ASSERT_EQ(counts.groups, kTerms / 512);
    ASSERT_EQ(counts.crossingLevels(), 2);
  }
}

} // namespace
