#include "dialects/train/Segments.h"
#include <algorithm>
#include <cassert>
#include <numeric>

using namespace recipe::train;

SegmentList recipe::train::oneSegment(int64_t size) { return {0, size}; }

SegmentList recipe::train::paddedSegments(int64_t size, int64_t count) {
  constexpr int64_t lanes = 16;
  int64_t perSegment = (size + count - 1) / count;
  int64_t length = (perSegment + lanes - 1) / lanes * lanes;
  SegmentList segments;
  for (int64_t r = 0; r < count; ++r) {
    segments.push_back(std::min(r * length, size));
    segments.push_back(std::min((r + 1) * length, size));
  }
  return segments;
}

SegmentList recipe::train::headSegments(int64_t heads, int64_t headSize, int64_t count) {
  return kvHeadSegments(heads, heads, headSize, count);
}

SegmentList recipe::train::kvHeadSegments(int64_t kvHeads, int64_t heads, int64_t headSize, int64_t count) {
  int64_t used = std::gcd(count, heads);
  SegmentList segments;
  int64_t next = 0;
  for (int64_t s = 0; s < used; ++s) {
    segments.push_back(next * headSize);
    while (next < kvHeads && next * used / kvHeads == s)
      ++next;
    segments.push_back(next * headSize);
  }
  assert(next == kvHeads && "every kv head lies in a segment");
  return segments;
}

SegmentList recipe::train::equalSegments(int64_t size, int64_t count) {
  assert(size % count == 0 && "equal segments");
  SegmentList segments;
  for (int64_t s = 0; s < count; ++s) {
    segments.push_back(s * (size / count));
    segments.push_back((s + 1) * (size / count));
  }
  return segments;
}
