#include "tests/e2e/RunningRanks.h"
#include "runtime/base/Clock.h"
#include <csignal>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace recipe::test {

static std::string contents(const std::filesystem::path &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf(); // does not throw when the process ends meanwhile
  return text.str();
}

static void sleepShortly() { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }

RunningRanks::RunningRanks(const Workspace &space, const std::string &command, const std::string &outputDir)
    : mark(space.files().path(outputDir)) {
  std::string shell = "cd '" + space.files().path("") + "' && PATH='" PROGRAMS_PATH "':\"$PATH\" && exec " + command +
                      " --output-dir '" + mark + "' >'" + streams.path("out") + "' 2>'" + streams.path("err") + "'";
  process = fork();
  if (process == 0) {
    execl("/bin/sh", "sh", "-c", shell.c_str(), nullptr);
    _exit(127);
  }
}

RunningRanks::~RunningRanks() {
  kill(process, SIGKILL);
  waitpid(process, nullptr, 0);
  for (pid_t pid : processes())
    kill(pid, SIGKILL);
}

std::vector<pid_t> RunningRanks::processes() const {
  std::vector<pid_t> found;
  std::error_code error;
  for (const auto &entry : std::filesystem::directory_iterator("/proc", error)) {
    pid_t pid = std::atoi(entry.path().filename().c_str());
    // A process that has ended and whose parent has not looked yet has no command line.
    if (pid > 0 && contents(entry.path() / "cmdline").find(mark) != std::string::npos)
      found.push_back(pid);
  }
  return found;
}

pid_t RunningRanks::rank(int rank) const {
  std::string wanted = "OMPI_COMM_WORLD_RANK=" + std::to_string(rank);
  for (double end = rt::nowSeconds() + 20; rt::nowSeconds() < end; sleepShortly())
    for (pid_t pid : processes()) {
      std::istringstream variables(contents("/proc/" + std::to_string(pid) + "/environ"));
      for (std::string variable; std::getline(variables, variable, '\0');)
        if (variable == wanted)
          return pid;
    }
  return -1;
}

bool RunningRanks::waitForOutput(const std::string &text) const {
  for (double end = rt::nowSeconds() + 30; rt::nowSeconds() < end; sleepShortly())
    if (out().find(text) != std::string::npos)
      return true;
  return false;
}

int RunningRanks::wait(double seconds) {
  double begin = rt::nowSeconds();
  int status = 0;
  while (waitpid(process, &status, WNOHANG) == 0) {
    if (rt::nowSeconds() > begin + seconds)
      return -2;
    sleepShortly();
  }
  waited = rt::nowSeconds() - begin;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool RunningRanks::nothingIsLeft() const {
  for (double end = rt::nowSeconds() + 2; rt::nowSeconds() < end; sleepShortly())
    if (processes().empty())
      return true;
  return false;
}

} // namespace recipe::test
