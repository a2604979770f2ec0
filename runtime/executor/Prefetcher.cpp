#include "runtime/executor/Prefetcher.h"
#include <algorithm>
#include <cassert>
#include <sched.h>

using namespace recipe::rt;

static MicroBatch viewOf(std::vector<int32_t> &values, int64_t samples, int64_t length) {
  int64_t size = samples * length;
  return {values.data(), values.data() + size, values.data() + 2 * size, samples, length};
}

Prefetcher::Prefetcher(BatchSource &source, PrefetchOptions prefetchOptions)
    : source(source), options(std::move(prefetchOptions)) {
  assert(options.depth > 0 && options.microbatches > 0);
  if (options.workers == 0)
    return;
  ring.resize(size_t(options.depth));
  for (Slot &slot : ring)
    slot.values.resize(size_t(3 * options.samples * options.length));
  for (int64_t i = 0; i < options.workers; ++i)
    threads.emplace_back([this] { work(); });
}

Prefetcher::~Prefetcher() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    stopping = true;
  }
  changed.notify_all();
  for (std::thread &thread : threads)
    thread.join();
}

absl::Status Prefetcher::fill(int64_t sequence, const MicroBatch &out) {
  return source.fill(options.firstStep + sequence / options.microbatches,
                     options.firstMicrobatch + sequence % options.microbatches, out);
}

absl::Status Prefetcher::next(const MicroBatch &out) {
  assert(out.samples == options.samples && out.length == options.length);
  if (options.workers == 0)
    return fill(taken++, out);
  Slot &slot = ring[size_t(taken % options.depth)];
  {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [&] { return slot.ready; });
  }
  // No worker touches the slot before `taken` has moved on.
  int64_t size = options.samples * options.length;
  const int32_t *values = slot.values.data();
  for (int32_t *array : {out.tokens, out.labels, out.positions}) {
    std::copy_n(values, size, array);
    values += size;
  }
  absl::Status status = slot.status;
  {
    std::lock_guard<std::mutex> lock(mutex);
    slot.ready = false;
    ++taken;
  }
  changed.notify_all();
  return status;
}

void Prefetcher::work() {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int cpu : options.cpus)
    CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set); // an optimisation: a refusal changes nothing but speed
  std::unique_lock<std::mutex> lock(mutex);
  for (;;) {
    changed.wait(lock, [&] { return stopping || started < taken + options.depth; });
    if (stopping)
      return;
    int64_t sequence = started++;
    Slot &slot = ring[size_t(sequence % options.depth)];
    lock.unlock();
    slot.status = fill(sequence, viewOf(slot.values, options.samples, options.length));
    lock.lock();
    slot.ready = true;
    changed.notify_all();
  }
}
