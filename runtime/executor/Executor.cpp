#include "runtime/executor/Executor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/Clock.h"
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
  std::unique_ptr<Executor> executor(new Executor(std::move(step), std::move(arena), threads, options.timed));
  RCP_RETURN_IF_ERROR(executor->resolveSchedule());
  return executor;
}

Executor::Executor(LoadedStep step, Arena arenaOfStep, int threads, bool timed)
    : loaded(std::move(step)), arena(std::move(arenaOfStep)), pool(std::make_unique<ThreadPool>(threads)),
      timed(timed) {
  const abi::Step &s = *loaded.step;
  (void)absl::SimpleAtoi(loaded.keys.text("experiment.seed", "0"), &seed);
  for (const abi::SubProgram &program : s.programs())
    programs.push_back(std::make_unique<Program>(loaded, program, arena, &scalars, &hostFunctions));
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

void Executor::run(Program &program, const ProgramPosition &position) {
  if (timed)
    program.runTimed(*pool, position);
  else
    program.run(*pool, position);
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
  scalars.first_sample = microbatch * step().manifest().batch_size();
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
    run(*init, {});
}

absl::Status Executor::begin(BatchSource &source, int64_t firstStep) {
  if (before.empty() && body.empty() && after.empty())
    return absl::InvalidArgumentError("the step has no schedule: it cannot train");
  prefetcher = std::make_unique<Prefetcher>(source, pool->allCpus());
  nextStep = firstStep;
  sequence = 0;
  if (!body.empty())
    prefetcher->request(firstStep, 0, inputs(0));
  return absl::OkStatus();
}

absl::StatusOr<StepResult> Executor::runStep() {
  assert(prefetcher && "begin() comes first");
  StepResult result;
  result.step = nextStep;
  resetParams(nextStep);
  ProgramPosition once;
  once.severalNodes = loaded.plan.nodeCount > 1;
  for (Program *program : before)
    run(*program, once);
  int64_t waited = 0;
  for (int64_t microbatch = 0; microbatch < loaded.plan.accumulation && !body.empty(); ++microbatch) {
    int64_t begin = nowNanoseconds();
    RCP_RETURN_IF_ERROR(prefetcher->wait());
    waited += nowNanoseconds() - begin;
    int slot = int(sequence % 2);
    ++sequence;
    bool last = microbatch == loaded.plan.accumulation - 1;
    // The other slot's micro-batch has been computed, so the next one may go there.
    prefetcher->request(last ? nextStep + 1 : nextStep, last ? 0 : microbatch + 1, inputs(1 - slot));
    ProgramPosition position = enterMicrobatch(microbatch, slot);
    for (Program *program : body)
      run(*program, position);
  }
  scalars.microbatch = scalars.first_sample = scalars.node = 0;
  if (updateHook)
    RCP_RETURN_IF_ERROR(updateHook());
  for (Program *program : after)
    run(*program, once);
  ++nextStep;

  result.validTokens = scalars.valid_tokens;
  result.loss = scalars.loss_sum / double(scalars.valid_tokens);
  result.gradNorm = scalars.grad_norm;
  result.learningRate = scalars.learning_rate;
  result.dataWaitMs = double(waited) * 1e-6;
  result.skipped = scalars.skip_update != 0;
  return result;
}

absl::StatusOr<EvaluationResult> Executor::evaluate(EvaluationSource &source) {
  Program *eval = find("eval");
  if (!eval)
    return absl::InvalidArgumentError("the step has no program 'eval': it cannot evaluate");
  // The slot that is not being prefetched; during evaluation training has no use for it.
  int slot = int((sequence + 1) % 2);
  rcp_step_params_v1 saved = scalars;
  EvaluationResult result;
  double lossSum = 0;
  absl::Status status;
  for (int64_t batch = 0; batch < source.batchCount() && status.ok(); ++batch) {
    status = source.fill(batch, inputs(slot));
    if (!status.ok())
      break;
    resetParams(saved.step);
    scalars.microbatch = batch;
    scalars.first_sample = batch * step().manifest().batch_size();
    scalars.node_count = 1;
    ProgramPosition position;
    position.slot = slot;
    run(*eval, position);
    lossSum += scalars.loss_sum;
    result.validTokens += scalars.valid_tokens;
  }
  scalars = saved;
  if (!status.ok())
    return status;
  result.loss = lossSum / double(result.validTokens);
  return result;
}

absl::Status Executor::runProgram(const std::string &name, int64_t microbatch) {
  Program *program = find(name);
  if (!program)
    return absl::NotFoundError(absl::StrCat("no program '", name, "'"));
  run(*program, enterMicrobatch(microbatch, 0));
  return absl::OkStatus();
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
    return buffer.type() != abi::F32 || buffer.region() != abi::STATE ||
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
