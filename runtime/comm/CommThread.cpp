#include "runtime/comm/CommThread.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/base/Clock.h"
#include "runtime/comm/Backoff.h"
#include "runtime/device/cpu/FloatingPoint.h"
#include <cassert>
#include <sched.h>

using namespace recipe::rt;

static void runOn(const std::vector<int> &cpus) {
  if (cpus.empty())
    return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int cpu : cpus)
    CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set); // an optimisation: a refusal changes nothing but speed
}

CommThread::CommThread(Communicator &comm, CommOptions commOptions)
    : comm(comm), options(std::move(commOptions)), engine(comm, options.staging), thread([this] { work(); }) {}

CommThread::~CommThread() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    stop = true;
  }
  changed.notify_all();
  thread.join();
}

CommThread::Ticket CommThread::issue(const AllReduce &op) {
  Ticket ticket = issued.load(std::memory_order_relaxed) + 1;
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [&] { return ticket - completed < kQueue || failed; });
  queue[ticket % kQueue] = &op;
  issued = ticket;
  lock.unlock();
  comm.reached(ticket);
  changed.notify_all();
  return ticket;
}

absl::Status CommThread::wait(Ticket ticket) {
  assert(ticket <= issued && "it was issued");
  if (completedCount() >= ticket)
    return absl::OkStatus();
  int64_t begin = nowNanoseconds();
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [&] { return completed >= ticket || failed; });
  exposed += nowNanoseconds() - begin;
  return completed >= ticket ? absl::OkStatus() : failure;
}

CommThread::Counters CommThread::counters() const {
  std::lock_guard<std::mutex> lock(mutex);
  Counters counters = total;
  counters.exposedNanoseconds = exposed;
  return counters;
}

void CommThread::work() {
  runOn(options.cpus);
  KernelFloatingPoint environment;
  for (Ticket ticket = 1;; ++ticket) {
    const AllReduce *op;
    {
      std::unique_lock<std::mutex> lock(mutex);
      changed.wait(lock, [&] { return issued >= ticket || stop; });
      if (stop)
        return;
      op = queue[ticket % kQueue];
    }
    int64_t begin = nowNanoseconds();
    absl::Status status = execute(*op, ticket);
    std::unique_lock<std::mutex> lock(mutex);
    total.busyNanoseconds += nowNanoseconds() - begin;
    total.bytesSent = engine.bytesSent();
    ++total.collectives;
    if (status.ok()) {
      completed = ticket;
    } else {
      failure = std::move(status);
      failed = true;
    }
    lock.unlock();
    changed.notify_all();
    if (failed)
      return;
  }
}

absl::Status CommThread::execute(const AllReduce &op, Ticket ticket) {
  engine.start(op, int(ticket % uint64_t(Communicator::kSmallCollectives)));
  Backoff backoff;
  while (true) {
    RCP_ASSIGN_OR_RETURN(TreeAllReduce::Progress progress, engine.poll());
    if (progress == TreeAllReduce::Done)
      return absl::OkStatus();
    if (progress == TreeAllReduce::Some) {
      backoff.progress();
      continue;
    }
    if (double idle = backoff.idleSeconds(); idle > 0.001) {
      if (stop)
        return absl::CancelledError("the communication was stopped");
      RCP_RETURN_IF_ERROR(comm.failureElsewhere());
      if (idle > options.timeoutSeconds && comm.secondsSinceFileWork() > options.timeoutSeconds)
        return stalled(op, ticket, idle);
    }
    backoff.pause();
  }
}

absl::Status CommThread::stalled(const AllReduce &op, Ticket ticket, double seconds) const {
  // Those of the selftest are no ops.
  std::string where =
      op.op.id == 0 ? ""
                    : absl::StrFormat(" (op %016x%s%s)", op.op.id, op.op.location.empty() ? "" : ", ", op.op.location);
  std::string text = absl::StrFormat("all-reduce of %s%s made no progress for %.1f s", op.op.name, where, seconds);
  if (std::string missing = comm.describeMissing(ticket); !missing.empty())
    absl::StrAppend(&text, "; ", missing);
  return absl::DeadlineExceededError(text);
}
