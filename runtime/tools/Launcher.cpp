#include "runtime/tools/Launcher.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/Clock.h"
#include "runtime/base/WakefulClock.h"
#include "runtime/tools/ChildProcess.h"
#include "runtime/tools/RanksHere.h"
#include "runtime/tools/StarterOutput.h"
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

using namespace recipe::rt;

std::vector<std::string> recipe::rt::mpirunCommand(const LaunchOptions &options, bool root, bool readsOtherMemory) {
  // Ranks pin their threads themselves: only they know how many they run.
  std::vector<std::string> command = {"mpirun",    "-n",   std::to_string(options.nodes),
                                      "--bind-to", "none", "--oversubscribe"};
  if (root)
    command.push_back("--allow-run-as-root");
  if (!options.hostfile.empty()) {
    command.push_back("--hostfile");
    command.push_back(options.hostfile);
  }
  // Containers often forbid what ranks on one host would use to read each other's memory; then it is copied twice.
  if (!readsOtherMemory)
    command.insert(command.end(), {"--mca", "btl_vader_single_copy_mechanism", "none"});
  return command;
}

/// nohup, and shells that start a job in the background, mean it.
static bool isIgnored(int signal) {
  struct sigaction action = {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

static std::vector<std::string> rankCommand(const LaunchOptions &options, bool restarted) {
  std::vector<std::string> command;
  if (options.nodes > 1)
    command = mpirunCommand(options, geteuid() == 0, canReadMemoryOfOthers());
  command.push_back(options.program);
  command.insert(command.end(), options.arguments.begin(), options.arguments.end());
  command.push_back("--launched");
  if (options.progress)
    command.push_back("--progress");
  // mpirun lets its children hear of everything again.
  if (isIgnored(SIGHUP))
    command.push_back("--ignore-hangup");
  if (restarted)
    command.push_back("--restarted");
  return command;
}

static const char *const kStoppedBefore = "stopped before training began, as asked";

static void say(const std::string &text) { std::fprintf(stderr, "reciperun: %s\n", text.c_str()); }

namespace {

/// What the user asked for.
struct Stop {
  int signal = 0;      // the first; 0: none
  bool byUser = false; // a SIGINT or SIGTERM has come: the next one kills
};

/// One start of the ranks, to their end.
class Attempt {
public:
  Attempt(const LaunchOptions &options, int signals, Stop &stop)
      : options(options), signals(signals), stop(stop),
        output([](const std::string &text) { std::fputs(text.c_str(), stderr); }, describeIdleRanks) {}

  /// Of the starter (mpirun, or the only rank), as of waitpid().
  absl::StatusOr<int> run(const std::vector<std::string> &command);
  const StarterOutput &messages() const { return output; }
  bool killed() const { return isKilled; }
  /// Why it gave the ranks up, where no rank could tell; empty if it did not.
  const std::string &givenUp() const { return reason; }

private:
  void onSignal(int signal);
  void readOutput();
  void passStop();
  void watch();
  void hurry();

  const LaunchOptions &options;
  int signals; // a signalfd
  Stop &stop;
  StarterOutput output;
  ChildProcess child;
  bool isKilled = false; // at the user's second word
  int64_t killAt = 0;    // nanoseconds; 0: no reason to
  int64_t stopAt = 0;    // when the ranks are asked to stop once more
  WakefulClock clock;
  int64_t lookAt = 0;  // of `clock`: when to look at the ranks again
  int64_t aliveAt = 1; // of `clock`: when they were last known to be able to tell of a loss
  std::string reason;
};

} // namespace

absl::StatusOr<int> Attempt::run(const std::vector<std::string> &command) {
  RCP_ASSIGN_OR_RETURN(child, ChildProcess::start(command));
  while (!child.ended()) {
    pollfd waits[] = {{signals, POLLIN, 0}, {child.errors(), POLLIN, 0}};
    poll(waits, 2, killAt || stop.signal ? 100 : 400);
    signalfd_siginfo info;
    while (read(signals, &info, sizeof info) == ssize_t(sizeof info))
      onSignal(int(info.ssi_signo));
    if (child.errors() >= 0)
      readOutput();
    passStop();
    watch();
    hurry();
    child.poll();
  }
  // Whoever the starter left behind.
  while (child.poll()) {
    killChildren();
    usleep(2000);
  }
  // What they wrote last is still in the pipe.
  if (child.errors() >= 0)
    readOutput();
  output.end();
  return child.status();
}

/// What no rank can tell: that they have not come, because mpirun or ssh hangs, or that all of them are stopped. They
/// tell of the rest, a little earlier.
void Attempt::watch() {
  int64_t now = clock.now();
  if (options.nodes < 2 || killAt != 0 || now < lookAt)
    return;
  lookAt = now + 500'000'000;
  bool here = options.hostfile.empty();
  RankCount ranks = output.sawJoin() && here ? countRanks() : RankCount();
  if (output.sawJoin() && (!here || ranks.stopped < options.nodes))
    aliveAt = now;
  if (double(now - aliveAt) * 1e-9 < options.timeoutSeconds + 3)
    return;
  reason = output.sawJoin() ? absl::StrCat("all ranks are stopped: ", describeIdleRanks())
                            : "the ranks did not come in time (--timeout): mpirun, or ssh to a host, does not answer";
  output.passOnlyOurs();
  killAt = nowNanoseconds();
  killChildren();
}

void Attempt::onSignal(int signal) {
  if (signal == SIGCHLD)
    return;
  if (stop.signal == 0)
    stop.signal = signal;
  if (signal != SIGINT && signal != SIGTERM)
    return;
  if (stop.byUser) {
    // mpirun may crash when it is ended so.
    output.passOnlyOurs();
    child.send(SIGTERM);
    isKilled = true;
    killAt = nowNanoseconds() + 3'000'000'000;
  }
  stop.byUser = true;
}

/// mpirun forwards nothing before it has started the ranks, and they may not listen yet: until they have stopped.
void Attempt::passStop() {
  if (stop.signal == 0 || isKilled || output.sawStop() || nowNanoseconds() < stopAt)
    return;
  child.send(SIGUSR1);
  stopAt = nowNanoseconds() + 200'000'000;
}

void Attempt::readOutput() {
  char bytes[4096];
  while (true) {
    ssize_t count = read(child.errors(), bytes, sizeof bytes);
    if (count < 0 && errno == EINTR)
      continue;
    if (count == 0)
      child.closeErrors();
    if (count <= 0)
      break;
    output.take(std::string(bytes, size_t(count)));
  }
  std::fflush(stderr);
}

/// A rank has failed or the user is impatient: whoever is still there after a while does not end by itself.
void Attempt::hurry() {
  if (killAt == 0 && (output.sawError() || output.death()))
    killAt = nowNanoseconds() + 5'000'000'000;
  if (killAt != 0 && nowNanoseconds() > killAt) {
    killChildren();
    killAt = nowNanoseconds() + 100'000'000;
  }
}

/// Our exit code, and whether a restart may help.
struct Outcome {
  int code;
  bool lost;
};

/// Stopped without a rank's word on it.
static Outcome stoppedBy(int signal, const char *how) {
  say(how);
  return {128 + signal, false};
}

static Outcome judge(int status, const Attempt &ranks, int stopSignal, bool several) {
  const StarterOutput &output = ranks.messages();
  bool signalled = WIFSIGNALED(status);
  // The first stop may have been done before the second ended mpirun.
  if (ranks.killed() && output.sawStop())
    return {128 + stopSignal, false};
  if (ranks.killed())
    return stoppedBy(stopSignal, "ended at once, as asked; only checkpoints that were complete stay");
  if (!ranks.givenUp().empty()) {
    say(absl::StrCat("error: ", ranks.givenUp()));
    return {1, stopSignal == 0};
  }
  // The stop came to a rank that did not listen yet, so that no rank can have begun.
  if (stopSignal != 0 && !output.sawError() && output.death() && output.death()->signal == SIGUSR1)
    return stoppedBy(stopSignal, kStoppedBefore);
  int code = signalled ? kExitLost : WEXITSTATUS(status);
  if (code == kExitStopped)
    return {128 + (stopSignal ? stopSignal : int(SIGUSR1)), false};
  // A rank that is killed before mpirun knows of it all leaves but a shell's code.
  bool killed = several && !signalled && !output.sawError() && !output.death() && code == 128 + SIGKILL;
  bool lost = code == kExitLost || output.death() || killed;
  if (const auto &death = output.death(); death && (stopSignal == 0 || !output.sawError()))
    say(absl::StrCat("error: rank ", death->rank, " (host ", death->host, ") was ended by signal ", death->signal, " (",
                     strsignal(death->signal), ")"));
  else if (signalled && !death && !output.sawError())
    say(absl::StrCat("error: the process that starts the ranks was ended by signal ", WTERMSIG(status), " (",
                     strsignal(WTERMSIG(status)), ")"));
  else if (killed)
    say(absl::StrCat("error: a rank was ended by signal ", SIGKILL, " (", strsignal(SIGKILL), ")"));
  else if (code != 0 && !death && !output.sawError())
    say(absl::StrCat("error: ", several ? output.reason(code)
                                        : absl::StrCat("the rank ended with exit code ", code, " and said nothing")));
  return {lost ? 1 : code == 70 || code == 0 ? code : 1, lost && stopSignal == 0};
}

/// Signals of which the launcher must not die; they are read from the descriptor.
static int takeSignals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1})
    if (!isIgnored(signal))
      sigaddset(&set, signal);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

int recipe::rt::launch(const LaunchOptions &options, const std::function<int()> &stopSignal) {
  adoptOrphans();
  int signals = takeSignals();
  Stop stop;
  if (int early = stopSignal())
    return stoppedBy(early, kStoppedBefore).code;
  bool began = false; // from then on the output folder is this run's
  for (int64_t attempt = 0;; ++attempt) {
    Attempt ranks(options, signals, stop);
    absl::StatusOr<int> status = ranks.run(rankCommand(options, began));
    if (!status.ok()) {
      say(absl::StrCat("error: ", status.status().message()));
      return 1;
    }
    began |= ranks.messages().sawBegin();
    Outcome outcome = judge(*status, ranks, stop.signal, options.nodes > 1);
    if (!outcome.lost || attempt >= options.maxRestarts)
      return outcome.code;
    say(absl::StrCat("restart ", attempt + 1, " of ", options.maxRestarts));
  }
}
