// Places for random and for typical lifetimes: never on each other's bytes, aligned, repeatable, and close to what
// lives at once.
#include "passes/plan/OffsetAssignment.h"
#include <gtest/gtest.h>
#include <random>

using namespace recipe::plan;

namespace {

void expectSound(const std::vector<Lifetime> &lives, const OffsetAssignment &plan) {
  ASSERT_EQ(plan.offsets.size(), lives.size());
  int64_t end = 0;
  for (size_t i = 0; i < lives.size(); ++i) {
    EXPECT_GE(plan.offsets[i], 0);
    EXPECT_EQ(plan.offsets[i] % alignmentOf(lives[i].bytes), 0);
    end = std::max(end, plan.offsets[i] + lives[i].bytes);
    for (size_t j = 0; j < i; ++j) {
      bool together = lives[i].first <= lives[j].last && lives[j].first <= lives[i].last;
      bool apart =
          plan.offsets[i] + lives[i].bytes <= plan.offsets[j] || plan.offsets[j] + lives[j].bytes <= plan.offsets[i];
      EXPECT_TRUE(!together || apart) << i << " and " << j;
    }
  }
  EXPECT_EQ(end, plan.bytes);
}

// What lives at each time, counted one by one.
int64_t peakByCounting(const std::vector<Lifetime> &lives) {
  int64_t peak = 0;
  for (const Lifetime &at : lives) {
    int64_t live = 0;
    for (const Lifetime &life : lives)
      if (life.first <= at.first && at.first <= life.last)
        live += alignTo(life.bytes, 64);
    peak = std::max(peak, live);
  }
  return peak;
}

std::vector<Lifetime> randomLives(uint32_t seed, int64_t count) {
  std::mt19937 random(seed);
  auto below = [&](uint32_t n) { return int64_t(random() % n); };
  std::vector<Lifetime> lives;
  for (int64_t i = 0; i < count; ++i) {
    int64_t bytes = below(4) ? 1 + below(5000) : 1 + below(400000), first = below(uint32_t(count));
    int64_t length = below(3) ? below(4) : below(uint32_t(count));
    lives.push_back({bytes, first, first + length});
  }
  return lives;
}

// A model of `layers` layers: each keeps some values from forward for backward and has short-lived ones in both.
std::vector<Lifetime> trainingLives(int64_t layers) {
  std::vector<Lifetime> lives;
  const int64_t kept[] = {1 << 20, 3 << 20, 1 << 12, 1 << 20, 4 << 20}, steps = 8;
  int64_t end = 2 * layers * steps;
  for (int64_t layer = 0; layer < layers; ++layer) {
    int64_t forward = layer * steps, backward = end - (layer + 1) * steps;
    for (int64_t i = 0; i < 5; ++i)
      lives.push_back({kept[i], forward + i, backward + steps - 1 - i});
    lives.push_back({2 << 20, forward + 1, forward + 2});
    lives.push_back({4 << 20, backward + 1, backward + 3});
    lives.push_back({1 << 20, backward + 2, backward + 8});
  }
  return lives;
}

} // namespace

TEST(OffsetAssignment, EmptyProgramTakesNothing) {
  EXPECT_EQ(assignOffsets({}).bytes, 0);
  EXPECT_EQ(peakOf({}).bytes, 0);
}

TEST(OffsetAssignment, NeighboursInTimeShareBytes) {
  OffsetAssignment plan = assignOffsets({{100, 0, 1}, {100, 2, 3}, {100, 4, 4}});
  EXPECT_EQ(plan.bytes, 100);
  plan = assignOffsets({{100, 0, 2}, {100, 2, 3}}); // read and written by one kernel
  EXPECT_EQ(plan.bytes, 228);
}

TEST(OffsetAssignment, RandomLivesAreSoundAndTight) {
  double worst = 0;
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    std::vector<Lifetime> lives = randomLives(seed, 20 + seed * 5);
    OffsetAssignment plan = assignOffsets(lives);
    expectSound(lives, plan);
    Peak peak = peakOf(lives);
    EXPECT_EQ(peak.bytes, peakByCounting(lives)) << seed;
    EXPECT_GE(plan.bytes + 64, peak.bytes); // the peak rounds the last value up
    worst = std::max(worst, double(plan.bytes) / double(peak.bytes));
  }
  RecordProperty("worst_ratio", std::to_string(worst));
  EXPECT_LT(worst, 1.12);
}

TEST(OffsetAssignment, TrainingReachesTheLowerBound) {
  for (int64_t layers : {1, 4, 12, 32}) {
    std::vector<Lifetime> lives = trainingLives(layers);
    OffsetAssignment plan = assignOffsets(lives);
    expectSound(lives, plan);
    EXPECT_LE(double(plan.bytes), 1.02 * double(peakOf(lives).bytes)) << layers;
  }
}

TEST(OffsetAssignment, SameLivesSamePlaces) {
  std::vector<Lifetime> lives = randomLives(7, 300);
  EXPECT_EQ(assignOffsets(lives).offsets, assignOffsets(lives).offsets);
}
