// How many steps, groups and levels a gemm kernel has, without the steps themselves: choosing blocks of C asks for it
// hundreds of times, and K may have 2^31 terms.
#ifndef PASSES_GEMMSTEPCOUNTS_H
#define PASSES_GEMMSTEPCOUNTS_H

#include "passes/GemmSteps.h"

namespace recipe {

class GemmStepCounts {
public:
  // Arguments as those of GemmSteps. Takes time for each segment, not for each step.
  GemmStepCounts(llvm::ArrayRef<int64_t> segments, int64_t pairs, int64_t kBlock, GemmOperands operands,
                 int64_t sample = 0, int64_t subtrees = 1)
      : kBlock(kBlock), operands(operands), sample(sample) {
    size_t ofSubtree = segments.size() / size_t(subtrees);
    for (int64_t subtree = 0; subtree < subtrees; ++subtree) {
      packed = kBlock + 1; // no step of it joins a group of the subtree before
      addSubtree(segments.slice(size_t(subtree) * ofSubtree, ofSubtree), pairs);
    }
  }

  int64_t steps = 0, groups = 0;
  bool oneStepEach() const { return groups == steps; } // group
  int64_t levels() const { return int64_t(crossing.size()) + rests; }
  int64_t crossingLevels() const { return llvm::count(crossing, true) + restCrosses; }
  // Bytes for the pending levels of a block of `tiles` tiles of `tileFloats`: first those of the `inner` tiles that
  // take a step one after the other.
  int64_t pendingBytes(int64_t tiles, int64_t tileFloats, int64_t inner = 1) const {
    return 4 * tileFloats * (inner * (levels() - crossingLevels()) + tiles * crossingLevels());
  }

private:
  int64_t kBlock;
  GemmOperands operands;
  int64_t sample;
  int64_t packed = 0;                      // rows in the last group
  llvm::SmallVector<bool> crossing;        // of each pending level
  llvm::SmallVector<int64_t> writtenIn;    // group, of each pending level
  bool rests = false, restCrosses = false; // the level where chains rest: it exists, it crosses

  void addSubtree(llvm::ArrayRef<int64_t> segments, int64_t pairs) {
    int64_t count = int64_t(segments.size()) / (2 * pairs), last = gemm_steps::lastWithTerms(segments, pairs);
    for (int64_t segment = 0; segment <= last; ++segment) {
      int64_t before = steps;
      for (int64_t pair = 0; pair < pairs; ++pair) {
        const int64_t *range = &segments[size_t(2 * (segment * pairs + pair))];
        for (int64_t begin = range[0], end; begin < range[1]; begin = end) {
          end = gemm_steps::endOfSample(operands, sample, begin, range[1]);
          addRange(end - begin, before);
        }
      }
      if (steps == before) // an empty segment
        addSteps(1, 0, before);
      rests |= steps - before > 1;
      endSegment(gemm_steps::endOfSegment(segment, last, count));
    }
  }

  void endSegment(const GemmStepEnd &end) {
    for (size_t level = 0; level < writtenIn.size(); ++level)
      if ((end.merges >> level & 1) != 0 && writtenIn[level] != groups)
        crossing[level] = true;
    if (end.target == GemmStepEnd::kToResult)
      return;
    if (size_t(end.target) >= writtenIn.size())
      writtenIn.resize(size_t(end.target) + 1), crossing.resize(size_t(end.target) + 1);
    writtenIn[size_t(end.target)] = groups;
  }

  // A range of K of that length. Part p has units * (p + 1) / parts - units * p / parts of its units: `few` or one
  // more.
  void addRange(int64_t length, int64_t firstOfSegment) {
    int64_t units = llvm::divideCeil(length, termsOfUnit(operands)),
            parts = gemm_steps::partsOf(operands, length, kBlock), few = units / parts, more = units % parts;
    for (int64_t part = 0, end; part < parts; part = end) {
      int64_t moreBefore = more * part / parts;
      bool hasMore = more * (part + 1) / parts > moreBefore;
      if (hasMore) // until the next one without
        end = (part - moreBefore) * parts / (parts - more);
      else
        end = more == 0 ? parts : llvm::divideCeil((moreBefore + 1) * parts, more) - 1;
      end = std::clamp(end, part + 1, parts);
      addSteps(end - part, packedRows(operands, (few + hasMore) * termsOfUnit(operands)), firstOfSegment);
    }
  }

  // `count` steps of `rows` rows, as GemmSteps groups them.
  void addSteps(int64_t count, int64_t rows, int64_t firstOfSegment) {
    auto begin = [&](int64_t more) { // groups
      restCrosses |= more > 0 && steps != firstOfSegment;
      groups += more;
    };
    begin(packed + rows > kBlock);
    if (packed + rows > kBlock)
      packed = 0;
    ++steps, packed += rows;
    int64_t rest = count - 1, join = rows == 0 ? rest : std::min(rest, (kBlock - packed) / rows);
    steps += join, packed += join * rows, rest -= join;
    if (rest == 0)
      return;
    int64_t ofGroup = kBlock / rows, more = llvm::divideCeil(rest, ofGroup);
    begin(more);
    steps += rest, packed = (rest - (more - 1) * ofGroup) * rows;
  }
};

} // namespace recipe
#endif
