// Starts the ranks of a run as processes, and sees to their end.
#ifndef RUNTIME_TOOLS_LAUNCHER_H
#define RUNTIME_TOOLS_LAUNCHER_H
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace recipe::rt {

/// Exit codes of a rank that the launcher knows what to do about.
inline constexpr int kExitLost = 75;     // EX_TEMPFAIL: another rank is missing; the run could be restarted
inline constexpr int kExitStopped = 138; // 128 + SIGUSR1: stopped as asked, everything is saved

struct LaunchOptions {
  int64_t nodes = 1;
  std::string hostfile;               // for mpirun; empty: this machine
  double timeoutSeconds = 600;        // in which the ranks must come, and somebody must be able to miss others
  int64_t maxRestarts = 0;            // after a rank was lost
  std::string program;                // absolute path
  std::vector<std::string> arguments; // of each rank, but for --launched and what restarts add
  bool progress = false;              // standard error is a terminal
};

/// Runs until the end of the ranks and returns our exit code. SIGINT, SIGTERM and SIGHUP reach the ranks as SIGUSR1
/// (save and stop), again and again until they have stopped: a process may not listen yet. A second SIGINT or SIGTERM
/// kills them. `stopSignal` tells of a signal that came before this call, 0: none. No process of the run outlives this
/// call.
int launch(const LaunchOptions &options, const std::function<int()> &stopSignal);

/// The command of mpirun, without the ranks' own.
std::vector<std::string> mpirunCommand(const LaunchOptions &options, bool root, bool readsOtherMemory);

} // namespace recipe::rt
#endif
