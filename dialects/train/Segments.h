// The segments of the dimensions that are reduced over (docs/numerics.md, "Segments").
//
// A list of half-open ranges, flattened [segment][2], ascending and covering the dimension; segments may be empty.
#ifndef DIALECTS_TRAIN_SEGMENTS_H
#define DIALECTS_TRAIN_SEGMENTS_H

#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace recipe::train {

using SegmentList = llvm::SmallVector<int64_t>;

// hidden, head size: one chain.
SegmentList oneSegment(int64_t size);

// ffn, vocab: `count` segments of equal length, a multiple of 16; the last ones short or empty.
SegmentList paddedSegments(int64_t size, int64_t count);

// `heads` query heads of `headSize` elements in gcd(count, heads) segments.
SegmentList headSegments(int64_t heads, int64_t headSize, int64_t count);

// `kvHeads` heads in the segments of `heads` query heads: each in that of its group's first query head.
SegmentList kvHeadSegments(int64_t kvHeads, int64_t heads, int64_t headSize, int64_t count);

// `count` equal segments; `count` divides `size`.
SegmentList equalSegments(int64_t size, int64_t count);

} // namespace recipe::train
#endif
