// A run on several ranks while it runs: its processes, as an operating system sees them.
#ifndef TESTS_E2E_RUNNINGRANKS_H
#define TESTS_E2E_RUNNINGRANKS_H
#include "tests/e2e/Workspace.h"
#include <sys/types.h>

namespace recipe::test {

class RunningRanks {
public:
  /// `command` in the folder of the workspace; `outputDir` is in its arguments and names the run.
  RunningRanks(const Workspace &space, const std::string &command, const std::string &outputDir);
  /// Kills what is left.
  ~RunningRanks();

  pid_t launcher() const { return process; }
  /// The process of a rank, as soon as there is one; -1 if there is none within 20 s.
  pid_t rank(int rank) const;
  /// Waits until the output contains the text; false after 30 s.
  bool waitForOutput(const std::string &text) const;
  /// Waits for the end of the launcher, for at most so long: its exit code, -1: a signal, -2: it has not ended.
  int wait(double seconds);
  double secondsUntilEnd() const { return waited; }

  std::string out() const { return streams.read("out"); }
  std::string err() const { return streams.read("err"); }
  /// Processes of the run, the launcher and mpirun included.
  std::vector<pid_t> processes() const;
  /// Empty within two seconds after the end, or not.
  bool nothingIsLeft() const;

private:
  TempFolder streams;
  std::string mark; // in the command line of every process of the run
  pid_t process;
  double waited = 0;
};

} // namespace recipe::test
#endif
