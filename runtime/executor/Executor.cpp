#include "runtime/executor/Executor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/Clock.h"
#include "runtime/executor/InputCheck.h"
#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>

using namespace recipe::rt;

static const rcp_host_v1 hostFunctions = {std::exp, std::log, std::pow, std::cos};

static const char *const inputNames[3] = {"input:tokens", "input:labels", "input:positions"};

static absl::StatusOr<int> chooseThreads(const recipe::abi::Manifest &manifest, int wanted) {
  int limit = int(manifest.max_threads());
  if (wanted < 0 || wanted > limit)
    return absl::InvalidArgumentError(
        absl::StrCat("the number of threads must be 1..target.max_threads, got ", wanted, " and ", limit));
  if (wanted > 0)
    return wanted;
  return std::clamp(int(allowedCpus().size()), 1, limit);
}

absl::StatusOr<std::unique_ptr<Executor>> Executor::create(LoadedStep step, const ExecutorOptions &options) {
  RCP_ASSIGN_OR_RETURN(int threads, chooseThreads(step.step->manifest(), options.threads));
  RCP_ASSIGN_OR_RETURN(Arena arena, Arena::create(step.plan.memory));
  int ranks = options.communicator ? options.communicator->size() : 1;
  if (ranks != step.plan.ranks)
    return absl::InvalidArgumentError(absl::StrCat("a step must run on the number of ranks it was loaded for, got ",
                                                   ranks, " and ", step.plan.ranks));
  std::unique_ptr<Executor> executor(new Executor(std::move(step), std::move(arena), threads, options));
  RCP_RETURN_IF_ERROR(executor->resolveSchedule());
  return executor;
}

Executor::Executor(LoadedStep step, Arena arenaOfStep, int threads, const ExecutorOptions &options)
    : loaded(std::move(step)), arena(std::move(arenaOfStep)),
      pool(std::make_unique<ThreadPool>(threads, options.sharesCpus)), timed(options.timed) {
  const abi::Step &s = *loaded.step;
  (void)absl::SimpleAtoi(loaded.keys.text("experiment.seed", "0"), &seed);
  if (loaded.plan.ranks > 1) {
    CommOptions communication = options.communication;
    communication.cpus = pool->allCpus();
    collectives = std::make_unique<Collectives>(loaded, arena, *options.communicator, std::move(communication));
  }
  for (const abi::SubProgram &program : s.programs())
    programs.push_back(std::make_unique<Program>(loaded, program, arena, collectives.get(), &scalars, &hostFunctions));
  for (const abi::Constant &constant : s.constants())
    std::memcpy(bufferData(constant.buffer()), constant.data().data(), constant.data().size());
  // They are in the arena now.
  loaded.step->clear_constants();

  unused.resize(size_t(s.manifest().batch_size() * s.manifest().seq_length()));
  for (int input = 0; input < 3; ++input)
    for (int slot = 0; slot < 2; ++slot) {
      absl::StatusOr<absl::Span<std::byte>> bytes = buffer(inputNames[input], slot);
      inputData[input][slot] = bytes.ok() ? reinterpret_cast<int32_t *>(bytes->data()) : unused.data();
    }
  resetParams(0);
}

absl::Status Executor::resolveSchedule() {
  for (const abi::ScheduleEntry &entry : step().schedule()) {
    Program *program = find(entry.program());
    if (entry.loop() == abi::ScheduleEntry::EACH_MICROBATCH) {
      if (!after.empty())
        return absl::InvalidArgumentError("schedule: must have one loop over micro-batches, got a second one");
      body.push_back(program);
    } else {
      (body.empty() ? before : after).push_back(program);
    }
  }
  return absl::OkStatus();
}

Program *Executor::find(const std::string &name) {
  for (const std::unique_ptr<Program> &program : programs)
    if (program->name() == name)
      return program.get();
  return nullptr;
}

absl::Status Executor::run(Program &program, const ProgramPosition &position) {
  return timed ? program.runTimed(*pool, position) : program.run(*pool, position);
}

void Executor::resetParams(int64_t stepNumber) {
  std::memset(&scalars, 0, sizeof scalars);
  scalars.struct_bytes = sizeof scalars;
  scalars.abi_version = RCP_ABI_VERSION;
  scalars.step = stepNumber;
  scalars.seed = seed;
  scalars.node_count = loaded.plan.nodeCount;
  const auto &values = loaded.keys.runValues();
  std::copy(values.begin(), values.end(), scalars.run_values);
}

ProgramPosition Executor::enterMicrobatch(int64_t microbatch, int slot) {
  const RankPlan &plan = loaded.plan;
  scalars.microbatch = microbatch;
  scalars.first_sample = (rank() * plan.accumulation + microbatch) * step().manifest().batch_size();
  scalars.node = microbatch / plan.nodeMicrobatches;
  ProgramPosition position;
  position.firstMicrobatch = microbatch == 0;
  position.lastMicrobatch = microbatch == plan.accumulation - 1;
  position.segmentBegin = microbatch % plan.nodeMicrobatches == 0;
  position.segmentEnd = microbatch % plan.nodeMicrobatches == plan.nodeMicrobatches - 1;
  position.severalNodes = plan.nodeCount > 1;
  position.slot = slot;
  return position;
}

MicroBatch Executor::inputs(int slot) {
  const abi::Manifest &m = step().manifest();
  return {inputData[0][slot], inputData[1][slot], inputData[2][slot], m.batch_size(), m.seq_length()};
}

void Executor::initialize() {
  resetParams(0);
  if (Program *init = find("init"))
    run(*init, {}).IgnoreError(); // it is outside of the schedule, so there is nothing to wait for
}

absl::Status Executor::begin(BatchSource &source, int64_t firstStep) {
  if (before.empty() && body.empty() && after.empty())
    return absl::InvalidArgumentError("the step has no schedule: it cannot train");
  // Parameters may have come from files since `init`.
  if (Program *refresh = find("refresh"))
    RCP_RETURN_IF_ERROR(run(*refresh, {}));
  PrefetchOptions options;
  options.firstStep = firstStep;
  options.microbatches = loaded.plan.accumulation;
  // A rank's samples follow those of the ranks before it.
  options.firstMicrobatch = rank() * loaded.plan.accumulation;
  options.samples = step().manifest().batch_size();
  options.length = step().manifest().seq_length();
  // A step without a loop takes no data.
  options.workers = body.empty() ? 0 : keys().integer("data.num_workers", options.workers);
  options.depth = keys().integer("data.prefetch_depth", options.depth);
  options.cpus = pool->allCpus();
  prefetcher = std::make_unique<Prefetcher>(source, std::move(options));
  nextStep = firstStep;
  sequence = 0;
  return absl::OkStatus();
}

absl::Status Executor::runMicrobatch(int64_t microbatch, int slot) {
  ProgramPosition position = enterMicrobatch(microbatch, slot);
  for (Program *program : body)
    RCP_RETURN_IF_ERROR(run(*program, position));
  return absl::OkStatus();
}

absl::StatusOr<StepResult> Executor::runStep() {
  assert(prefetcher && "begin() comes first");
  CommThread::Counters counters = collectives ? collectives->counters() : CommThread::Counters();
  resetParams(nextStep);
  ProgramPosition once;
  once.severalNodes = loaded.plan.nodeCount > 1;
  for (Program *program : before)
    RCP_RETURN_IF_ERROR(run(*program, once));
  int64_t waited = 0;
  for (int64_t microbatch = 0; microbatch < loaded.plan.accumulation && !body.empty(); ++microbatch) {
    int slot = int(sequence % 2);
    ++sequence;
    int64_t begin = nowNanoseconds();
    RCP_RETURN_IF_ERROR(prefetcher->next(inputs(slot)));
    waited += nowNanoseconds() - begin;
    RCP_RETURN_IF_ERROR(checkInputs(inputs(slot), step().manifest().vocab_size()));
    RCP_RETURN_IF_ERROR(runMicrobatch(microbatch, slot));
  }
  scalars.microbatch = scalars.first_sample = scalars.node = 0;
  if (updateHook)
    RCP_RETURN_IF_ERROR(updateHook());
  for (Program *program : after)
    RCP_RETURN_IF_ERROR(run(*program, once));
  StepResult result = resultOfStep();
  result.dataWaitMs = double(waited) * 1e-6;
  if (collectives) {
    // The compiler has proved that nothing is left; a step from elsewhere must not go on above what is.
    RCP_RETURN_IF_ERROR(collectives->waitForAll());
    CommThread::Counters now = collectives->counters();
    result.commWaitMs = double(now.exposedNanoseconds - counters.exposedNanoseconds) * 1e-6;
    result.commBytes = int64_t(now.bytesSent - counters.bytesSent);
  }
  ++nextStep;
  return result;
}

StepResult Executor::resultOfStep() const {
  StepResult result;
  result.step = nextStep;
  result.validTokens = scalars.valid_tokens;
  result.loss = scalars.loss_sum / double(scalars.valid_tokens);
  result.gradNorm = scalars.grad_norm;
  result.learningRate = scalars.learning_rate;
  result.skipped = scalars.skip_update != 0;
  return result;
}

absl::Status Executor::evaluateOwn(Program &eval, EvaluationSource &source, std::vector<BatchLoss> &own) {
  // The slot that is not being prefetched; during evaluation training has no use for it.
  int slot = int((sequence + 1) % 2);
  int64_t stepNumber = scalars.step;
  for (int64_t batch = rank(); batch < source.batchCount(); batch += loaded.plan.ranks) {
    RCP_RETURN_IF_ERROR(source.fill(batch, inputs(slot)));
    RCP_RETURN_IF_ERROR(checkInputs(inputs(slot), step().manifest().vocab_size()));
    resetParams(stepNumber);
    scalars.microbatch = batch;
    scalars.first_sample = batch * step().manifest().batch_size();
    scalars.node_count = 1;
    ProgramPosition position;
    position.slot = slot;
    RCP_RETURN_IF_ERROR(run(eval, position));
    own.push_back({scalars.loss_sum, scalars.valid_tokens});
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Executor::BatchLoss>> Executor::gather(const std::vector<BatchLoss> &own,
                                                                  const absl::Status &status, int64_t count) {
  // A rank that fails tells the others, which would wait for it in vain.
  Activity activity(&collectives->communicator(), "the sum of an evaluation");
  std::string bytes = status.ok() ? "" : "!";
  bytes.append(reinterpret_cast<const char *>(own.data()), own.size() * sizeof(BatchLoss));
  RCP_ASSIGN_OR_RETURN(std::vector<std::string> all,
                       allGather(collectives->communicator(), bytes, collectives->timeoutSeconds()));
  RCP_RETURN_IF_ERROR(status);
  std::vector<BatchLoss> batches(static_cast<size_t>(count));
  for (size_t other = 0; other < all.size(); ++other) {
    size_t held = (size_t(count) + all.size() - 1 - other) / all.size();
    if (all[other].size() != held * sizeof(BatchLoss))
      return absl::AbortedError(absl::StrCat("rank ", other, " could not evaluate"));
    for (size_t i = 0; i < held; ++i)
      std::memcpy(&batches[other + i * all.size()], all[other].data() + i * sizeof(BatchLoss), sizeof(BatchLoss));
  }
  return batches;
}

absl::StatusOr<EvaluationResult> Executor::evaluate(EvaluationSource &source) {
  Program *eval = find("eval");
  if (!eval)
    return absl::InvalidArgumentError("the step has no program 'eval': it cannot evaluate");
  rcp_step_params_v1 saved = scalars;
  std::vector<BatchLoss> batches;
  absl::Status status = evaluateOwn(*eval, source, batches);
  scalars = saved;
  if (collectives) {
    RCP_ASSIGN_OR_RETURN(batches, gather(batches, status, source.batchCount()));
  }
  RCP_RETURN_IF_ERROR(status);
  // In the order of the batches, whoever computed them.
  EvaluationResult result;
  double lossSum = 0;
  for (const BatchLoss &batch : batches) {
    lossSum += batch.sum;
    result.validTokens += batch.validTokens;
  }
  result.loss = lossSum / double(result.validTokens);
  return result;
}

absl::Status Executor::runProgram(const std::string &name, int64_t microbatch) {
  Program *program = find(name);
  if (!program)
    return absl::NotFoundError(absl::StrCat("no program '", name, "'"));
  return run(*program, enterMicrobatch(microbatch, 0));
}

absl::StatusOr<absl::Span<std::byte>> Executor::buffer(const std::string &name, int slot) {
  for (const abi::Buffer &buffer : step().buffers()) {
    if (buffer.name() != name)
      continue;
    assert((slot == 0 || buffer.region() == abi::INPUT) && "only inputs have two slots");
    if (buffer.min_nodes() > loaded.plan.nodeCount)
      return absl::NotFoundError(absl::StrCat("buffer '", name, "' is not on this rank"));
    return absl::Span<std::byte>(bufferAddress(arena, buffer, slot), size_t(buffer.bytes()));
  }
  return absl::NotFoundError(absl::StrCat("no buffer '", name, "'"));
}

std::string Executor::firstBadParameter() {
  auto finite = [&](uint32_t index) {
    const abi::Buffer &buffer = step().buffers(int(index));
    const auto *values = reinterpret_cast<const float *>(bufferData(index));
    return buffer.type() != abi::F32 ||
           std::all_of(values, values + buffer.bytes() / 4, [](float x) { return std::isfinite(x); });
  };
  for (const abi::Parameter &parameter : step().parameters()) {
    bool good = finite(parameter.buffer());
    for (uint32_t gradient : parameter.gradient_buffers())
      good = good && finite(gradient);
    if (!good)
      return parameter.name();
  }
  return "";
}
