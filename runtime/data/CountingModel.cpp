#include "runtime/data/CountingModel.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace recipe::rt {

// The low `count` bytes of a key.
static uint64_t lowBytes(uint64_t key, int count) { return count == 0 ? 0 : key & (~uint64_t(0) >> (64 - 8 * count)); }

CountingModel::CountingModel(absl::Span<const uint8_t> training, int contextLength) : orders(contextLength + 1) {
  assert(contextLength >= 0 && contextLength <= MaxContext && !training.empty());
  // The longest context has true counts.
  uint64_t key = 0;
  for (size_t i = 0; i < training.size(); ++i) {
    key = key << 8 | training[i];
    if (i >= static_cast<size_t>(contextLength))
      ++orders[contextLength].counts[lowBytes(key, contextLength + 1)];
  }
  // A shorter one counts the distinct bytes that came before it, since it speaks only where the longer one was not
  // seen.
  for (int length = contextLength; length-- > 0;)
    for (const auto &[longer, count] : orders[length + 1].counts)
      ++orders[length].counts[lowBytes(longer, length + 1)];
  for (Order &order : orders)
    summarise(order);
}

void CountingModel::summarise(Order &order) {
  std::array<double, 5> withCount{}; // how many keys have count 1..4, at [count]
  for (const auto &[key, count] : order.counts) {
    Context &context = order.contexts[key >> 8];
    context.total += count;
    ++context.bytesSeen[std::min<uint32_t>(count, 3) - 1];
    if (count <= 4)
      ++withCount[count];
  }
  double ratio = withCount[1] / (withCount[1] + 2 * withCount[2]);
  for (int count = 1; count <= 3; ++count) {
    double discount = count - (count + 1) * ratio * withCount[count + 1] / withCount[count];
    // Few keys give an estimate that is no number or leaves no mass for the unseen.
    bool usable = std::isfinite(discount) && discount >= 0.1 && discount <= count;
    order.discount[count - 1] = usable ? discount : 0.5;
  }
}

double CountingModel::probability(absl::Span<const uint8_t> before, uint8_t next) const {
  double probability = 1.0 / 256;
  uint64_t context = 0;
  for (size_t length = 0; length < orders.size(); ++length) {
    if (length > 0) {
      if (before.size() < length)
        break;
      context |= static_cast<uint64_t>(before[before.size() - length]) << (8 * (length - 1));
    }
    const Order &order = orders[length];
    auto known = order.contexts.find(context);
    // A longer context cannot be known either.
    if (known == order.contexts.end())
      break;
    const Context &seen = known->second;
    double freed = 0;
    for (int i = 0; i < 3; ++i)
      freed += order.discount[i] * seen.bytesSeen[i];
    double kept = 0;
    auto count = order.counts.find(context << 8 | next);
    if (count != order.counts.end())
      kept = count->second - order.discount[std::min<uint32_t>(count->second, 3) - 1];
    probability = (kept + freed * probability) / static_cast<double>(seen.total);
  }
  return probability;
}

double crossEntropy(const CountingModel &model, absl::Span<const uint8_t> heldOut) {
  assert(heldOut.size() >= 2);
  double nats = 0;
  for (size_t i = 1; i < heldOut.size(); ++i)
    nats -= std::log(model.probability(heldOut.subspan(0, i), heldOut[i]));
  return nats / static_cast<double>(heldOut.size() - 1);
}

double unigramCrossEntropy(absl::Span<const uint8_t> training, absl::Span<const uint8_t> heldOut) {
  assert(heldOut.size() >= 2);
  std::array<uint64_t, 256> counts;
  counts.fill(1);
  for (uint8_t byte : training)
    ++counts[byte];
  double nats = 0;
  for (uint8_t byte : heldOut.subspan(1))
    nats -= std::log(static_cast<double>(counts[byte]) / static_cast<double>(training.size() + counts.size()));
  return nats / static_cast<double>(heldOut.size() - 1);
}

} // namespace recipe::rt
