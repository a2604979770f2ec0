// A program as another process, in a folder that takes its standard streams as files "stdout" and "stderr".
#ifndef TESTS_UNIT_CHILDPROCESS_H
#define TESTS_UNIT_CHILDPROCESS_H

#include "tests/unit/TempFolder.h"

#include <fcntl.h>
#include <functional>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace recipe::test {

class ChildProcess {
public:
  /// `prepare` runs in the child, last before the program: limits, other streams, signals.
  ChildProcess(const TempFolder &folder, std::vector<std::string> command, const std::function<void()> &prepare = {}) {
    std::vector<char *> arguments;
    for (std::string &word : command)
      arguments.push_back(word.data());
    arguments.push_back(nullptr);
    child = fork();
    if (child != 0)
      return;
    if (chdir(folder.path("").c_str()) != 0 || !redirect(STDOUT_FILENO, "stdout") || !redirect(STDERR_FILENO, "stderr"))
      _exit(99);
    if (prepare)
      prepare();
    execv(arguments[0], arguments.data());
    _exit(99);
  }
  ChildProcess(const ChildProcess &) = delete;
  ChildProcess &operator=(const ChildProcess &) = delete;
  ~ChildProcess() {
    if (child > 0)
      (void)wait();
  }

  pid_t id() const { return child; }

  /// Its exit code; -n if signal n ended it. 99: it did not even begin.
  int wait() {
    int status = 0;
    pid_t ended = waitpid(child, &status, 0);
    child = -1;
    return ended < 0 ? 99 : WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  /// Points a stream at a file. For `prepare`.
  static bool redirect(int stream, const char *name) {
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    return fd >= 0 && dup2(fd, stream) == stream && close(fd) == 0;
  }

private:
  pid_t child = -1;
};

} // namespace recipe::test

#endif // TESTS_UNIT_CHILDPROCESS_H
