// Bytes between the ranks of a run, point to point. Whatever needs an order of summation is built on this
// (TreeAllReduce): message passing libraries promise none.
#ifndef RUNTIME_COMM_COMMUNICATOR_H
#define RUNTIME_COMM_COMMUNICATOR_H
#include "absl/types/span.h"
#include "runtime/base/Status.h"
#include <cstdint>
#include <string>
#include <vector>

namespace recipe::rt {

/// Transfers between a pair of ranks that have the same tag arrive in the order in which they were sent. Any thread may
/// call at any time. Sending to oneself is not allowed.
class Communicator {
public:
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// A transfer in flight.
  using Request = int;

  /// Returns at once; `data` belongs to the transfer until test() says that it is complete. A send may wait for its
  /// receive. Tags are 0..kTags-1; the length must be that of the other side.
  virtual Request send(int to, int tag, const void *data, size_t bytes) = 0;
  virtual Request receive(int from, int tag, void *data, size_t bytes) = 0;
  /// True if the transfer is complete, and then the request is gone. The error of a broken connection or of an abort.
  virtual absl::StatusOr<bool> test(Request request) = 0;

  /// The run has failed: transfers of all ranks fail or never end, and what can be told to end the other ranks is told.
  virtual void abort() = 0;

  static constexpr int kTags = 1 << 15;
  /// Tags from here on belong to the small collectives below.
  static constexpr int kSmallCollectives = kTags - 16;
};

/// The only rank of a run. No transfer exists.
class SelfCommunicator final : public Communicator {
public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  Request send(int to, int tag, const void *data, size_t bytes) override;
  Request receive(int from, int tag, void *data, size_t bytes) override;
  absl::StatusOr<bool> test(Request request) override;
  void abort() override {}
};

/// Waits for all of them: spins for at most 50 us, then sleeps between tests. DeadlineExceeded if nothing of it has
/// become complete for `timeoutSeconds`; the transfers are then still in flight and the run cannot go on.
absl::Status waitFor(Communicator &comm, absl::Span<const Communicator::Request> requests, double timeoutSeconds);

/// Small collectives for starting, stopping and agreeing; all ranks call the same ones in the same order, one at a
/// time. Each takes about log2(size) messages of a rank. Any size of the run.
absl::Status barrier(Communicator &comm, double timeoutSeconds);
/// `bytes` of rank 0 to all; the length is rank 0's.
absl::Status broadcast(Communicator &comm, std::string &bytes, double timeoutSeconds);
/// The bytes of all ranks, in the order of ranks; lengths may differ.
absl::StatusOr<std::vector<std::string>> allGather(Communicator &comm, const std::string &bytes, double timeoutSeconds);

} // namespace recipe::rt
#endif
