#include "passes/plan/OffsetAssignment.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <limits>
#include <numeric>
#include <tuple>

namespace recipe::plan {

static constexpr int64_t kLine = 64, kPage = 4096, kLarge = 64 << 10;

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

OffsetAssignment assignOffsets(llvm::ArrayRef<Lifetime> lifetimes) {
  int64_t bound = peakOf(lifetimes).bytes;
  // Which order is best depends on the program: large first packs well in general, long-lived first suits forward and
  // backward, where lifetimes nest, and order of birth suits straight lines.
  auto length = [&](size_t i) { return lifetimes[i].last - lifetimes[i].first; };
  auto largeFirst = [&](size_t i) { return std::make_tuple(-lifetimes[i].bytes, -length(i), lifetimes[i].first); };
  auto longFirst = [&](size_t i) { return std::make_tuple(-length(i), -lifetimes[i].bytes, lifetimes[i].first); };
  auto earlyFirst = [&](size_t i) { return std::make_tuple(lifetimes[i].first, -length(i), -lifetimes[i].bytes); };
  auto areaFirst = [&](size_t i) {
    return std::make_tuple(-lifetimes[i].bytes / 64 * (length(i) + 1), lifetimes[i].first, -lifetimes[i].bytes);
  };
  OffsetAssignment best;
  best.bytes = std::numeric_limits<int64_t>::max();
  auto attempt = [&](auto key) {
    if (best.bytes == bound)
      return;
    std::vector<size_t> order(lifetimes.size());
    std::iota(order.begin(), order.end(), 0);
    llvm::sort(order, [&](size_t a, size_t b) {
      auto left = key(a), right = key(b);
      return left != right ? left < right : a < b;
    });
    OffsetAssignment candidate = assignInOrder(lifetimes, order);
    if (candidate.bytes < best.bytes)
      best = std::move(candidate);
  };
  attempt(largeFirst);
  attempt(longFirst);
  attempt(areaFirst);
  attempt(earlyFirst);
  return best;
}

} // namespace recipe::plan
