#include "runtime/executor/Prefetcher.h"
#include <cassert>
#include <sched.h>

using namespace recipe::rt;

Prefetcher::Prefetcher(BatchSource &source, std::vector<int> cpus)
    : source(source), cpus(std::move(cpus)), thread([this] { work(); }) {}

Prefetcher::~Prefetcher() {
  {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [&] { return phase != Requested; });
    phase = Stop;
  }
  changed.notify_all();
  thread.join();
}

void Prefetcher::request(int64_t nextStep, int64_t nextMicrobatch, const MicroBatch &nextOut) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    assert(phase == Idle && "one request at a time");
    step = nextStep;
    microbatch = nextMicrobatch;
    out = nextOut;
    phase = Requested;
  }
  changed.notify_all();
}

absl::Status Prefetcher::wait() {
  std::unique_lock<std::mutex> lock(mutex);
  assert(phase != Idle && "nothing was requested");
  changed.wait(lock, [&] { return phase == Done; });
  phase = Idle;
  return result;
}

void Prefetcher::work() {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int cpu : cpus)
    CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set); // an optimisation: a refusal changes nothing but speed
  std::unique_lock<std::mutex> lock(mutex);
  for (;;) {
    changed.wait(lock, [&] { return phase == Requested || phase == Stop; });
    if (phase == Stop)
      return;
    lock.unlock();
    absl::Status status = source.fill(step, microbatch, out);
    lock.lock();
    result = std::move(status);
    phase = Done;
    changed.notify_all();
  }
}
