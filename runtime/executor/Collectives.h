// The collectives of a step on one rank of several: issued to the communication thread, waited for by signal.
#ifndef RUNTIME_EXECUTOR_COLLECTIVES_H
#define RUNTIME_EXECUTOR_COLLECTIVES_H
#include "absl/container/flat_hash_map.h"
#include "runtime/comm/CommThread.h"
#include "runtime/device/cpu/Arena.h"
#include "runtime/loader/Loader.h"
#include <memory>
#include <vector>

namespace recipe::rt {

/// One thread issues and waits. Nothing is allocated after the constructor.
class Collectives {
public:
  /// `options` without staging, which lies in the arena. The step and the arena must outlive this.
  Collectives(const LoadedStep &step, const Arena &arena, Communicator &comm, CommOptions options);

  /// The place of the collective with this signal.
  size_t find(uint64_t signal) const { return bySignal.at(signal); }
  void issue(size_t index) { tickets[index] = thread->issue(operations[index]); }
  /// Until it is complete, if it was issued and not waited for since.
  absl::Status wait(size_t index);
  absl::Status waitForAll();

  Communicator &communicator() { return comm; }
  double timeoutSeconds() const { return timeout; }
  CommThread::Counters counters() const { return thread->counters(); }

private:
  Communicator &comm;
  double timeout;
  std::vector<AllReduce> operations;
  std::vector<CommThread::Ticket> tickets; // 0: not under way
  absl::flat_hash_map<uint64_t, size_t> bySignal;
  std::unique_ptr<CommThread> thread; // last: it uses the operations
};

} // namespace recipe::rt
#endif
