// The steps of a gemm kernel through K, from the segments of its contraction: what kernel-select counts scratch for and
// codegen emits.
//
// A step is a stretch of one segment of one pair; a group of steps is packed at once. Finished segments wait in pending
// levels for the tree of segments, and a chain rests in a level of its own between two steps: a level that is only used
// within groups needs memory for one register tile, one that crosses from group to group for all tiles of a block.
//
// The tree can be cut into subtrees of equal size whose results are results by themselves: then the steps of one follow
// those of the other.
#ifndef PASSES_GEMMSTEPS_H
#define PASSES_GEMMSTEPS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cstdint>

namespace recipe {

// How a kernel takes its operands. The first two forms of bf16 give the same bits: a term k + 1 goes before its
// neighbour k.
enum class GemmOperands : int64_t {
  F32,
  Widened, // bf16, packed as f32 with the terms of each pair swapped
  Pairs,   // bf16, packed in pairs for the instruction that multiplies and adds two terms
  Tiles,   // bf16, packed in blocks of 32 terms for the tiles of AMX
  Split    // f32, packed likewise as three bf16 parts (docs/numerics.md, "bf16x6")
};

inline bool areTiles(GemmOperands operands) { return operands >= GemmOperands::Tiles; }

// Terms that are packed together, the last ones perhaps fewer.
inline int64_t termsOfUnit(GemmOperands operands) {
  return operands == GemmOperands::F32 ? 1 : areTiles(operands) ? 32 : 2;
}

// Rows that K range of that length takes in the packing buffers, and in the loop over K.
inline int64_t packedRows(GemmOperands operands, int64_t length) {
  int64_t units = llvm::divideCeil(length, termsOfUnit(operands));
  return operands == GemmOperands::Widened ? 2 * units : units;
}

// Rows between panels, which take what transposing a last partial block writes too much.
inline int64_t panelPadding(GemmOperands operands) { return operands == GemmOperands::Widened ? 17 : 9; }

// Of tiles: parts of a value; bytes of a block of 32 terms of 32 rows or columns; bytes from panel to panel of `kBlock`
// blocks.
inline int64_t gemmAmxParts(GemmOperands operands) { return operands == GemmOperands::Split ? 3 : 1; }
inline int64_t gemmAmxBlockBytes(GemmOperands operands) { return 2048 * gemmAmxParts(operands); }
inline int64_t gemmAmxPanelBytes(GemmOperands operands, int64_t kBlock) {
  return kBlock * gemmAmxBlockBytes(operands) + 192;
}
// Most rows of a step, whose left operand, of 32 rows of C, L1 holds while the right one's panels pass.
inline constexpr int64_t kGemmAmxStepRows = 8;

struct GemmStep {
  enum Start : int64_t { Zero, Continue, Accumulator };
  int64_t pair, begin, length; // K range [begin, begin + length) of the pair
  int64_t rows;                // of the packing buffers
  int64_t packed = 0;          // the first of them
  int64_t start = Continue;    // what the chain starts from; Continue: the level where it rests
  int64_t end = 0;             // what happens to its value: number in GemmSteps::ends
  int64_t finishes = 0;        // 1: it goes to the result
};

// What happens to the value of a step: levels l ascending, value = pending[l] + value where bit l of `merges` is set,
// value = value + 0.0 (a subtree of empty segments) where that of `zeros` is; then it goes to a level or to the result.
struct GemmStepEnd {
  static constexpr int64_t kToResult = -1;
  int64_t merges = 0, zeros = 0;
  int64_t target = kToResult;
  bool operator==(const GemmStepEnd &other) const {
    return merges == other.merges && zeros == other.zeros && target == other.target;
  }
};

// How segments become steps, for the steps themselves and for their numbers alone.
namespace gemm_steps {

// The last segment that has terms in any pair.
inline int64_t lastWithTerms(llvm::ArrayRef<int64_t> segments, int64_t pairs) {
  int64_t last = 0;
  for (size_t i = 0; i < segments.size(); i += 2)
    if (segments[i] != segments[i + 1])
      last = int64_t(i) / (2 * pairs);
  return last;
}

// Of `count` segments. A binary counter: the one bits of `segment` are the pending subtrees, the trailing ones are
// complete. The last segment takes all; what is right of it is empty.
inline GemmStepEnd endOfSegment(int64_t segment, int64_t last, int64_t count) {
  int64_t trailingOnes = llvm::countr_one(uint64_t(segment));
  bool takesAll = segment == last;
  return {takesAll ? segment : (int64_t(1) << trailingOnes) - 1, takesAll ? (count - 1) & ~segment : 0,
          takesAll ? GemmStepEnd::kToResult : trailingOnes};
}

// Where units must end after `begin`: at the end of all, where those from `begin` on end with each sample by
// themselves.
inline int64_t endOfSample(GemmOperands operands, int64_t sample, int64_t begin, int64_t end) {
  int64_t unit = termsOfUnit(operands);
  return sample == 0 || (sample % unit == 0 && begin % unit == 0) ? end : std::min(end, (begin / sample + 1) * sample);
}

// Steps of a range of that length.
inline int64_t partsOf(GemmOperands operands, int64_t length, int64_t kBlock) {
  return llvm::divideCeil(packedRows(operands, length),
                          areTiles(operands) ? std::min(kBlock, kGemmAmxStepRows) : kBlock);
}

} // namespace gemm_steps

class GemmSteps {
public:
  // `segments`: [segment][pair][begin, end], a power of two of segments. At most `kBlock` rows are packed at once.
  // Units do not reach from one multiple of `sample` to the next; 0: they may. `subtrees`: a power of two.
  GemmSteps(llvm::ArrayRef<int64_t> segments, int64_t pairs, int64_t kBlock, bool accumulator, GemmOperands operands,
            int64_t sample = 0, int64_t subtrees = 1)
      : operands(operands), sample(sample) {
    size_t ofSubtree = segments.size() / size_t(subtrees);
    llvm::SmallVector<int64_t> firstSteps;
    for (int64_t subtree = 0; subtree < subtrees; ++subtree) {
      firstSteps.push_back(int64_t(steps.size()));
      addSubtree(segments.slice(size_t(subtree) * ofSubtree, ofSubtree), pairs, kBlock, accumulator);
    }
    for (GemmStepEnd &end : ends)
      if (end.target == kRests)
        end.target = restLevel();
    group(kBlock, firstSteps);
    joinPacks();
  }

  llvm::SmallVector<GemmStep> steps;
  llvm::SmallVector<GemmStepEnd> ends;
  llvm::SmallVector<int64_t> groups; // first step of each group, and the number of steps
  // What is packed at once: neighbouring steps of a group as one. Likewise the first of each group.
  llvm::SmallVector<GemmStep> packs;
  llvm::SmallVector<int64_t> packGroups;
  llvm::SmallVector<int64_t> subtreeGroups; // first group of each subtree, and the number of groups
  llvm::SmallVector<bool> crossing;         // of each level: it crosses from group to group
  int64_t pendingLevels = 0;                // the first levels; the last is where chains rest, if they do
  int64_t restLevel() const { return pendingLevels; }
  int64_t levels() const { return int64_t(crossing.size()); }
  int64_t crossingLevels() const { return llvm::count(crossing, true); }
  bool oneStepEach() const { return groups.size() == steps.size() + 1; } // group

private:
  GemmOperands operands;
  int64_t sample;
  static constexpr int64_t kRests = -2; // while the number of pending levels is unknown

  void addSubtree(llvm::ArrayRef<int64_t> segments, int64_t pairs, int64_t kBlock, bool accumulator) {
    int64_t count = int64_t(segments.size()) / (2 * pairs), last = gemm_steps::lastWithTerms(segments, pairs);
    for (int64_t segment = 0; segment <= last; ++segment) {
      size_t first = steps.size();
      for (int64_t pair = 0; pair < pairs; ++pair) {
        const int64_t *range = &segments[size_t(2 * (segment * pairs + pair))];
        for (int64_t begin = range[0], end; begin < range[1]; begin = end) {
          end = gemm_steps::endOfSample(operands, sample, begin, range[1]);
          cut(pair, begin, end, kBlock);
        }
      }
      if (steps.size() == first) // an empty segment is +0.0
        steps.push_back({0, 0, 0, 0});
      steps[first].start = accumulator ? GemmStep::Accumulator : GemmStep::Zero;
      GemmStepEnd end = gemm_steps::endOfSegment(segment, last, count);
      pendingLevels = std::max(pendingLevels, end.target + 1);
      for (size_t step = first; step + 1 < steps.size(); ++step)
        steps[step].end = numberOf({0, 0, kRests});
      steps.back().end = numberOf(end);
      steps.back().finishes = segment == last;
    }
  }

  int64_t numberOf(const GemmStepEnd &end) {
    auto found = llvm::find(ends, end);
    if (found == ends.end())
      found = ends.insert(found, end);
    return found - ends.begin();
  }

  // Into steps as equal as they can be; units stay together.
  void cut(int64_t pair, int64_t begin, int64_t end, int64_t kBlock) {
    int64_t length = end - begin, unit = termsOfUnit(operands), units = llvm::divideCeil(length, unit);
    int64_t parts = gemm_steps::partsOf(operands, length, kBlock);
    for (int64_t part = 0; part < parts; ++part) {
      int64_t lo = unit * (units * part / parts), hi = std::min(unit * (units * (part + 1) / parts), length);
      steps.push_back({pair, begin + lo, hi - lo, packedRows(operands, hi - lo)});
    }
  }

  void group(int64_t kBlock, llvm::ArrayRef<int64_t> firstSteps) {
    llvm::SmallVector<size_t> writtenIn; // group, of each level
    int64_t packed = 0;
    for (size_t index = 0; index < steps.size(); ++index) {
      GemmStep &step = steps[index];
      bool beginsSubtree = llvm::is_contained(firstSteps, int64_t(index));
      if (beginsSubtree)
        subtreeGroups.push_back(int64_t(groups.size()));
      if (beginsSubtree || packed + step.rows > kBlock) {
        groups.push_back(int64_t(index));
        packed = 0;
      }
      const GemmStepEnd &end = ends[size_t(step.end)];
      step.packed = packed;
      packed += step.rows;
      auto reads = [&](size_t level) {
        return int64_t(level) == restLevel() ? step.start == GemmStep::Continue : (end.merges >> level & 1) != 0;
      };
      for (size_t level = 0; level < writtenIn.size(); ++level)
        if (reads(level) && writtenIn[level] != groups.size())
          crossing[level] = true;
      if (end.target == GemmStepEnd::kToResult)
        continue;
      if (size_t(end.target) >= writtenIn.size())
        writtenIn.resize(size_t(end.target) + 1), crossing.resize(size_t(end.target) + 1);
      writtenIn[size_t(end.target)] = groups.size();
    }
    subtreeGroups.push_back(int64_t(groups.size()));
    groups.push_back(int64_t(steps.size()));
  }

  void joinPacks() {
    for (size_t group = 0; group + 1 < groups.size(); ++group) {
      packGroups.push_back(int64_t(packs.size()));
      for (int64_t i = groups[group]; i < groups[group + 1]; ++i) {
        const GemmStep &step = steps[size_t(i)];
        bool first = i == groups[group];
        if (!first && packs.back().pair == step.pair && packs.back().begin + packs.back().length == step.begin &&
            packs.back().length % termsOfUnit(operands) == 0)
          packs.back().length += step.length, packs.back().rows += step.rows;
        else
          packs.push_back(step);
      }
    }
    packGroups.push_back(int64_t(packs.size()));
  }
};

} // namespace recipe
#endif
