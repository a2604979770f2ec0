#include "runtime/tools/TrainingRun.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/base/Clock.h"
#include "runtime/base/Printable.h"
#include "runtime/checkpoint/CheckpointFolder.h"
#include "runtime/checkpoint/HuggingFace.h"
#include "runtime/checkpoint/InitialWeights.h"
#include "runtime/data/TextData.h"
#include "runtime/executor/Executor.h"
#include "runtime/monitor/Monitor.h"
#include "runtime/tools/Checkpointing.h"
#include "runtime/tools/OutputFolder.h"
#include "runtime/tools/Profile.h"
#include "runtime/tools/RankAgreement.h"
#include "runtime/tools/RankProcess.h"
#include <cmath>
#include <filesystem>

using namespace recipe::rt;

static bool isFirst(const RunOptions &options) { return !options.ranks || options.ranks->rank() == 0; }

static absl::StatusOr<std::string> folderName(const LoadedStep &loaded, const RunOptions &options) {
  const char *source = options.outputDir ? "--output-dir" : "'experiment.output_dir'";
  std::string path = options.outputDir ? *options.outputDir : loaded.keys.text("experiment.output_dir", "./output");
  if (path.empty())
    return absl::InvalidArgumentError(absl::StrCat(source, " must name a folder, got \"\""));
  return path;
}

static absl::StatusOr<OutputFolder> openFolder(const LoadedStep &loaded, const std::string &path,
                                               const RunOptions &options, bool startsAnew) {
  // What cannot be written at the end is refused now; the shapes tell how long it will be.
  RCP_ASSIGN_OR_RETURN(std::vector<TensorView> tensors,
                       huggingFaceTensors(*loaded.step, [](uint32_t) -> const std::byte * { return nullptr; }));
  OutputFolderOptions folderOptions;
  folderOptions.overwrite = options.overwrite;
  folderOptions.resume = startsAnew || resumesOutputFolder(options.resume, path);
  RCP_ASSIGN_OR_RETURN(folderOptions.weightBytes, safetensorsBytes(tensors, WeightsMetadata));
  return OutputFolder::open(path, folderOptions);
}

static absl::StatusOr<TextData> openData(const LoadedStep &loaded) {
  const recipe::abi::Manifest &manifest = loaded.step->manifest();
  const RunTimeKeys &keys = loaded.keys;
  TextDataOptions options;
  options.paths = keys.list("data.path");
  if (options.paths.empty())
    return absl::InvalidArgumentError("'data.path' is not set: which token files to train on, --set data.path=FILE");
  options.evalPath = keys.text("data.eval_path", "");
  options.evalFraction = keys.number("data.eval_fraction", 0);
  options.shuffle = keys.boolean("data.shuffle", true);
  (void)absl::SimpleAtoi(keys.text("experiment.seed", "0"), &options.seed);
  options.evalSteps = keys.integer("logging.eval_steps", 0);
  options.seqLength = manifest.seq_length();
  options.batchSize = manifest.batch_size();
  options.globalBatch = manifest.global_batch();
  options.vocabSize = manifest.vocab_size();
  return openTextData(options);
}

/// model.init_from; nothing if it is not set, or a checkpoint takes its place.
static absl::StatusOr<std::optional<InitialWeights>> openInitialWeights(const LoadedStep &loaded,
                                                                        const RunOptions &options) {
  std::string folder = loaded.keys.text("model.init_from", "");
  if (folder.empty() || !options.resume.empty())
    return std::nullopt;
  RCP_ASSIGN_OR_RETURN(InitialWeights weights, InitialWeights::open(*loaded.step, folder));
  return std::optional<InitialWeights>(std::move(weights));
}

namespace {

/// One run from its first step to its weights.
class TrainingRun {
public:
  /// Everything that can be refused before training. Destroyed without run(), it leaves nothing behind.
  static absl::StatusOr<std::unique_ptr<TrainingRun>> prepare(const RunOptions &options);
  /// Whether the run ends where it is. All ranks do, or none.
  absl::StatusOr<bool> stops();
  /// Refuses ranks that would train different things.
  absl::Status requireSameRun();
  absl::StatusOr<bool> run();

private:
  explicit TrainingRun(const RunOptions &options) : options(options) {}
  /// Null: the only rank.
  Communicator *communicator() const { return options.ranks ? &options.ranks->communicator() : nullptr; }
  absl::Status begin();
  absl::Status restore();
  absl::Status requireSameState(bool initialized);
  absl::Status openMonitor();
  absl::StatusOr<int64_t> train();
  absl::Status trainOne(int64_t step);
  absl::Status evaluate(int64_t updates);
  absl::Status writeWeights();

  RunOptions options;
  TextData data;
  std::unique_ptr<Executor> executor;
  std::optional<InitialWeights> initialWeights; // until they are loaded
  std::unique_ptr<Monitor> monitor;             // of rank 0
  std::string outputDir;
  std::optional<OutputFolder> folder; // of rank 0
  std::unique_ptr<Checkpointing> checkpoints;
  bool startsAnew = false; // --resume without a checkpoint so far
  int64_t first = 0;       // updates done before this run
  int64_t last = 0;        // done after it
  int64_t evaluated = -1;  // updates at the newest evaluation
};

} // namespace

/// What rank 0 finds in the output folder: "some" checkpoints, "weights" without any, or "none" of both. A run that
/// does not go on from there does not look: opening the folder tells what is wrong with it.
static absl::StatusOr<std::string> findResults(const RunOptions &options, const std::string &outputDir) {
  std::string found = "none";
  if (isFirst(options) && (options.restarted || options.resume == "latest")) {
    RCP_ASSIGN_OR_RETURN(std::vector<int64_t> steps, listCheckpoints(checkpointsFolder(outputDir)));
    std::error_code ignored;
    found = !steps.empty()                                                       ? "some"
            : std::filesystem::exists(outputDir + "/model.safetensors", ignored) ? "weights"
                                                                                 : "none";
  }
  if (options.ranks)
    RCP_RETURN_IF_ERROR(broadcast(options.ranks->communicator(), found, options.timeoutSeconds));
  return found;
}

/// A restart of the launcher goes on from this run's newest checkpoint, or once more as it was asked to. Whoever was
/// interrupted before the first checkpoint has nothing to go on from: `startsAnew`.
static absl::Status chooseBeginning(RunOptions &options, const std::string &outputDir, bool &startsAnew) {
  RCP_ASSIGN_OR_RETURN(std::string found, findResults(options, outputDir));
  if (options.restarted && found == "some")
    options.resume = "latest";
  else if (options.restarted)
    options.overwrite = true; // what is there is this run's
  if (options.resume == "latest" && found == "weights" && !options.restarted)
    return absl::FailedPreconditionError(
        absl::StrCat(checkpointsFolder(outputDir), ": no checkpoint found, but model.safetensors of an earlier run; ",
                     "--overwrite in place of --resume begins anew"));
  startsAnew = options.resume == "latest" && (found == "none" || (options.restarted && found == "weights"));
  if (startsAnew)
    options.resume.clear();
  return absl::OkStatus();
}

static absl::StatusOr<LoadedStep> load(const RunOptions &options) {
  LoadOptions loadOptions;
  loadOptions.overrides = options.overrides;
  loadOptions.ranks = options.nodes;
  return loadStepFile(options.stepPath, loadOptions);
}

absl::StatusOr<RunTimeKeys> recipe::rt::checkStep(const RunOptions &options) {
  RCP_ASSIGN_OR_RETURN(LoadedStep loaded, load(options));
  return std::move(loaded.keys);
}

absl::StatusOr<std::unique_ptr<TrainingRun>> TrainingRun::prepare(const RunOptions &givenOptions) {
  std::unique_ptr<TrainingRun> run(new TrainingRun(givenOptions));
  RunOptions &options = run->options;
  RCP_ASSIGN_OR_RETURN(LoadedStep loaded, load(options));
  RCP_ASSIGN_OR_RETURN(run->last, lastUpdate(loaded.keys, options.steps));
  RCP_RETURN_IF_ERROR(checkEvaluationKeys(loaded.keys));
  RCP_ASSIGN_OR_RETURN(run->outputDir, folderName(loaded, options));
  RCP_RETURN_IF_ERROR(chooseBeginning(options, run->outputDir, run->startsAnew));
  RCP_ASSIGN_OR_RETURN(run->initialWeights, openInitialWeights(loaded, options));
  if (isFirst(options)) {
    FileWork work(run->communicator());
    RCP_ASSIGN_OR_RETURN(OutputFolder folder, openFolder(loaded, run->outputDir, options, run->startsAnew));
    run->folder.emplace(std::move(folder));
  }
  RCP_ASSIGN_OR_RETURN(run->data, openData(loaded));
  ExecutorOptions executorOptions;
  executorOptions.threads = options.threads;
  executorOptions.timed = options.profile;
  if (options.ranks) {
    int most = int(loaded.step->manifest().max_threads());
    RCP_ASSIGN_OR_RETURN(RankProcess::HostShare share, options.ranks->shareHost(options.threads, most));
    executorOptions.threads = share.threads;
    executorOptions.sharesCpus = share.sharesCpus;
    executorOptions.communicator = &options.ranks->communicator();
    executorOptions.communication.timeoutSeconds = options.timeoutSeconds;
  }
  RCP_ASSIGN_OR_RETURN(run->executor, Executor::create(std::move(loaded), executorOptions));
  return run;
}

absl::Status TrainingRun::requireSameRun() {
  // Read once more: the loaded step has lost parts of the file.
  absl::StatusOr<std::string> step = digestOfFile(options.stepPath);
  RCP_RETURN_IF_ERROR(agree(options.ranks->communicator(), step.status(), options.timeoutSeconds));
  const RunTimeKeys &keys = executor->keys();
  SharedParts parts = {{"the step", *step}};
  for (SharedPart &part : sharedKeys(executor->step(), keys))
    parts.push_back(std::move(part));
  parts.push_back({"--steps", absl::StrCat(last)});
  parts.push_back({"whether --resume is given", options.resume.empty() ? "no" : "yes"});
  parts.push_back({"whether 'model.init_from' is set", keys.text("model.init_from", "").empty() ? "no" : "yes"});
  parts.push_back({"the data of 'data.path'", "SHA-256 " + data.trainingHash.substr(0, 16)});
  parts.push_back({"the data of 'data.eval_path'",
                   data.evaluationHash.empty() ? "none" : "SHA-256 " + data.evaluationHash.substr(0, 16)});
  return requireSame(options.ranks->communicator(), parts, options.timeoutSeconds);
}

/// What was read from files; what the seed gives is the same everywhere.
absl::Status TrainingRun::requireSameState(bool initialized) {
  SharedPart part;
  if (const CheckpointManifest *manifest = checkpoints->loaded())
    part = {"the checkpoint to resume from", digestOfCheckpoint(*manifest)};
  if (initialized) {
    RCP_ASSIGN_OR_RETURN(std::vector<StateFile> state, checkpointState(executor->step(), [&](uint32_t buffer) {
                           return executor->bufferData(buffer);
                         }));
    part.name = "the weights of 'model.init_from'";
    RCP_ASSIGN_OR_RETURN(part.value, digestOfTensors(state[0]));
  }
  return part.name.empty() ? absl::OkStatus()
                           : requireSame(options.ranks->communicator(), {part}, options.timeoutSeconds);
}

absl::Status TrainingRun::restore() {
  CheckpointingOptions checkpointing;
  checkpointing.outputDir = outputDir;
  checkpointing.resume = options.resume;
  checkpointing.overwrite = options.overwrite;
  checkpointing.allowChanges = options.allowChanges;
  checkpointing.dataHash = data.trainingHash;
  if (options.ranks)
    checkpointing.communicator = &options.ranks->communicator();
  checkpointing.timeoutSeconds = options.timeoutSeconds;
  checkpointing.stopRequested = options.stopRequested;
  checkpointing.writeWeights = [this] { return writeWeights(); };
  checkpointing.out = options.out;
  checkpointing.err = options.err;
  RCP_ASSIGN_OR_RETURN(checkpoints, Checkpointing::create(*executor, checkpointing));
  executor->initialize();
  if (initialWeights)
    initialWeights->load(executor->step(), [&](uint32_t buffer) { return executor->bufferData(buffer); });
  bool initialized = initialWeights.has_value();
  initialWeights.reset();
  RCP_ASSIGN_OR_RETURN(first, checkpoints->restore());
  return options.ranks ? requireSameState(initialized) : absl::OkStatus();
}

absl::Status TrainingRun::begin() {
  RCP_RETURN_IF_ERROR(restore());
  if (first > last)
    return absl::InvalidArgumentError(absl::StrCat(options.steps >= 0 ? "--steps" : "'optim.max_steps'",
                                                   " must not end before the checkpoint, got ", last, " and its step ",
                                                   first));
  RCP_RETURN_IF_ERROR(executor->begin(*data.training, first));
  RCP_RETURN_IF_ERROR(checkpoints->settle());
  if (isFirst(options) && options.onBegin)
    options.onBegin();
  if (startsAnew)
    absl::FPrintF(options.out, "no checkpoint in %s yet: training begins at step 0\n", printable(outputDir));
  return isFirst(options) ? openMonitor() : absl::OkStatus();
}

absl::Status TrainingRun::openMonitor() {
  FileWork work(communicator());
  const recipe::abi::Manifest &m = executor->step().manifest();
  MonitorOptions monitorOptions;
  monitorOptions.metricsPath = folder->metricsPath();
  monitorOptions.append = checkpoints->goesOn();
  monitorOptions.firstStep = first;
  monitorOptions.lastStep = last;
  monitorOptions.logInterval = std::max<int64_t>(1, executor->keys().integer("logging.log_interval", 10));
  monitorOptions.tokensPerStep = m.global_batch() * m.seq_length();
  monitorOptions.communicates = executor->plan().ranks > 1;
  monitorOptions.out = options.out;
  monitorOptions.terminal = options.terminal ? options.err : nullptr;
  RCP_ASSIGN_OR_RETURN(monitor, Monitor::create(monitorOptions));
  int64_t ranks = executor->plan().ranks;
  absl::FPrintF(options.out, "%s: %d parameters, %d x %d tokens per update, %s%d %s, arena %s\n", printable(m.name()),
                m.parameter_count(), m.global_batch(), m.seq_length(),
                ranks > 1 ? absl::StrCat(ranks, " nodes x ") : "", executor->threads(),
                executor->threads() == 1 ? "thread" : "threads", formatBytes(executor->plan().memory.total_bytes()));
  std::fflush(options.out);
  return absl::OkStatus();
}

// "-nan" would puzzle.
static double unsignedNaN(double x) { return std::isnan(x) ? std::fabs(x) : x; }

absl::Status TrainingRun::trainOne(int64_t step) {
  if (options.ranks)
    options.ranks->heartbeat().setStep(step);
  RCP_ASSIGN_OR_RETURN(StepResult result, executor->runStep());
  if (result.skipped) {
    std::string parameter = executor->firstBadParameter();
    std::string reason = result.validTokens == 0
                             ? std::string("no label of the batch counts")
                             : absl::StrFormat("loss %g, grad_norm %g are not finite", unsignedNaN(result.loss),
                                               unsignedNaN(result.gradNorm));
    if (!parameter.empty())
      absl::StrAppend(&reason, "; first in parameter '", parameter, "'");
    return absl::FailedPreconditionError(
        absl::StrCat("step ", step + 1, ": ", reason, "; the update was not applied and no weights were written"));
  }
  if (monitor) {
    FileWork work(communicator());
    monitor->afterStep(result);
  }
  int64_t interval = executor->keys().integer("logging.eval_interval", 0);
  if (interval > 0 && (step + 1) % interval == 0)
    RCP_RETURN_IF_ERROR(evaluate(step + 1));
  return checkpoints->afterStep(step + 1, step + 1 == last);
}

absl::Status TrainingRun::evaluate(int64_t updates) {
  if (!data.evaluation || evaluated == updates)
    return absl::OkStatus();
  double begin = nowSeconds();
  RCP_ASSIGN_OR_RETURN(EvaluationResult result, executor->evaluate(*data.evaluation));
  evaluated = updates;
  if (monitor) {
    FileWork work(communicator());
    monitor->afterEvaluation(updates, result, nowSeconds() - begin);
  }
  return absl::OkStatus();
}

absl::Status TrainingRun::writeWeights() {
  FileWork work(communicator());
  RCP_ASSIGN_OR_RETURN(std::vector<TensorView> tensors, huggingFaceTensors(executor->step(), [&](uint32_t buffer) {
                         return executor->bufferData(buffer);
                       }));
  std::string path = folder->weightsPath();
  RCP_RETURN_IF_ERROR(writeSafetensors(path, tensors, WeightsMetadata));
  absl::FPrintF(options.out, "weights %s\n", printable(path));
  return absl::OkStatus();
}

absl::StatusOr<bool> TrainingRun::stops() {
  Activity activity(communicator(), "the end of a step");
  bool own = (options.stopRequested && options.stopRequested()) || (monitor && !monitor->status().ok());
  return options.ranks ? anyRank(options.ranks->communicator(), own, options.timeoutSeconds) : own;
}

/// The updates done when the last one was, a stop was asked for, or metrics could not be written.
absl::StatusOr<int64_t> TrainingRun::train() {
  int64_t done = first;
  while (done < last) {
    RCP_RETURN_IF_ERROR(trainOne(done));
    ++done;
    RCP_ASSIGN_OR_RETURN(bool stop, stops());
    if (stop)
      break;
  }
  return done;
}

absl::StatusOr<bool> TrainingRun::run() {
  RCP_RETURN_IF_ERROR(begin());
  RCP_ASSIGN_OR_RETURN(int64_t done, train());
  // A run that was over has its evaluation.
  bool over = checkpoints->goesOn() && done == first;
  if (done == last && !over)
    RCP_RETURN_IF_ERROR(evaluate(done));
  if (monitor)
    monitor->clearProgress();
  RCP_RETURN_IF_ERROR(checkpoints->end(done));
  if (isFirst(options))
    if (absl::Status status = writeWeights(); !status.ok())
      return absl::Status(status.code(), absl::StrCat(status.message(), "; the checkpoint of step ", done,
                                                      " is complete, --resume writes the weights once they can be"));
  if (monitor && !monitor->status().ok())
    return absl::Status(monitor->status().code(),
                        absl::StrCat(monitor->status().message(), "; the run ended after step ", done, " of ", last,
                                     ", whose weights are written"));
  if (done < last)
    absl::FPrintF(options.err, "reciperun: stopped after step %d of %d, as asked\n", done, last);
  if (options.profile)
    printProfile(*executor, options.err);
  return done < last;
}

absl::StatusOr<bool> recipe::rt::runTraining(const RunOptions &options) {
  Activity activity(options.ranks ? &options.ranks->communicator() : nullptr, "the start");
  absl::StatusOr<std::unique_ptr<TrainingRun>> run = TrainingRun::prepare(options);
  // All ranks are ready, or nothing begins.
  if (options.ranks) {
    RCP_RETURN_IF_ERROR(agree(options.ranks->communicator(), run.status(), options.timeoutSeconds));
  }
  RCP_RETURN_IF_ERROR(run.status());
  if (options.ranks)
    RCP_RETURN_IF_ERROR((*run)->requireSameRun());
  RCP_ASSIGN_OR_RETURN(bool stopped, (*run)->stops());
  if (stopped) {
    absl::FPrintF(options.err, "reciperun: stopped before training began, as asked\n");
    return true;
  }
  return (*run)->run();
}
