// What counting alone predicts: the baselines that a trained byte-level model has to beat. Immutable once built, so
// safe to use from any thread.
#ifndef RUNTIME_DATA_COUNTINGMODEL_H
#define RUNTIME_DATA_COUNTINGMODEL_H

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"

#include <array>
#include <cstdint>
#include <vector>

namespace recipe::rt {

/// The distribution of a byte given the bytes before it: interpolated modified Kneser-Ney (Chen and Goodman 1998) over
/// contexts of 0..contextLength bytes, above the uniform distribution. The discounts follow from the counts of the
/// training bytes; nothing is tuned.
class CountingModel {
public:
  static constexpr int MaxContext = 7; // context and byte are one 64-bit key

  CountingModel(absl::Span<const uint8_t> training, int contextLength);

  /// Of `next` after `before`, of which the last contextLength bytes count. Never 0.
  double probability(absl::Span<const uint8_t> before, uint8_t next) const;

private:
  // What is known of one context of one length.
  struct Context {
    uint64_t total = 0;                  // sum of its counts
    std::array<uint32_t, 3> bytesSeen{}; // bytes with count 1, 2, more
  };
  struct Order {
    absl::flat_hash_map<uint64_t, uint32_t> counts; // by context and byte
    absl::flat_hash_map<uint64_t, Context> contexts;
    std::array<double, 3> discount{}; // of counts 1, 2, more
  };
  static void summarise(Order &order);

  std::vector<Order> orders; // by context length
};

/// Mean negative log probability, in nats, of each byte of `heldOut` but the first under the model, whose context
/// starts with heldOut. `heldOut` must have at least 2 bytes.
double crossEntropy(const CountingModel &model, absl::Span<const uint8_t> heldOut);

/// The same without any context: a byte's probability is its share of the training bytes, one added to each count.
double unigramCrossEntropy(absl::Span<const uint8_t> training, absl::Span<const uint8_t> heldOut);

} // namespace recipe::rt

#endif // RUNTIME_DATA_COUNTINGMODEL_H
