// reciperun: trains from a compiled step.
#include "runtime/abi/Container.h"
#include "runtime/abi/kernel_abi.h"
#include "runtime/base/Printable.h"
#include "runtime/base/Process.h"
#include "runtime/tools/TrainingRun.h"
#include <CLI/CLI.hpp>
#include <csignal>
#include <exception>
#include <limits>
#include <unistd.h>

using namespace recipe::rt;

namespace {
constexpr int kUserError = 1;
constexpr int kOurBug = 70; // EX_SOFTWARE
} // namespace

/// The signal that asked for a stop; 0: none.
static volatile std::sig_atomic_t stopSignal = 0;

/// The first Ctrl-C, SIGTERM, SIGHUP or SIGUSR1 lets the step end, saves a checkpoint and writes the weights. A second
/// Ctrl-C or SIGTERM kills; the others do not, since a terminal that goes away, or a launcher, may send them twice.
static void installStopHandlers() {
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) {
    struct sigaction action = {};
    sigaction(signal, nullptr, &action);
    // nohup, and shells that start a job in the background, mean it.
    if (action.sa_handler == SIG_IGN)
      continue;
    action = {};
    action.sa_handler = [](int which) { stopSignal = which; };
    action.sa_flags = SA_RESTART | (signal == SIGINT || signal == SIGTERM ? int(SA_RESETHAND) : 0);
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

static int run(int argc, char **argv) {
  CLI::App app{"Trains from a compiled step."};
  RunOptions options;
  bool manifest = false;
  app.set_version_flag("--version", "reciperun " RECIPEC_VERSION "\nstep format " +
                                        std::to_string(recipe::abi::kStepFormatVersion) + "\nkernel ABI " +
                                        std::to_string(RCP_ABI_VERSION));
  app.add_option("step", options.stepPath, "file that `recipec compile` wrote")->required();
  app.add_option("--steps", options.steps, "updates after which the run ends; default: optim.max_steps")
      ->check(CLI::Range(int64_t(0), std::numeric_limits<int64_t>::max()).description(""));
  app.add_option("--set", options.overrides, "change a run-time key: key=value; may be repeated")
      ->allow_extra_args(false);
  app.add_option("--threads", options.threads, "default: one for each CPU, at most target.max_threads")
      ->check(CLI::Range(1, 4096).description(""));
  app.add_option("--nodes", options.nodes, "data-parallel ranks");
  app.add_option("--output-dir", options.outputDir, "instead of experiment.output_dir");
  app.add_flag("--overwrite", options.overwrite,
               "replace the results of an earlier run in that folder; with --resume: newer ones");
  app.add_option("--resume", options.resume,
                 "go on from a checkpoint, a run's newest, or 'latest': this folder's newest")
      ->expected(0, 1)
      ->default_str("latest");
  app.add_flag("--allow-changes", options.allowChanges, "resume although settings that shape training differ");
  app.add_flag("--print-manifest", manifest, "print what the file says of itself and end");
  app.add_flag("--profile", options.profile, "print the time of each kernel at the end");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success &request) {
    return app.exit(request);
  } catch (const CLI::ParseError &error) {
    report(absl::InvalidArgumentError(error.what()));
    std::fprintf(stderr, "reciperun --help lists the options\n");
    return kUserError;
  }
  if (manifest) {
    absl::Status status = printManifest(options.stepPath, stdout);
    return status.ok() ? finish(0, "lines are missing") : report(status);
  }
  options.terminal = isatty(STDERR_FILENO);
  options.stopRequested = [] { return stopSignal != 0; };
  installStopHandlers();
  failWritesToClosedPipes();
  absl::StatusOr<bool> stopped = runTraining(options);
  if (!stopped.ok())
    return report(stopped.status());
  return finish(*stopped ? 128 + stopSignal : 0, "log lines are missing; metrics and weights are complete");
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
