// This process as one rank of a run: joins the others, shares the host with them, ends with them.
#ifndef RUNTIME_TOOLS_RANKPROCESS_H
#define RUNTIME_TOOLS_RANKPROCESS_H
#include "runtime/comm/Heartbeat.h"
#include "runtime/comm/RankEnvironment.h"
#include <functional>
#include <memory>

namespace recipe::rt {

/// Once in the life of a process, made by main.
class RankProcess {
public:
  /// Waits for the other ranks for at most `timeoutSeconds`, after which the process ends with a message.
  static absl::StatusOr<RankProcess> join(const RankEnvironment &environment, double timeoutSeconds);

  Communicator &communicator() { return *watched; }
  Heartbeat &heartbeat() { return *life; }
  int rank() const { return comm->rank(); }

  struct HostShare {
    int threads;
    bool sharesCpus; // there are too few CPUs for all ranks on this host
  };
  /// Gives this process its share of the host's CPUs, if there are enough for all ranks on it, and says how many
  /// threads it should run: `wanted`, or for 0 its share, at most `most`. All ranks call it.
  absl::StatusOr<HostShare> shareHost(int wanted, int most);

  /// The run has ended well on all ranks, or will be found not to have. All ranks call it.
  absl::Status leave();
  /// The run has failed. `tell` prints the reason if it is this rank's to print. Ends the other ranks, then this one.
  [[noreturn]] void giveUp(const absl::Status &reason, int exitCode, const std::function<void()> &tell);

private:
  RankProcess(std::unique_ptr<Communicator> comm, double timeoutSeconds)
      : comm(std::move(comm)), timeoutSeconds(timeoutSeconds) {}

  std::unique_ptr<Communicator> comm;
  std::unique_ptr<Heartbeat> life;
  std::unique_ptr<WatchedCommunicator> watched;
  double timeoutSeconds;
};

/// The CPUs of one of the ranks on a host, that run `threads` threads each; empty if there are too few for all.
std::vector<int> shareOfCpus(const std::vector<int> &cpus, int rankOnHost, int ranksOnHost, int threads);

/// When another rank is gone or did not answer, a restart may help: not the run but its means have failed.
bool isLoss(const absl::Status &status);

} // namespace recipe::rt
#endif
