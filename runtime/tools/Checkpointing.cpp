#include "runtime/tools/Checkpointing.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/base/DiskSpace.h"
#include "runtime/base/Printable.h"
#include "runtime/checkpoint/CheckpointFolder.h"
#include "runtime/checkpoint/CheckpointLoad.h"
#include "runtime/tools/RunIdentity.h"
#include <algorithm>
#include <chrono>
#include <ctime>
#include <thread>

using namespace recipe::rt;

static std::string utcNow() {
  std::time_t now = std::time(nullptr);
  std::tm parts;
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

Checkpointing::Checkpointing(Executor &executor, const CheckpointingOptions &options)
    : executor(executor), options(options), identity(describeRun(executor.step(), executor.keys(), options.dataHash)),
      writer(executor.cpus()) {
  executor.beforeUpdate([this] {
    FileWork work(this->options.communicator);
    return writer.waitUntilRead();
  });
}

Checkpointing::~Checkpointing() { executor.beforeUpdate(nullptr); }

absl::StatusOr<std::vector<StateFile>> Checkpointing::state() {
  return checkpointState(executor.step(), [this](uint32_t buffer) { return executor.bufferData(buffer); });
}

absl::Status Checkpointing::roomFor(const std::string &what) {
  RCP_ASSIGN_OR_RETURN(std::vector<StateFile> files, state());
  RCP_ASSIGN_OR_RETURN(CheckpointSize size, checkpointSize(files));
  return checkDiskSpace(what, options.outputDir, size.total);
}

absl::Status Checkpointing::checkRoom() {
  FileWork work(options.communicator);
  RCP_ASSIGN_OR_RETURN(std::vector<StateFile> files, state());
  RCP_ASSIGN_OR_RETURN(CheckpointSize size, checkpointSize(files));
  std::string what = checkpointsFolder(options.outputDir);
  RCP_RETURN_IF_ERROR(checkFileSizeLimit(what, size.longest));
  return roomFor(what);
}

absl::StatusOr<std::unique_ptr<Checkpointing>> Checkpointing::create(Executor &executor,
                                                                     const CheckpointingOptions &options) {
  std::unique_ptr<Checkpointing> checkpointing(new Checkpointing(executor, options));
  RCP_RETURN_IF_ERROR(checkpointing->agreed(checkpointing->writes() ? checkpointing->checkRoom() : absl::OkStatus()));
  return checkpointing;
}

absl::Status Checkpointing::agreed(const absl::Status &own) {
  return options.communicator ? agree(*options.communicator, own, options.timeoutSeconds) : own;
}

absl::Status Checkpointing::choose() {
  absl::StatusOr<ResumePoint> point = absl::UnknownError("");
  if (writes()) {
    ResumeOptions resume;
    resume.from = options.resume;
    resume.outputDir = options.outputDir;
    resume.globalBatch = executor.step().manifest().global_batch();
    resume.overwrite = options.overwrite;
    resume.allowChanges = options.allowChanges;
    resume.err = options.err;
    point = findResumePoint(resume, identity);
  }
  RCP_RETURN_IF_ERROR(agreed(writes() ? point.status() : absl::OkStatus()));
  std::string told;
  if (writes()) {
    from = *std::move(point);
    told = (from->sameFolder ? "+" : "-") + from->path;
  }
  if (options.communicator)
    RCP_RETURN_IF_ERROR(broadcast(*options.communicator, told, options.timeoutSeconds));
  if (!writes()) {
    from.emplace();
    from->path = told.substr(1);
    from->sameFolder = told[0] == '+';
  }
  return absl::OkStatus();
}

absl::Status Checkpointing::load() {
  FileWork work(options.communicator);
  if (!writes()) {
    RCP_ASSIGN_OR_RETURN(from->manifest, readManifest(from->path));
  }
  RCP_ASSIGN_OR_RETURN(std::vector<StateFile> files, state());
  return loadCheckpoint(from->path, from->manifest, files);
}

absl::StatusOr<int64_t> Checkpointing::restore() {
  if (options.resume.empty())
    return 0;
  Activity activity(options.communicator, "the checkpoint to resume from");
  RCP_RETURN_IF_ERROR(choose());
  RCP_RETURN_IF_ERROR(agreed(load()));
  durable = from->manifest.step;
  if (from->sameFolder)
    newest = durable;
  return from->manifest.step;
}

absl::Status Checkpointing::settle() {
  Activity activity(options.communicator, "older results of the output folder");
  return agreed(writes() ? forget() : absl::OkStatus());
}

absl::Status Checkpointing::forget() {
  FileWork work(options.communicator);
  RCP_ASSIGN_OR_RETURN(int64_t logged, forgetBeyond(options.outputDir, newest));
  int64_t interval = std::max<int64_t>(1, executor.keys().integer("logging.log_interval", 10));
  if (goesOn() && logged < newest / interval * interval)
    absl::FPrintF(options.err,
                  "reciperun: %s/metrics.jsonl: lines before the checkpoint's step %d are missing, the last is of step "
                  "%d\n",
                  printable(options.outputDir), newest, logged);
  // A run that was killed between a save and its retention left more.
  RCP_RETURN_IF_ERROR(keepNewest(checkpointsFolder(options.outputDir), keepLast()));
  if (from)
    absl::FPrintF(options.out, "resumed from %s, step %d\n", printable(from->path), from->manifest.step);
  return absl::OkStatus();
}

absl::Status Checkpointing::save(int64_t updates) {
  CheckpointRequest request;
  request.folder = checkpointsFolder(options.outputDir);
  request.log = options.outputDir + "/metrics.jsonl";
  request.keepNewest = keepLast();
  RCP_ASSIGN_OR_RETURN(request.state, state());
  const abi::Manifest &m = executor.step().manifest();
  request.manifest = identity;
  request.manifest.step = updates;
  request.manifest.samples = updates * m.global_batch();
  CheckpointProvenance &provenance = request.manifest.provenance;
  provenance.run = m.name();
  provenance.producer = "reciperun " RECIPEC_VERSION;
  provenance.compiler = m.producer();
  for (const abi::ResolvedRecipe::Entry &entry : executor.step().recipe().entries())
    if (entry.key() == "target.arch")
      provenance.target = entry.value();
  provenance.nodes = executor.plan().ranks;
  provenance.threads = executor.threads();
  provenance.written = utcNow();
  newest = updates;
  return writer.start(std::move(request));
}

void Checkpointing::tell() {
  if (std::optional<SavedCheckpoint> saved = writer.takeSaved()) {
    durable = saved->step;
    absl::FPrintF(options.out, "checkpoint %s  seconds %.2f  wait_ms %.2f\n", printable(saved->path), saved->seconds,
                  saved->exposedSeconds * 1e3);
    std::fflush(options.out);
  }
}

std::string Checkpointing::checkpointPath(int64_t updates) const {
  return checkpointsFolder(options.outputDir) + "/" + checkpointName(updates);
}

/// What a run that ends now would lose.
std::string Checkpointing::inMemoryOnly() const {
  return durable < 0 ? "all updates" : absl::StrCat("the updates after step ", durable);
}

absl::Status Checkpointing::afterStep(int64_t updates, bool last) {
  if (!writes())
    return absl::OkStatus();
  FileWork work(options.communicator);
  tell();
  int64_t interval = executor.keys().integer("logging.ckpt_interval", 0);
  if (interval == 0 || updates % interval != 0)
    return absl::OkStatus();
  // The one before may still be on its way.
  RCP_RETURN_IF_ERROR(writer.waitUntilDurable());
  tell();
  absl::Status room = roomFor(checkpointPath(updates));
  if (room.ok())
    return save(updates);
  if (last)
    return absl::OkStatus();
  return absl::Status(room.code(), absl::StrCat(room.message(), "; ", inMemoryOnly(), " are lost",
                                                durable < 0 ? "" : ", --resume goes on from there when there is room"));
}

absl::Status Checkpointing::end(int64_t updates) {
  Activity activity(options.communicator, "the last checkpoint");
  return agreed(writes() ? saveLast(updates) : absl::OkStatus());
}

absl::Status Checkpointing::saveLast(int64_t updates) {
  FileWork work(options.communicator);
  absl::Status status = writer.waitUntilDurable();
  tell();
  if (status.ok() && newest == updates)
    return absl::OkStatus();
  if (status.ok() || absl::IsResourceExhausted(roomFor("")))
    status = saveWithRoom(updates);
  if (status.ok() || !options.writeWeights || !options.writeWeights().ok())
    return status;
  return absl::Status(status.code(), absl::StrCat(status.message(), "; the weights after step ", updates,
                                                  " are written, without what --resume needs"));
}

/// Somebody else may take the room that was there.
absl::Status Checkpointing::saveWithRoom(int64_t updates) {
  while (true) {
    RCP_RETURN_IF_ERROR(waitForRoom(updates));
    absl::Status status = save(updates);
    if (status.ok())
      status = writer.waitUntilDurable();
    tell();
    if (status.ok() || !absl::IsResourceExhausted(roomFor("")))
      return status;
  }
}

/// The state is nowhere else: whoever can make room shall have the time, for as long as nobody says otherwise.
absl::Status Checkpointing::waitForRoom(int64_t updates) {
  absl::Status room = roomFor(checkpointPath(updates));
  if (!absl::IsResourceExhausted(room))
    return room;
  bool stopped = stopRequested();
  absl::FPrintF(options.err, "reciperun: %s; waiting for room, %s are in memory only; %s gives up\n",
                printable(std::string(room.message())), inMemoryOnly(),
                stopped ? "another SIGTERM" : "SIGTERM or Ctrl-C");
  std::fflush(options.err);
  while (absl::IsResourceExhausted(room = roomFor(checkpointPath(updates)))) {
    if (!stopped && stopRequested())
      return absl::Status(room.code(),
                          absl::StrCat(room.message(), "; given up as asked, ", inMemoryOnly(), " are lost"));
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  return room;
}
