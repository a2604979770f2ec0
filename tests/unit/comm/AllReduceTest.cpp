#include "runtime/comm/CommThread.h"
#include "tests/unit/comm/Ranks.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace recipe::rt;
using recipe::abi::expandAllReduce;
using recipe::abi::Transfer;

namespace {

/// What a combine kernel does, for floats.
void addFloats(const rcp_launch_v1 *launch, int64_t workgroup, void *) {
  auto *accumulator = static_cast<float *>(launch->buffers[0]);
  const auto *incoming = static_cast<const float *>(launch->buffers[1]);
  int64_t size = recipe::abi::kCombineWorkgroupElements, begin = workgroup * size;
  for (int64_t i = begin; i < std::min(begin + size, launch->scalars[0]); ++i)
    accumulator[i] = launch->scalars[1] ? incoming[i] + accumulator[i] : accumulator[i] + incoming[i];
}

/// Not commutative: keeps the order of operands, "(left right)" as a number in base 31.
void pairUp(const rcp_launch_v1 *launch, int64_t workgroup, void *) {
  auto *accumulator = static_cast<uint64_t *>(launch->buffers[0]);
  const auto *incoming = static_cast<const uint64_t *>(launch->buffers[1]);
  int64_t size = recipe::abi::kCombineWorkgroupElements, begin = workgroup * size;
  for (int64_t i = begin; i < std::min(begin + size, launch->scalars[0]); ++i) {
    uint64_t left = launch->scalars[1] ? incoming[i] : accumulator[i];
    uint64_t right = launch->scalars[1] ? accumulator[i] : incoming[i];
    accumulator[i] = left * 1000003 + right * 31 + 7;
  }
}

/// The same on one rank: the balanced tree of adjacent pairs.
template <typename T, typename Combine>
T tree(const std::vector<T> &values, size_t begin, size_t count, Combine combine) {
  if (count == 1)
    return values[begin];
  return combine(tree(values, begin, count / 2, combine), tree(values, begin + count / 2, count / 2, combine));
}

struct Staging {
  std::vector<std::byte> memory = std::vector<std::byte>(recipe::abi::kAllReduceStagingBytes + 64);
  std::byte *data() { return memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64) % 64; }
};

/// A pure function with well mixed bits.
uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9;
  return x ^ (x >> 32);
}

/// Floats of both signs and of exponents so far apart that another order of summation shows.
template <typename T> T valueOf(int rank, int64_t element) {
  uint64_t bits = mix(uint64_t(element) * 64 + uint64_t(rank) + 1);
  if constexpr (std::is_same_v<T, float>)
    return std::ldexp(float(bits >> 40), int(bits % 30) - 40) * ((bits >> 8) % 2 ? 1.0F : -1.0F);
  else
    return T(bits);
}

/// Knows of the run what a test says.
class Told final : public Communicator {
public:
  explicit Told(Communicator &comm) : comm(comm) {}
  int rank() const override { return comm.rank(); }
  int size() const override { return comm.size(); }
  Request send(int to, int tag, const void *data, size_t bytes) override { return comm.send(to, tag, data, bytes); }
  Request receive(int from, int tag, void *data, size_t bytes) override { return comm.receive(from, tag, data, bytes); }
  absl::StatusOr<bool> test(Request request) override { return comm.test(request); }
  void abort(int exitCode) override { comm.abort(exitCode); }
  absl::Status failureElsewhere() override { return failure; }
  std::string describeMissing(uint64_t collective) override { return "missing in " + std::to_string(collective); }
  absl::Status failure;

private:
  Communicator &comm;
};

template <typename T, typename Combine>
void expectTree(int size, const std::vector<int64_t> &lengths, rcp_kernel_v1 kernel, Combine combine) {
  onRanks(size, [&](Communicator &comm) {
    Staging staging;
    CommOptions options;
    options.staging = staging.data();
    std::vector<std::vector<T>> buffers;
    std::vector<AllReduce> ops;
    for (int64_t length : lengths) {
      buffers.emplace_back(size_t(length));
      for (int64_t i = 0; i < length; ++i)
        buffers.back()[size_t(i)] = valueOf<T>(comm.rank(), i);
    }
    for (std::vector<T> &buffer : buffers)
      ops.push_back(prepareAllReduce(comm, reinterpret_cast<std::byte *>(buffer.data()), int64_t(buffer.size()),
                                     sizeof(T), kernel, {}));
    CommThread thread(comm, options);
    CommThread::Ticket last = 0;
    for (const AllReduce &op : ops)
      last = thread.issue(op);
    ASSERT_TRUE(thread.wait(last).ok());
    for (const std::vector<T> &buffer : buffers)
      for (size_t i = 0; i < buffer.size(); ++i) {
        std::vector<T> values;
        for (int rank = 0; rank < size; ++rank)
          values.push_back(valueOf<T>(rank, int64_t(i)));
        T expected = tree(values, 0, values.size(), combine);
        ASSERT_EQ(std::memcmp(&expected, &buffer[i], sizeof(T)), 0)
            << size << " ranks, " << buffer.size() << " elements, element " << i << ", rank " << comm.rank();
      }
    if (size > 1) {
      EXPECT_EQ(thread.counters().collectives, lengths.size());
    }
  });
}

} // namespace

TEST(AllReduceTest, SumsAreThoseOfTheTreeOnEveryRank) {
  for (int size : {1, 2, 4, 8})
    expectTree<float>(size, {0, 1, 2, 3, 7, 15, 16, 17, 31, 33, 100, 1000, 4099}, addFloats,
                      [](float a, float b) { return a + b; });
}

TEST(AllReduceTest, LeftStaysLeft) {
  for (int size : {2, 4, 8, 16})
    expectTree<uint64_t>(size, {1, 5, 64, 1001}, pairUp,
                         [](uint64_t a, uint64_t b) { return a * 1000003 + b * 31 + 7; });
}

TEST(AllReduceTest, MoreThanTheStagingHolds) {
  // 4 MiB of staging; a rank of two receives 6 MiB, in 7 messages of which the last is short.
  expectTree<float>(2, {3 << 20, (3 << 20) + 5}, addFloats, [](float a, float b) { return a + b; });
}

/// Executes the lists of all ranks with rendezvous semantics: a transfer ends when both sides have begun it, an
/// exchange begins when the one before has ended. Returns an error's text or "".
std::string simulate(const std::vector<std::vector<Transfer>> &lists) {
  std::vector<size_t> at(lists.size(), 0); // first transfer of the exchange that each rank is in
  using Open = std::vector<const Transfer *>;
  std::vector<Open> open(lists.size());
  for (bool any = true; any;) {
    any = false;
    for (size_t rank = 0; rank < lists.size(); ++rank)
      if (open[rank].empty() && at[rank] < lists[rank].size()) {
        int exchange = lists[rank][at[rank]].exchange;
        for (; at[rank] < lists[rank].size() && lists[rank][at[rank]].exchange == exchange; ++at[rank])
          open[rank].push_back(&lists[rank][at[rank]]);
        any = true;
      }
    for (size_t rank = 0; rank < lists.size(); ++rank)
      for (const Transfer *send : Open(open[rank])) {
        if (send->kind != Transfer::Send)
          continue;
        Open &other = open[size_t(send->partner)];
        auto receive = std::find_if(other.begin(), other.end(), [&](const Transfer *t) {
          return t->kind == Transfer::Receive && t->partner == int(rank);
        });
        if (receive == other.end())
          continue;
        if ((*receive)->begin != send->begin || (*receive)->elements != send->elements)
          return "ranges differ";
        other.erase(receive);
        open[rank].erase(std::find(open[rank].begin(), open[rank].end(), send));
        any = true;
      }
  }
  for (size_t rank = 0; rank < lists.size(); ++rank)
    if (!open[rank].empty() || at[rank] < lists[rank].size())
      return "rank " + std::to_string(rank) + " waits for ever";
  return "";
}

TEST(AllReduceTest, ListsOfTransfersMatchInOrder) {
  for (int size : {1, 2, 4, 8, 16, 32})
    for (int64_t elements : {0, 1, 2, 15, 16, 17, 100, 1023})
      for (int64_t chunk : {1, 16, 100, 100000}) {
        std::vector<std::vector<Transfer>> lists;
        for (int rank = 0; rank < size; ++rank)
          lists.push_back(expandAllReduce(rank, size, elements, chunk));
        ASSERT_EQ(simulate(lists), "") << size << " ranks, " << elements << " elements, chunk " << chunk;
      }
}

TEST(AllReduceTest, ALostTransferIsFound) {
  std::vector<std::vector<Transfer>> lists;
  for (int rank = 0; rank < 4; ++rank)
    lists.push_back(expandAllReduce(rank, 4, 100, 32));
  for (size_t rank = 0; rank < 4; ++rank)
    for (size_t i = 0; i < lists[rank].size(); ++i) {
      auto mutant = lists;
      mutant[rank].erase(mutant[rank].begin() + long(i));
      EXPECT_NE(simulate(mutant), "");
    }
}

TEST(AllReduceTest, StaysWithinTheOptimalVolume) {
  // 2 (n - 1) / n of the buffer, apart from rounding to whole lines.
  for (int size : {2, 4, 8}) {
    int64_t elements = 1 << 16, sent = 0;
    for (const Transfer &t : expandAllReduce(0, size, elements, 1 << 18))
      sent += t.kind == Transfer::Send ? t.elements : 0;
    EXPECT_EQ(sent, 2 * elements * (size - 1) / size);
  }
}

TEST(CommThreadTest, AStallNamesTheOpAndWhoIsMissing) {
  onRanks(2, [&](Communicator &comm) {
    if (comm.rank() == 1)
      return; // never comes
    Staging staging;
    std::vector<float> buffer(100);
    CommOptions options;
    options.staging = staging.data();
    options.timeoutSeconds = 0.1;
    Told told(comm);
    AllReduce op = prepareAllReduce(comm, reinterpret_cast<std::byte *>(buffer.data()), 100, 4, addFloats,
                                    {0xabcULL, "gradient 'h.0.weight'", "tiny.recipe:3:1"});
    CommThread thread(told, options);
    absl::Status status = thread.wait(thread.issue(op));
    EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
    EXPECT_EQ(status.message(), "all-reduce of gradient 'h.0.weight' (op 0000000000000abc, tiny.recipe:3:1) made no "
                                "progress for 0.1 s; missing in 1");
    EXPECT_GT(thread.counters().exposedNanoseconds, 90'000'000);
    // Nothing after it is ever complete.
    EXPECT_FALSE(thread.wait(thread.issue(op)).ok());
  });
}

TEST(CommThreadTest, AFailureElsewhereEndsTheWait) {
  onRanks(2, [&](Communicator &comm) {
    if (comm.rank() == 1)
      return;
    Staging staging;
    std::vector<float> buffer(100);
    CommOptions options;
    options.staging = staging.data();
    Told told(comm);
    told.failure = absl::AbortedError("rank 1: out of luck");
    AllReduce op = prepareAllReduce(comm, reinterpret_cast<std::byte *>(buffer.data()), 100, 4, addFloats, {});
    CommThread thread(told, options);
    EXPECT_EQ(thread.wait(thread.issue(op)), absl::AbortedError("rank 1: out of luck"));
  });
}

TEST(CommThreadTest, ItCanBeDestroyedWhileACollectiveWaits) {
  onRanks(2, [&](Communicator &comm) {
    if (comm.rank() == 1)
      return;
    Staging staging;
    std::vector<float> buffer(100);
    CommOptions options;
    options.staging = staging.data();
    AllReduce op = prepareAllReduce(comm, reinterpret_cast<std::byte *>(buffer.data()), 100, 4, addFloats, {});
    CommThread thread(comm, options);
    thread.issue(op);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  });
}
