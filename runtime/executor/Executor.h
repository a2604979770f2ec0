// Runs a loaded step: owns the arena, the threads and the step's scalars, follows the schedule.
#ifndef RUNTIME_EXECUTOR_EXECUTOR_H
#define RUNTIME_EXECUTOR_EXECUTOR_H
#include "absl/types/span.h"
#include "runtime/device/cpu/Arena.h"
#include "runtime/device/cpu/ThreadPool.h"
#include "runtime/executor/BatchSource.h"
#include "runtime/executor/Prefetcher.h"
#include "runtime/executor/Program.h"
#include "runtime/loader/Loader.h"
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace recipe::rt {

struct ExecutorOptions {
  int threads = 0;         // 0: one for each CPU, at most target.max_threads
  bool sharesCpus = false; // with other ranks that compute on them
  bool timed = false;
  Communicator *communicator = nullptr; // of a run on several ranks; must outlive the executor. Null: the only rank
  CommOptions communication;            // the executor adds staging and CPUs
};

struct StepResult {
  int64_t step = 0;        // updates done before this one
  double loss = 0;         // per valid token
  int64_t validTokens = 0; // in the global batch
  double gradNorm = 0;     // before clipping
  double learningRate = 0;
  double dataWaitMs = 0; // time in which nothing was computed for want of data
  double commWaitMs = 0; // likewise, of sums over ranks
  int64_t commBytes = 0; // sent to other ranks
  bool skipped = false;  // the update was not applied
};

struct EvaluationResult {
  double loss = 0; // per valid token of the whole set
  int64_t validTokens = 0;
};

/// One thread at a time. A step allocates nothing.
class Executor {
public:
  static absl::StatusOr<std::unique_ptr<Executor>> create(LoadedStep step, const ExecutorOptions &options);

  const abi::Step &step() const { return *loaded.step; }
  const RankPlan &plan() const { return loaded.plan; }
  const RunTimeKeys &keys() const { return loaded.keys; }
  int threads() const { return pool->threads(); }
  /// The processors that threads beside the computation may use.
  const std::vector<int> &cpus() const { return pool->allCpus(); }
  int64_t rank() const { return collectives ? collectives->communicator().rank() : 0; }

  /// Runs `init`, if the step has one.
  void initialize();
  /// Training goes on with update `firstStep` on the source's data, which must outlive the executor. What the step
  /// keeps of parameters in another form (`refresh`) is made from those that are there now.
  absl::Status begin(BatchSource &source, int64_t firstStep);
  /// `hook` runs before the part of a step that may change parameters and optimizer state; its error ends the step.
  void beforeUpdate(std::function<absl::Status()> hook) { updateHook = std::move(hook); }
  /// One update; all ranks run it together. Its status is the source's or, on several ranks, the communication's.
  absl::StatusOr<StepResult> runStep();
  /// Runs `eval` over the whole set, which the ranks share; all get the same result, whatever their number. Training
  /// goes on afterwards as if nothing had happened.
  absl::StatusOr<EvaluationResult> evaluate(EvaluationSource &source);

  /// For tests: one program by itself, as micro-batch `microbatch` of the step in params(), inputs in slot 0.
  absl::Status runProgram(const std::string &name, int64_t microbatch = 0);
  /// For tests: the bytes of a buffer; an input has two slots.
  absl::StatusOr<absl::Span<std::byte>> buffer(const std::string &name, int slot = 0);
  std::byte *bufferData(uint32_t index) { return bufferAddress(arena, step().buffers(int(index)), 0); }
  rcp_step_params_v1 &params() { return scalars; }

  /// After a skipped update: the first parameter whose value or gradient is not finite, or "".
  std::string firstBadParameter();
  /// Per instruction, if timed.
  const std::vector<std::unique_ptr<Program>> &allPrograms() const { return programs; }

private:
  Executor(LoadedStep step, Arena arena, int threads, const ExecutorOptions &options);
  absl::Status resolveSchedule();
  Program *find(const std::string &name);
  absl::Status run(Program &program, const ProgramPosition &position);
  /// Of one micro-batch that is in the slot.
  absl::Status runMicrobatch(int64_t microbatch, int slot);
  StepResult resultOfStep() const;
  /// Sets everything that the executor writes, and clears what the compiled code writes.
  void resetParams(int64_t step);
  ProgramPosition enterMicrobatch(int64_t microbatch, int slot);
  MicroBatch inputs(int slot);
  /// One batch of the evaluation set: its loss and its valid tokens.
  struct BatchLoss {
    double sum = 0;
    int64_t validTokens = 0;
  };
  absl::Status evaluateOwn(Program &eval, EvaluationSource &source, std::vector<BatchLoss> &own);
  /// Those of all batches, in order, from each rank's own.
  absl::StatusOr<std::vector<BatchLoss>> gather(const std::vector<BatchLoss> &own, const absl::Status &status,
                                                int64_t count);

  LoadedStep loaded;
  Arena arena;
  std::unique_ptr<ThreadPool> pool;
  std::unique_ptr<Collectives> collectives; // null: the only rank
  bool timed;
  uint64_t seed = 0;
  alignas(64) rcp_step_params_v1 scalars{};
  std::vector<std::unique_ptr<Program>> programs;
  std::vector<Program *> before, body, after; // the schedule, around its loop over micro-batches
  std::vector<int32_t> unused;                // stands in for inputs that the step does not have
  int32_t *inputData[3][2] = {};              // tokens, labels, positions; two slots

  std::function<absl::Status()> updateHook;
  std::unique_ptr<Prefetcher> prefetcher;
  int64_t nextStep = 0;
  int64_t sequence = 0; // of the next micro-batch; it goes to slot sequence % 2
};

} // namespace recipe::rt
#endif
