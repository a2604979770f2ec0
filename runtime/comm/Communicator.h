// Bytes between the ranks of a run, point to point. Whatever needs an order of summation is built on this
// (TreeAllReduce): message passing libraries promise none.
#ifndef RUNTIME_COMM_COMMUNICATOR_H
#define RUNTIME_COMM_COMMUNICATOR_H
#include "absl/types/span.h"
#include "runtime/base/Status.h"
#include <cstdint>
#include <limits>
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

  /// The run has failed: ends the other ranks as far as the transport can, and this one where the transport does that,
  /// with this exit code.
  virtual void abort(int exitCode) = 0;

  /// What is known of the run besides its messages (WatchedCommunicator): asked while nothing arrives. An error if
  /// another rank has failed; who is missing, in words, "" if that is not known. `collective` is the number of the one
  /// that waits, 0 for a message of another kind.
  virtual absl::Status failureElsewhere() { return absl::OkStatus(); }
  virtual std::string describeMissing(uint64_t collective) { return ""; }
  /// This rank has come to that collective.
  virtual void reached(uint64_t collective) {}
  /// This rank begins (+1) or has ended (-1) work on files, which takes as long as it takes (FileWork).
  virtual void workOnFiles(int change) {}
  /// Since another rank was last known to live and to work on files: such a rank is late, not lost.
  virtual double secondsSinceFileWork() { return std::numeric_limits<double>::infinity(); }

  /// What this rank is at, in words; "" if nobody said so (Activity).
  const char *activity() const { return ownActivity; }
  void setActivity(const char *words) { ownActivity = words; }

  static constexpr int kTags = 1 << 15;
  /// Tags from here on belong to the small collectives below.
  static constexpr int kSmallCollectives = kTags - 16;

private:
  const char *ownActivity = "";
};

/// While it exists, a message that does not come is missed in this activity. Of the thread that calls the small
/// collectives.
class Activity {
public:
  /// Null: there is nobody to wait for. `words` must live as long.
  Activity(Communicator *comm, const char *words) : comm(comm), before(comm ? comm->activity() : "") { tell(words); }
  ~Activity() { tell(before); }
  Activity(const Activity &) = delete;
  Activity &operator=(const Activity &) = delete;

private:
  void tell(const char *words) {
    if (comm)
      comm->setActivity(words);
  }
  Communicator *comm;
  const char *before;
};

/// While it exists, others wait for this rank for as long as it shows life: a disk may be slow. Not for a piece of work
/// that waits for other ranks.
class FileWork {
public:
  /// Null: there is nobody to wait.
  explicit FileWork(Communicator *comm) : comm(comm) { tell(1); }
  ~FileWork() { tell(-1); }
  FileWork(const FileWork &) = delete;
  FileWork &operator=(const FileWork &) = delete;

private:
  void tell(int change) {
    if (comm)
      comm->workOnFiles(change);
  }
  Communicator *comm;
};

/// The only rank of a run. No transfer exists.
class SelfCommunicator final : public Communicator {
public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  Request send(int to, int tag, const void *data, size_t bytes) override;
  Request receive(int from, int tag, void *data, size_t bytes) override;
  absl::StatusOr<bool> test(Request request) override;
  void abort(int) override {}
};

/// Waits for all of them: spins for at most 50 us, then sleeps between tests. DeadlineExceeded if nothing of it has
/// become complete for `timeoutSeconds` in which no rank worked on files; the transfers are then still in flight and
/// the run cannot go on.
absl::Status waitFor(Communicator &comm, absl::Span<const Communicator::Request> requests, double timeoutSeconds);

/// Small collectives for starting, stopping and agreeing; all ranks call the same ones in the same order, one at a
/// time. Each takes about log2(size) messages of a rank. Any size of the run.
absl::Status barrier(Communicator &comm, double timeoutSeconds);
/// `bytes` of rank 0 to all; the length is rank 0's.
absl::Status broadcast(Communicator &comm, std::string &bytes, double timeoutSeconds);
/// The bytes of all ranks, in the order of ranks; lengths may differ.
absl::StatusOr<std::vector<std::string>> allGather(Communicator &comm, const std::string &bytes, double timeoutSeconds);
/// Whether any rank says so.
absl::StatusOr<bool> anyRank(Communicator &comm, bool own, double timeoutSeconds);
/// Ok if all ranks say so; else one's own error, or that of the first rank that has one.
absl::Status agree(Communicator &comm, const absl::Status &own, double timeoutSeconds);

} // namespace recipe::rt
#endif
