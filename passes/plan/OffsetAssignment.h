// Places in memory for values with known lifetimes, so that the whole takes little more than what lives at once.
//
// A pure function; no state. Time is any integer clock; a value lives from `first` to `last`, both included.
#ifndef PASSES_PLAN_OFFSETASSIGNMENT_H
#define PASSES_PLAN_OFFSETASSIGNMENT_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <vector>

namespace recipe::plan {

struct Lifetime {
  int64_t bytes = 0;
  int64_t first = 0, last = 0;
};

struct OffsetAssignment {
  std::vector<int64_t> offsets; // of each lifetime
  int64_t bytes = 0;            // end of the last one
};

// 64 bytes; a page for what is large, so that it can lie in pages of its own.
int64_t alignmentOf(int64_t bytes);
int64_t alignTo(int64_t offset, int64_t alignment);

// The same lifetimes give the same offsets. Quadratic in the values of one program at worst: some 10 ms for 3000 of
// them.
OffsetAssignment assignOffsets(llvm::ArrayRef<Lifetime> lifetimes);

// The most bytes, each value rounded up to 64, that live at one time, and the first such time: no assignment takes
// less.
struct Peak {
  int64_t bytes = 0, time = 0;
};
Peak peakOf(llvm::ArrayRef<Lifetime> lifetimes);

} // namespace recipe::plan
#endif
