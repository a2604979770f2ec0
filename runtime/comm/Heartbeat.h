// Signs of life between the ranks of a run, beside its messages: they tell who is missing when a message does not come,
// and carry the reason why a rank gave up.
#ifndef RUNTIME_COMM_HEARTBEAT_H
#define RUNTIME_COMM_HEARTBEAT_H
#include "runtime/base/WakefulClock.h"
#include "runtime/comm/Communicator.h"
#include <array>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <netinet/in.h>
#include <thread>

namespace recipe::rt {

/// Datagrams over UDP, from a thread of its own, to all other ranks. They decide nothing that the results depend on: a
/// lost one makes a message vaguer. Any thread may call.
class Heartbeat {
public:
  /// All ranks call it. A rank is silent when nothing was heard of it for a part of `timeoutSeconds`.
  static absl::StatusOr<std::unique_ptr<Heartbeat>> create(Communicator &comm, double timeoutSeconds);
  ~Heartbeat();
  Heartbeat(const Heartbeat &) = delete;
  Heartbeat &operator=(const Heartbeat &) = delete;

  /// What this rank is at.
  void setStep(int64_t step) { ownStep = step; }
  void setCollective(uint64_t collective) { ownCollective = collective; }

  /// This rank begins (+1) or has ended (-1) a piece of work on files.
  void workOnFiles(int change) { ownFileWorks += change; }
  /// Since another rank last said that it works on files; infinite if none has.
  double secondsSinceFileWork() const;

  /// The first failure that another rank told of: its own words under its rank.
  absl::Status failureElsewhere() const;
  /// Ranks that are silent, or else those that have not come to the collective (0: not asked).
  std::string describeMissing(uint64_t collective) const;

  /// This rank gives up for that reason. True if it is the one that must tell the user: the lowest one that shows
  /// life. The others wait until that one has, or for two seconds.
  bool giveUp(const absl::Status &reason);
  /// The user has been told.
  void reported();

private:
  struct Peer {
    std::string name; // "rank 1 (host node7, process 4711)"
    std::vector<sockaddr_in> addresses;
    int64_t heard = 0; // of `clock`
    int64_t step = -1;
    uint64_t collective = 0;
  };
  struct Packet;

  Heartbeat(int socket, int rank, double timeoutSeconds);
  absl::Status meet(Communicator &comm);
  void work();
  void send();
  void receive();
  void take(const Packet &packet);
  double secondsSince(int64_t time) const;
  bool silent(const Peer &peer) const;
  int lowestAlive() const;

  const int socket, rank;
  const double interval, silence;  // seconds
  std::array<uint8_t, 16> token{}; // of the run: datagrams of others are not for us
  std::atomic<int64_t> ownStep{-1};
  std::atomic<uint64_t> ownCollective{0};
  std::atomic<int> ownFileWorks{0};

  mutable std::mutex mutex; // of all that follows
  WakefulClock clock;       // of the thread: while it cannot listen, nobody is silent
  std::condition_variable changed;
  std::vector<Peer> peers;  // by rank; one's own is unused
  int64_t fileWorkSeen = 0; // of `clock`
  int failedRank = -1;      // the first that told of a failure
  absl::Status failure;
  absl::Status ownFailure;
  bool reportedHere = false, reportedElsewhere = false;
  bool stop = false;
  int wake[2]; // a pipe: the thread sleeps on it and on the socket
  std::thread thread;
};

/// A communicator that knows what a heartbeat knows. Owns neither.
class WatchedCommunicator final : public Communicator {
public:
  WatchedCommunicator(Communicator &comm, Heartbeat &heartbeat) : comm(comm), heartbeat(heartbeat) {}
  int rank() const override { return comm.rank(); }
  int size() const override { return comm.size(); }
  Request send(int to, int tag, const void *data, size_t bytes) override { return comm.send(to, tag, data, bytes); }
  Request receive(int from, int tag, void *data, size_t bytes) override { return comm.receive(from, tag, data, bytes); }
  absl::StatusOr<bool> test(Request request) override { return comm.test(request); }
  void abort(int exitCode) override { comm.abort(exitCode); }
  absl::Status failureElsewhere() override { return heartbeat.failureElsewhere(); }
  std::string describeMissing(uint64_t collective) override { return heartbeat.describeMissing(collective); }
  void reached(uint64_t collective) override { heartbeat.setCollective(collective); }
  void workOnFiles(int change) override { heartbeat.workOnFiles(change); }
  double secondsSinceFileWork() override { return heartbeat.secondsSinceFileWork(); }

private:
  Communicator &comm;
  Heartbeat &heartbeat;
};

} // namespace recipe::rt
#endif
