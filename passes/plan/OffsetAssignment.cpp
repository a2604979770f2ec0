#include "passes/plan/OffsetAssignment.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <functional>
#include <limits>
#include <numeric>
#include <tuple>

namespace recipe::plan {

static constexpr int64_t kLine = 64, kPage = 4096, kLarge = 64 << 10;
// Bounds the search for a better order: steps of the innermost loop, and rounds.
static constexpr int64_t kWork = 100 << 20, kMostRounds = 100;

int64_t alignTo(int64_t offset, int64_t alignment) { return (offset + alignment - 1) / alignment * alignment; }

int64_t alignmentOf(int64_t bytes) { return bytes >= kLarge ? kPage : kLine; }

Peak peakOf(llvm::ArrayRef<Lifetime> lifetimes) {
  llvm::SmallVector<std::pair<int64_t, int64_t>>
      changes; // (time, bytes); a value ends before another one begins at last + 1
  for (const Lifetime &life : lifetimes) {
    changes.push_back({life.first, alignTo(life.bytes, kLine)});
    changes.push_back({life.last + 1, -alignTo(life.bytes, kLine)});
  }
  llvm::sort(changes);
  Peak peak;
  int64_t live = 0;
  for (size_t i = 0; i < changes.size(); ++i) {
    live += changes[i].second;
    bool lastOfTime = i + 1 == changes.size() || changes[i + 1].first != changes[i].first;
    if (lastOfTime && live > peak.bytes)
      peak = {live, changes[i].first};
  }
  return peak;
}

// Takes the values in the given order; each goes into the smallest gap, between those that it lives together with, that
// holds it.
static OffsetAssignment assignInOrder(llvm::ArrayRef<Lifetime> lifetimes, llvm::ArrayRef<size_t> order) {
  OffsetAssignment result;
  result.offsets.assign(lifetimes.size(), 0);
  struct Placed {
    int64_t begin, end, first, last;
  };
  std::vector<Placed> placed; // by begin
  placed.reserve(lifetimes.size());
  for (size_t index : order) {
    const Lifetime &life = lifetimes[index];
    int64_t alignment = alignmentOf(life.bytes);
    int64_t end = 0, best = -1, bestGap = std::numeric_limits<int64_t>::max();
    for (const Placed &other : placed) {
      if (other.last < life.first || other.first > life.last)
        continue;
      int64_t begin = alignTo(end, alignment), gap = other.begin - begin;
      if (gap >= life.bytes && gap < bestGap)
        best = begin, bestGap = gap;
      end = std::max(end, other.end);
    }
    if (best < 0)
      best = alignTo(end, alignment);
    result.offsets[index] = best;
    result.bytes = std::max(result.bytes, best + life.bytes);
    Placed entry{best, best + life.bytes, life.first, life.last};
    placed.insert(llvm::upper_bound(placed, entry, [](const Placed &a, const Placed &b) { return a.begin < b.begin; }),
                  entry);
  }
  return result;
}

using Order = std::vector<size_t>;

// The value that ends highest.
static size_t highest(llvm::ArrayRef<Lifetime> lifetimes, const OffsetAssignment &assignment) {
  size_t result = 0;
  for (size_t i = 1; i < lifetimes.size(); ++i)
    if (assignment.offsets[i] + lifetimes[i].bytes > assignment.offsets[result] + lifetimes[result].bytes)
      result = i;
  return result;
}

OffsetAssignment assignOffsets(llvm::ArrayRef<Lifetime> lifetimes) {
  int64_t bound = peakOf(lifetimes).bytes;
  OffsetAssignment best;
  if (lifetimes.empty())
    return best;
  best.bytes = std::numeric_limits<int64_t>::max();
  Order bestOrder;
  auto attempt = [&](const Order &order) {
    OffsetAssignment candidate = assignInOrder(lifetimes, order);
    if (candidate.bytes < best.bytes) {
      best = candidate;
      bestOrder = order;
    }
    return candidate;
  };

  // Which order is best depends on the program: large first packs well in general, long-lived first suits forward and
  // backward, where lifetimes nest, and order of birth suits straight lines.
  auto length = [&](size_t i) { return lifetimes[i].last - lifetimes[i].first; };
  using Key = std::tuple<int64_t, int64_t, int64_t>;
  const std::function<Key(size_t)> keys[] = {
      [&](size_t i) { return Key(-lifetimes[i].bytes, -length(i), lifetimes[i].first); },
      [&](size_t i) { return Key(-length(i), -lifetimes[i].bytes, lifetimes[i].first); },
      [&](size_t i) { return Key(-lifetimes[i].bytes / kLine * (length(i) + 1), lifetimes[i].first, 0); },
      [&](size_t i) { return Key(lifetimes[i].first, -length(i), -lifetimes[i].bytes); }};
  for (const auto &key : keys) {
    if (best.bytes <= bound)
      return best;
    Order order(lifetimes.size());
    std::iota(order.begin(), order.end(), 0);
    llvm::sort(order, [&](size_t a, size_t b) { return std::pair(key(a), a) < std::pair(key(b), b); });
    attempt(order);
  }

  // What sticks out at the top goes first next time. The number of rounds is a pure function of the size.
  int64_t rounds = std::min<int64_t>(kMostRounds, kWork / int64_t(lifetimes.size() * lifetimes.size()));
  Order order = bestOrder;
  OffsetAssignment current = best;
  for (int64_t round = 0; round < rounds && best.bytes > bound; ++round) {
    auto sticksOut = llvm::find(order, highest(lifetimes, current));
    std::rotate(order.begin(), sticksOut, sticksOut + 1);
    current = attempt(order);
  }
  return best;
}

} // namespace recipe::plan
