// Which messages an all-reduce is made of: the one definition that the runtime executes and the compiler's order proof
// simulates. Pure functions of their arguments.
#ifndef RUNTIME_ABI_ALLREDUCESCHEDULE_H
#define RUNTIME_ABI_ALLREDUCESCHEDULE_H
#include <algorithm>
#include <cassert>
#include <cstdint>
#include <vector>

namespace recipe::abi {

/// The largest message of an all-reduce, and how many arriving ones there is room for (the staging in the arena).
inline constexpr int64_t kAllReduceChunkBytes = int64_t(1) << 20;
inline constexpr int64_t kAllReduceStagingSlots = 4;
inline constexpr int64_t kAllReduceStagingBytes = kAllReduceChunkBytes * kAllReduceStagingSlots;
/// One workgroup of a combine kernel.
inline constexpr int64_t kCombineWorkgroupElements = 16384;

/// One message as one rank sees it.
struct Transfer {
  enum Kind { Send, Receive } kind;
  int partner;
  int64_t begin, elements; // of the buffer
  /// A receive that arrives in staging and is combined into the buffer; others arrive in place.
  bool combine;
  /// The arriving values are the left operands.
  bool incomingIsLeft;
  /// Transfers of one exchange (one send, one receive or one of each) are in flight together. An exchange begins when
  /// all before it are complete; the runtime may begin exchanges of the same phase earlier, which only relaxes the
  /// order.
  int exchange;
  /// Halving steps 0, 1, ..., then doubling steps. Data of a phase depends on the phases before it.
  int phase;
};

/// What a rank gives to and takes from its partner in one phase.
struct AllReducePhase {
  int partner;
  int64_t sendBegin, sendEnd, receiveBegin, receiveEnd;
  bool combine;
};

/// Recursive halving, partners at distance 1, 2, 4, ...: each element is summed by the balanced tree of adjacent pairs
/// of ranks. Then recursive doubling in the opposite order. `size` is a power of two; any number of elements.
inline std::vector<AllReducePhase> allReducePhases(int rank, int size, int64_t elements) {
  assert(size >= 1 && (size & (size - 1)) == 0 && rank >= 0 && rank < size && "ranks of a power of two");
  std::vector<AllReducePhase> halving;
  int64_t begin = 0, end = elements;
  for (int distance = 1; distance < size; distance *= 2) {
    // Whole 64-byte lines where there are enough of them.
    int64_t half = ((end - begin + 1) / 2 + 15) / 16 * 16, middle = std::min(begin + half, end);
    bool upper = rank & distance;
    if (upper)
      halving.push_back({rank ^ distance, begin, middle, middle, end, true});
    else
      halving.push_back({rank ^ distance, middle, end, begin, middle, true});
    (upper ? begin : end) = middle;
  }
  std::vector<AllReducePhase> phases = halving;
  for (auto phase = halving.rbegin(); phase != halving.rend(); ++phase)
    phases.push_back({phase->partner, phase->receiveBegin, phase->receiveEnd, phase->sendBegin, phase->sendEnd, false});
  return phases;
}

/// The phases cut into messages of at most `chunkElements`.
inline std::vector<Transfer> expandAllReduce(int rank, int size, int64_t elements, int64_t chunkElements) {
  std::vector<Transfer> transfers;
  int exchange = 0, number = 0;
  for (const AllReducePhase &phase : allReducePhases(rank, size, elements)) {
    int64_t sends = phase.sendEnd - phase.sendBegin, receives = phase.receiveEnd - phase.receiveBegin;
    for (int64_t at = 0; at < std::max(sends, receives); at += chunkElements, ++exchange) {
      // The receive comes first, so that no message arrives unexpected.
      if (at < receives)
        transfers.push_back({Transfer::Receive, phase.partner, phase.receiveBegin + at,
                             std::min(chunkElements, receives - at), phase.combine,
                             phase.combine && phase.partner < rank, exchange, number});
      if (at < sends)
        transfers.push_back({Transfer::Send, phase.partner, phase.sendBegin + at, std::min(chunkElements, sends - at),
                             false, false, exchange, number});
    }
    ++number;
  }
  return transfers;
}

} // namespace recipe::abi
#endif
