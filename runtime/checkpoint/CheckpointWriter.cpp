#include "runtime/checkpoint/CheckpointWriter.h"
#include "runtime/base/Clock.h"
#include <sched.h>

using namespace recipe::rt;

CheckpointWriter::~CheckpointWriter() {
  if (thread.joinable())
    thread.join();
}

absl::Status CheckpointWriter::start(CheckpointRequest request) {
  RCP_RETURN_IF_ERROR(waitUntilDurable());
  if (thread.joinable())
    thread.join();
  int64_t step = request.manifest.step;
  begun = nowSeconds();
  RCP_ASSIGN_OR_RETURN(CheckpointSave save, CheckpointSave::begin(std::move(request)));
  saved = {save.path(), step, 0, nowSeconds() - begun};
  phase = Phase::Reading;
  thread = std::thread([this, save = std::move(save)]() mutable { work(std::move(save)); });
  return absl::OkStatus();
}

void CheckpointWriter::work(CheckpointSave save) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int cpu : cpus)
    CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set); // an optimisation: a refusal changes nothing but speed
  absl::Status status = save.readState();
  setPhase(Phase::Finishing, status);
  if (status.ok())
    status = save.finish();
  setPhase(Phase::Durable, status);
}

void CheckpointWriter::setPhase(Phase next, absl::Status status) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    phase = next;
    result = std::move(status);
    saved.seconds = nowSeconds() - begun;
  }
  changed.notify_all();
}

absl::Status CheckpointWriter::wait(Phase least) {
  std::unique_lock<std::mutex> lock(mutex);
  if (phase == Phase::Idle)
    return result;
  double before = nowSeconds();
  changed.wait(lock, [&] { return phase == Phase::Idle || phase >= least; });
  saved.exposedSeconds += nowSeconds() - before;
  return result;
}

absl::Status CheckpointWriter::waitUntilRead() { return wait(Phase::Finishing); }

absl::Status CheckpointWriter::waitUntilDurable() { return wait(Phase::Durable); }

std::optional<SavedCheckpoint> CheckpointWriter::takeSaved() {
  std::lock_guard<std::mutex> lock(mutex);
  if (phase != Phase::Durable || !result.ok())
    return std::nullopt;
  phase = Phase::Idle;
  return saved;
}
