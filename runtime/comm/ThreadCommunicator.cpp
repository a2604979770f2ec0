#include "runtime/comm/ThreadCommunicator.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include <cassert>
#include <cstring>
#include <deque>
#include <mutex>
#include <tuple>

using namespace recipe::rt;

namespace {

struct Transfer {
  bool isSend;
  void *to; // one of the two
  const void *from;
  size_t bytes;
  bool done = false;
  absl::Status status{};
};

/// What the ranks share. A queue holds sends that wait for their receives or receives that wait for their sends.
struct Exchange {
  std::mutex mutex;
  bool aborted = false;
  absl::flat_hash_map<std::tuple<int, int, int>, std::deque<std::shared_ptr<Transfer>>> waiting; // from, to, tag
};

class ThreadCommunicator final : public Communicator {
public:
  ThreadCommunicator(std::shared_ptr<Exchange> exchange, int rank, int size)
      : exchange(std::move(exchange)), ownRank(rank), ranks(size) {}

  int rank() const override { return ownRank; }
  int size() const override { return ranks; }
  Request send(int to, int tag, const void *data, size_t bytes) override {
    return post({ownRank, to, tag}, std::make_shared<Transfer>(Transfer{true, nullptr, data, bytes}));
  }
  Request receive(int from, int tag, void *data, size_t bytes) override {
    return post({from, ownRank, tag}, std::make_shared<Transfer>(Transfer{false, data, nullptr, bytes}));
  }
  absl::StatusOr<bool> test(Request request) override;
  void abort(int exitCode) override {
    std::lock_guard<std::mutex> lock(exchange->mutex);
    exchange->aborted = true;
  }

private:
  Request post(const std::tuple<int, int, int> &route, std::shared_ptr<Transfer> transfer);

  std::shared_ptr<Exchange> exchange;
  int ownRank, ranks;
  Request next = 0;                                               // guarded by exchange->mutex
  absl::flat_hash_map<Request, std::shared_ptr<Transfer>> flight; // likewise
};

} // namespace

static void deliver(Transfer &send, Transfer &receive) {
  if (send.bytes == receive.bytes)
    std::memcpy(receive.to, send.from, send.bytes);
  else
    for (Transfer *side : {&send, &receive})
      side->status = absl::InternalError(
          absl::StrCat("a message must be as long as its receive, got ", send.bytes, " and ", receive.bytes));
  send.done = receive.done = true;
}

Communicator::Request ThreadCommunicator::post(const std::tuple<int, int, int> &route,
                                               std::shared_ptr<Transfer> transfer) {
  assert(std::get<0>(route) != std::get<1>(route) && "a rank does not send to itself");
  std::lock_guard<std::mutex> lock(exchange->mutex);
  auto &queue = exchange->waiting[route];
  if (!queue.empty() && queue.front()->isSend != transfer->isSend) {
    Transfer &other = *queue.front();
    transfer->isSend ? deliver(*transfer, other) : deliver(other, *transfer);
    queue.pop_front();
  } else {
    queue.push_back(transfer);
  }
  Request request = next++;
  flight[request] = std::move(transfer);
  return request;
}

absl::StatusOr<bool> ThreadCommunicator::test(Request request) {
  std::lock_guard<std::mutex> lock(exchange->mutex);
  auto found = flight.find(request);
  assert(found != flight.end() && "a complete transfer is gone");
  if (exchange->aborted)
    return absl::AbortedError("the run was aborted");
  if (!found->second->done)
    return false;
  absl::Status status = found->second->status;
  flight.erase(found);
  if (!status.ok())
    return status;
  return true;
}

std::vector<std::unique_ptr<Communicator>> recipe::rt::makeThreadCommunicators(int size) {
  auto exchange = std::make_shared<Exchange>();
  std::vector<std::unique_ptr<Communicator>> ranks;
  for (int rank = 0; rank < size; ++rank)
    ranks.push_back(std::make_unique<ThreadCommunicator>(exchange, rank, size));
  return ranks;
}
