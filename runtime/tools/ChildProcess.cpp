#include "runtime/tools/ChildProcess.h"
#include "absl/strings/str_cat.h"
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

using namespace recipe::rt;

/// In the child: becomes the command or tells why not.
[[noreturn]] static void become(const std::vector<std::string> &command, int errors, int reason) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  std::signal(SIGUSR1, SIG_IGN); // until it has a handler; a stop that is lost so is sent again
  int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null >= 0)
    dup2(null, STDIN_FILENO);
  dup2(errors, STDERR_FILENO);
  std::vector<char *> arguments;
  for (const std::string &argument : command)
    arguments.push_back(const_cast<char *>(argument.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  int error = errno;
  (void)!write(reason, &error, sizeof error);
  _exit(127);
}

absl::StatusOr<ChildProcess> ChildProcess::start(const std::vector<std::string> &command) {
  int errors[2], reason[2];
  if (pipe2(errors, O_CLOEXEC) != 0 || pipe2(reason, O_CLOEXEC) != 0)
    return absl::ErrnoToStatus(errno, "a pipe cannot be made");
  ChildProcess child;
  child.process = fork();
  if (child.process == 0)
    become(command, errors[1], reason[1]);
  close(errors[1]);
  close(reason[1]);
  child.pipe = errors[0];
  fcntl(child.pipe, F_SETFL, O_NONBLOCK);
  int error = child.process < 0 ? errno : 0;
  if (error == 0 && read(reason[0], &error, sizeof error) != ssize_t(sizeof error))
    error = 0; // it has become the command
  close(reason[0]);
  if (error == ENOENT && command[0] == "mpirun")
    return absl::NotFoundError("mpirun was not found: more than one node needs OpenMPI (Debian: openmpi-bin)");
  if (error != 0)
    return absl::ErrnoToStatus(error, absl::StrCat(command[0], " cannot be started"));
  return child;
}

ChildProcess &ChildProcess::operator=(ChildProcess &&other) noexcept {
  closeErrors();
  process = other.process;
  pipe = std::exchange(other.pipe, -1);
  isEnded = other.isEnded;
  waitStatus = other.waitStatus;
  return *this;
}

void ChildProcess::closeErrors() {
  if (pipe >= 0)
    close(pipe);
  pipe = -1;
}

void ChildProcess::send(int signal) const {
  if (!isEnded)
    kill(process, signal);
}

bool ChildProcess::poll() {
  int status = 0;
  pid_t pid;
  while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
    if (pid == process) {
      isEnded = true;
      waitStatus = status;
    }
  return pid == 0;
}

void recipe::rt::adoptOrphans() { prctl(PR_SET_CHILD_SUBREAPER, 1); }

static std::vector<pid_t> children() {
  std::vector<pid_t> found;
  std::error_code error;
  for (const auto &thread : std::filesystem::directory_iterator("/proc/self/task", error)) {
    std::ifstream list(thread.path() / "children");
    for (pid_t pid; list >> pid;)
      found.push_back(pid);
  }
  return found;
}

void recipe::rt::killChildren() {
  for (pid_t pid : children())
    kill(pid, SIGKILL);
}

bool recipe::rt::canReadMemoryOfOthers() {
  int value = 4711;
  pid_t parent = getpid(), child = fork();
  if (child == 0) {
    int copy = 0;
    iovec local = {&copy, sizeof copy}, remote = {&value, sizeof value};
    _exit(process_vm_readv(parent, &local, 1, &remote, 1, 0) == ssize_t(sizeof copy) && copy == value ? 0 : 1);
  }
  int status = 1;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}
