// A child process with a pipe from its standard error, and the children that it leaves behind.
#ifndef RUNTIME_TOOLS_CHILDPROCESS_H
#define RUNTIME_TOOLS_CHILDPROCESS_H
#include "runtime/base/Status.h"
#include <string>
#include <sys/types.h>
#include <sys/wait.h>
#include <vector>

namespace recipe::rt {

/// One thread. Destroyed while the child runs, it leaves it alone.
class ChildProcess {
public:
  ChildProcess() = default;
  /// In a process group of its own, so that a terminal's signals do not reach it; reads nothing from standard input;
  /// gets SIGTERM when this process dies. No signal is blocked in it, and SIGUSR1 ignored.
  static absl::StatusOr<ChildProcess> start(const std::vector<std::string> &command);
  ChildProcess(ChildProcess &&other) noexcept { *this = std::move(other); }
  ChildProcess &operator=(ChildProcess &&other) noexcept;
  ~ChildProcess() { closeErrors(); }

  /// The reading end, non-blocking; -1 when closed.
  int errors() const { return pipe; }
  void closeErrors();
  void send(int signal) const;
  /// Notices its end, and reaps adopted orphans. False if this process has no child left.
  bool poll();
  bool ended() const { return isEnded; }
  /// As of waitpid().
  int status() const { return waitStatus; }

private:
  pid_t process = -1;
  int pipe = -1;
  bool isEnded = false;
  int waitStatus = 0;
};

/// Descendants whose parents die become children of this process.
void adoptOrphans();

/// SIGKILL to all children of this process. Theirs become ours then.
void killChildren();

/// Whether a process may read the memory of one that is not its child (process_vm_readv), as ranks on one host do.
bool canReadMemoryOfOthers();

} // namespace recipe::rt
#endif
