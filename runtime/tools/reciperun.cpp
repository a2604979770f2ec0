// reciperun: trains from a compiled step.
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "runtime/abi/Container.h"
#include "runtime/abi/kernel_abi.h"
#include "runtime/base/Printable.h"
#include "runtime/base/Process.h"
#include "runtime/tools/Launcher.h"
#include "runtime/tools/RankProcess.h"
#include "runtime/tools/Selftest.h"
#include "runtime/tools/StarterOutput.h"
#include "runtime/tools/TrainingRun.h"
#include <CLI/CLI.hpp>
#include <atomic>
#include <cmath>
#include <csignal>
#include <exception>
#include <filesystem>
#include <limits>
#include <set>
#include <sys/prctl.h>
#include <unistd.h>

using namespace recipe::rt;

namespace {
constexpr int kUserError = 1;
constexpr int kOurBug = 70; // EX_SOFTWARE
} // namespace

/// The signal that asked for a stop; 0: none. Two signals may be taken by two threads at once.
static std::atomic<int> stopSignal{0};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

/// Whether a SIGINT or SIGTERM has come: the next one kills.
static std::atomic<bool> askedByUser{false};

static void onStopSignal(int which) {
  int none = 0;
  stopSignal.compare_exchange_strong(none, which);
  if (which != SIGINT && which != SIGTERM)
    return;
  if (askedByUser.exchange(true)) {
    std::signal(which, SIG_DFL);
    raise(which); // taken when this returns
  }
}

/// The first Ctrl-C, SIGTERM, SIGHUP or SIGUSR1 lets the step end, saves a checkpoint and writes the weights. A second
/// Ctrl-C or SIGTERM kills; the others do not, since a terminal that goes away, or a launcher, may send them twice.
static void installStopHandlers(bool launched) {
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) {
    struct sigaction action = {};
    sigaction(signal, nullptr, &action);
    // nohup, and shells that start a job in the background, mean it; our launcher does not.
    if (action.sa_handler == SIG_IGN && !(launched && signal == SIGUSR1))
      continue;
    action = {};
    action.sa_handler = onStopSignal;
    action.sa_flags = SA_RESTART;
    sigaction(signal, &action, nullptr);
  }
}

/// Each line of the reason under our name.
static int report(const absl::Status &status) {
  std::string text(status.message());
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find('\n', begin), text.size());
    std::fprintf(stderr, "reciperun: error: %s\n", printable(text.substr(begin, end - begin)).c_str());
    begin = end + 1;
  }
  if (status.code() != absl::StatusCode::kInternal)
    return kUserError;
  std::fprintf(stderr, "reciperun: this is a bug in reciperun\n");
  return kOurBug;
}

/// The exit code, unless what was printed got lost.
static int finish(int code, const char *lost) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0)
    return code;
  std::fprintf(stderr, "reciperun: error: standard output: cannot be written, %s\n", lost);
  return code ? code : kUserError;
}

namespace {

struct Arguments {
  RunOptions run;
  LaunchOptions launch;
  int64_t nodes = 0;        // 0: not said
  int64_t maxRestarts = -1; // -1: as 'distributed.max_restarts' says
  bool manifest = false, selftest = false;
  bool launched = false, progress = false, ignoreHangup = false; // the launcher's word to its ranks
};

} // namespace

static void addOptions(CLI::App &app, Arguments &arguments) {
  RunOptions &options = arguments.run;
  app.set_version_flag("--version", "reciperun " RECIPEC_VERSION "\nstep format " +
                                        std::to_string(recipe::abi::kStepFormatVersion) + "\nkernel ABI " +
                                        std::to_string(RCP_ABI_VERSION));
  app.add_option("step", options.stepPath,
                 "file that `recipec compile` wrote; or the word selftest, which tries the connections between nodes")
      ->required();
  app.add_option("--steps", options.steps, "updates after which the run ends; default: optim.max_steps")
      ->check(CLI::Range(int64_t(0), std::numeric_limits<int64_t>::max()).description(""));
  app.add_option("--set", options.overrides, "change a run-time key: key=value; may be repeated")
      ->allow_extra_args(false);
  app.add_option("--threads", options.threads, "default: one for each CPU, at most target.max_threads")
      ->check(CLI::Range(1, 4096).description(""));
  app.add_option("--nodes", arguments.nodes,
                 "ranks, each a process with its part of the batch; default: 1, or those that mpirun or srun started")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 20).description(""));
  app.add_option("--hostfile", arguments.launch.hostfile, "hosts of the ranks, for mpirun; default: this machine");
  app.add_option("--timeout", options.timeoutSeconds,
                 "seconds after which a rank that does not answer is given up; default: 600")
      ->check(CLI::Range(0.1, 1e6).description(""))
      ->check(CLI::Validator( // nan is neither below nor above
          [](const std::string &text) {
            double seconds = 0;
            bool number = absl::SimpleAtod(text, &seconds) && std::isfinite(seconds);
            return number ? std::string() : absl::StrCat("must be a number of seconds, got ", text);
          },
          ""));
  app.add_option(
         "--max-restarts", arguments.maxRestarts,
         "go on from the newest checkpoint so many times when a rank was lost; default: distributed.max_restarts")
      ->check(CLI::Range(int64_t(0), int64_t(1) << 30).description(""));
  app.add_option("--output-dir", options.outputDir, "instead of experiment.output_dir");
  app.add_flag("--overwrite", options.overwrite,
               "replace the results of an earlier run in that folder; with --resume: newer ones");
  app.add_option("--resume", options.resume,
                 "go on from a checkpoint, a run's newest, or 'latest': this folder's newest")
      ->expected(0, 1)
      ->default_str("latest");
  app.add_flag("--allow-changes", options.allowChanges, "resume although settings that shape training differ");
  app.add_flag("--print-manifest", arguments.manifest, "print what the file says of itself and end");
  app.add_flag("--profile", options.profile, "print the time of each kernel at the end; they run one by one");
  // Not for users: an empty group is not shown.
  app.add_flag("--launched", arguments.launched)->group("");
  app.add_flag("--progress", arguments.progress)->group("");
  app.add_flag("--ignore-hangup", arguments.ignoreHangup)->group("");
  app.add_flag("--restarted", options.restarted)->group("");
}

/// It trains nothing.
static absl::Status checkSelftest(const CLI::App &app) {
  static const std::set<std::string> taken = {"step", "--nodes", "--hostfile", "--timeout"};
  for (const CLI::Option *option : app.get_options())
    if (option->count() > 0 && !taken.count(option->get_name()))
      return absl::InvalidArgumentError(
          absl::StrCat("selftest takes --nodes, --hostfile and --timeout only, got ", option->get_name()));
  return absl::OkStatus();
}

/// Options that would be without effect are refused by name.
static absl::Status checkTogether(const CLI::App &app, const Arguments &arguments, bool isRank) {
  auto given = [&](const char *name) { return app.get_option(name)->count() > 0; };
  if (arguments.manifest)
    for (const CLI::Option *option : app.get_options())
      if (option->count() > 0 && option->get_name() != "step" && option->get_name() != "--print-manifest")
        return absl::InvalidArgumentError(
            absl::StrCat("--print-manifest must be the only option, got ", option->get_name()));
  if (arguments.launched)
    return absl::OkStatus(); // the launcher's ranks have its options
  if (arguments.selftest)
    RCP_RETURN_IF_ERROR(checkSelftest(app));
  if (given("--allow-changes") && !given("--resume"))
    return absl::InvalidArgumentError("--allow-changes must come with --resume");
  if (isRank)
    for (const char *name : {"--hostfile", "--max-restarts"})
      if (given(name))
        return absl::InvalidArgumentError(
            absl::StrCat(name, " is for the reciperun that starts ranks, not for a rank that was started"));
  if (given("--hostfile") && arguments.nodes < 2)
    return absl::InvalidArgumentError("--hostfile must come with --nodes of at least 2");
  return absl::OkStatus();
}

/// The only rank.
static int runAlone(Arguments &arguments) {
  RunOptions &options = arguments.run;
  options.terminal = arguments.progress || isatty(STDERR_FILENO);
  failWritesToClosedPipes();
  absl::StatusOr<bool> stopped = runTraining(options);
  if (!stopped.ok())
    return report(stopped.status());
  int code = !*stopped ? 0 : arguments.launched ? kExitStopped : 128 + stopSignal;
  return finish(code, "log lines are missing; metrics and weights are complete");
}

/// One of several ranks.
static int runRank(Arguments &arguments, const RankEnvironment &environment) {
  RunOptions &options = arguments.run;
  failWritesToClosedPipes();
  if (arguments.launched)
    prctl(PR_SET_PDEATHSIG, SIGKILL); // whoever started the ranks ends them, even when it cannot
  absl::StatusOr<RankProcess> ranks = RankProcess::join(environment, options.timeoutSeconds);
  if (!ranks.ok())
    return report(ranks.status());
  if (arguments.launched && ranks->rank() == 0)
    std::fprintf(stderr, "%s\n", StarterOutput::kJoined);
  options.nodes = ranks->communicator().size();
  options.ranks = &*ranks;
  options.terminal = arguments.progress && ranks->rank() == 0;
  if (ranks->rank() != 0) {
    options.out = options.err = std::fopen("/dev/null", "we");
  }
  absl::StatusOr<bool> stopped =
      arguments.selftest ? selftest(*ranks, options.timeoutSeconds, options.out) : runTraining(options);
  absl::Status status = stopped.status();
  if (status.ok())
    status = ranks->leave();
  if (!status.ok()) {
    int code = status.code() == absl::StatusCode::kInternal ? kOurBug
               : isLoss(status) && arguments.launched       ? kExitLost
                                                            : kUserError;
    // What another rank told names that one.
    bool named = ranks->heartbeat().failureElsewhere() == status || (ranks->rank() == 0 && !isLoss(status));
    std::string name = named ? "" : absl::StrCat("rank ", ranks->rank(), ": ");
    ranks->giveUp(status, code, [&] { report(absl::Status(status.code(), absl::StrCat(name, status.message()))); });
  }
  if (ranks->rank() != 0)
    return *stopped ? kExitStopped : 0;
  return finish(*stopped ? kExitStopped : 0, "log lines are missing; metrics and weights are complete");
}

/// The launcher, or the only rank where nobody is to start it again. What would fail on every rank fails here, once.
static int startRanks(Arguments &arguments) {
  RunOptions &options = arguments.run;
  options.nodes = arguments.nodes = std::max<int64_t>(1, arguments.nodes);
  if (!arguments.selftest) {
    absl::StatusOr<RunTimeKeys> keys = checkStep(options);
    if (!keys.ok())
      return report(keys.status());
    arguments.launch.maxRestarts =
        arguments.maxRestarts >= 0 ? arguments.maxRestarts : keys->integer("distributed.max_restarts", 0);
  }
  if (arguments.nodes == 1 && arguments.launch.maxRestarts == 0)
    return runAlone(arguments);
  if (!arguments.launch.hostfile.empty()) {
    if (access(arguments.launch.hostfile.c_str(), R_OK) != 0)
      return report(absl::ErrnoToStatus(errno, absl::StrCat("--hostfile: ", arguments.launch.hostfile)));
    if (std::error_code ignored; std::filesystem::is_directory(arguments.launch.hostfile, ignored))
      return report(absl::InvalidArgumentError(
          absl::StrCat("--hostfile: ", arguments.launch.hostfile, " must be a file, got a folder")));
  }
  std::error_code error;
  arguments.launch.program = std::filesystem::read_symlink("/proc/self/exe", error);
  arguments.launch.nodes = arguments.nodes;
  arguments.launch.timeoutSeconds = options.timeoutSeconds;
  arguments.launch.progress = isatty(STDERR_FILENO);
  return launch(arguments.launch, [] { return int(stopSignal); });
}

static int run(int argc, char **argv) {
  CLI::App app{"Trains from a compiled step."};
  Arguments arguments;
  addOptions(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success &request) {
    return app.exit(request);
  } catch (const CLI::ParseError &error) {
    report(absl::InvalidArgumentError(error.what()));
    std::fprintf(stderr, "reciperun --help lists the options\n");
    return kUserError;
  }
  arguments.selftest = arguments.run.stepPath == "selftest";
  std::optional<RankEnvironment> environment = rankEnvironment(std::getenv);
  if (absl::Status status = checkTogether(app, arguments, environment.has_value()); !status.ok())
    return report(status);
  if (arguments.manifest) {
    absl::Status status = printManifest(arguments.run.stepPath, stdout);
    return status.ok() ? finish(0, "lines are missing") : report(status);
  }
  // A stop may be asked for before all ranks are there.
  if (arguments.ignoreHangup)
    std::signal(SIGHUP, SIG_IGN);
  installStopHandlers(arguments.launched);
  if (arguments.launched)
    arguments.run.onBegin = [] { std::fprintf(stderr, "%s\n", StarterOutput::kBegins); };
  arguments.run.stopRequested = [] { return stopSignal != 0; };
  arguments.launch.arguments.assign(argv + 1, argv + argc);
  if (environment) {
    if (arguments.nodes > 0 && environment->size > 0 && arguments.nodes != environment->size)
      return report(
          absl::InvalidArgumentError(absl::StrCat("--nodes must be the number of ranks that ", environment->starter,
                                                  " started, got ", arguments.nodes, " and ", environment->size)));
    // One rank of one needs nobody.
    if (environment->size != 1)
      return runRank(arguments, *environment);
  }
  if (arguments.selftest && arguments.nodes < 2)
    return report(absl::InvalidArgumentError("selftest: --nodes must be at least 2, one has nobody to talk to"));
  return environment || arguments.launched ? runAlone(arguments) : startRanks(arguments);
}

int main(int argc, char **argv) {
  reserveStandardStreams();
  failWritesPastSizeLimit();
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc &) {
    return report(absl::ResourceExhaustedError("out of memory outside the arena"));
  } catch (const std::exception &exception) {
    return report(absl::InternalError(exception.what()));
  }
}
