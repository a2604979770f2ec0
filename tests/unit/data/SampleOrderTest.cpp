#include "runtime/data/SampleOrder.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <vector>

using namespace recipe::rt;

namespace {

std::vector<uint64_t> permutation(uint64_t size, uint64_t seed, uint64_t epoch) {
  std::vector<uint64_t> images(size);
  for (uint64_t i = 0; i < size; ++i)
    images[i] = permute(i, size, seed, epoch);
  return images;
}

void expectBijection(uint64_t size, uint64_t seed, uint64_t epoch) {
  std::vector<bool> seen(size);
  for (uint64_t image : permutation(size, seed, epoch)) {
    ASSERT_LT(image, size) << "size " << size << " seed " << seed << " epoch " << epoch;
    ASSERT_FALSE(seen[image]) << "size " << size << " seed " << seed << " epoch " << epoch;
    seen[image] = true;
  }
}

TEST(SampleOrder, EverySmallSizeIsPermuted) {
  for (uint64_t size = 1; size <= 1100; ++size)
    for (uint64_t key = 0; key < 3; ++key)
      expectBijection(size, key * 0x123456789abcdef, key);
}

TEST(SampleOrder, LargerSizesArePermuted) {
  for (uint64_t size : {4095, 4096, 4097, 65535, 65536, 65537, 99991, 262144, 262145})
    expectBijection(size, UINT64_MAX, 1'000'000'007);
}

TEST(SampleOrder, HugeSizesStayInside) {
  for (uint64_t size : {(uint64_t(1) << 40) + 1, uint64_t(1) << 62, UINT64_MAX})
    for (uint64_t index : {uint64_t(0), size / 2, size - 1})
      EXPECT_LT(permute(index, size, 5, 6), size);
}

// A change here would make every resumed run see other samples: it needs a new name for the order, not new numbers.
TEST(SampleOrder, IsFrozen) {
  EXPECT_EQ(permutation(10, 0, 0), (std::vector<uint64_t>{3, 9, 8, 1, 2, 5, 7, 6, 0, 4}));
  EXPECT_EQ(permutation(10, 42, 0), (std::vector<uint64_t>{7, 2, 4, 5, 9, 8, 6, 0, 3, 1}));
  EXPECT_EQ(permutation(10, 42, 1), (std::vector<uint64_t>{0, 2, 1, 4, 9, 6, 5, 3, 7, 8}));
  EXPECT_EQ(permute(123456789, 1'000'000'007, 42, 3), 114569995u);
}

TEST(SampleOrder, SeedAndEpochBothCount) {
  EXPECT_NE(permutation(100, 1, 0), permutation(100, 2, 0));
  EXPECT_NE(permutation(100, 1, 0), permutation(100, 1, 1));
  EXPECT_NE(permutation(100, 1, 1), permutation(100, 2, 0));
}

// Over many seeds each index reaches each place about equally often: 15 degrees of freedom, the bound is p = 1e-6.
TEST(SampleOrder, PlacesAreUniform) {
  constexpr int Size = 16, Seeds = 8000;
  for (uint64_t index : {0, 7, 15}) {
    std::vector<double> counts(Size);
    for (uint64_t seed = 0; seed < Seeds; ++seed)
      ++counts[permute(index, Size, seed, 0)];
    double chiSquare = 0, expected = double(Seeds) / Size;
    for (double count : counts)
      chiSquare += (count - expected) * (count - expected) / expected;
    EXPECT_LT(chiSquare, 60) << "index " << index;
  }
}

// Neighbours must not stay neighbours: a random permutation keeps about two of 5000 successors.
TEST(SampleOrder, NeighboursPart) {
  std::vector<uint64_t> images = permutation(5000, 9, 0);
  int kept = 0;
  for (size_t i = 1; i < images.size(); ++i)
    kept += images[i] == images[i - 1] + 1;
  EXPECT_LE(kept, 10);
  uint64_t firstHalf = std::accumulate(images.begin(), images.begin() + 2500, uint64_t(0));
  EXPECT_NEAR(double(firstHalf) / 2500, 2500, 150);
}

TEST(SampleOrder, EpochsFollowEachOther) {
  SampleOrder order(7, 3, true);
  std::vector<std::vector<uint64_t>> epochs;
  for (uint64_t epoch = 0; epoch < 4; ++epoch) {
    std::vector<uint64_t> windows(7);
    for (uint64_t i = 0; i < 7; ++i)
      windows[i] = order.window(epoch * 7 + i);
    EXPECT_EQ(windows, permutation(7, 3, epoch));
    epochs.push_back(windows);
  }
  EXPECT_NE(epochs[0], epochs[1]);
  EXPECT_NE(epochs[1], epochs[2]);
}

TEST(SampleOrder, WithoutShuffleInTheOrderOfTheText) {
  SampleOrder order(5, 3, false);
  for (uint64_t sample = 0; sample < 23; ++sample)
    EXPECT_EQ(order.window(sample), sample % 5);
}

} // namespace
