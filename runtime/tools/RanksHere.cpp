#include "runtime/tools/RanksHere.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include <filesystem>
#include <fstream>
#include <map>
#include <sys/types.h>
#include <unistd.h>
#include <vector>

using namespace recipe::rt;

static std::string processFile(pid_t process, const char *name) { return absl::StrCat("/proc/", process, "/", name); }

static std::vector<pid_t> childrenOf(pid_t process) {
  std::vector<pid_t> found;
  std::error_code error;
  for (const auto &thread : std::filesystem::directory_iterator(processFile(process, "task"), error)) {
    std::ifstream list(thread.path() / "children");
    for (pid_t child; list >> child;)
      found.push_back(child);
  }
  return found;
}

/// -1: none.
static int64_t rankOf(pid_t process) {
  std::ifstream environment(processFile(process, "environ"));
  int64_t rank = -1;
  for (std::string entry; std::getline(environment, entry, '\0');)
    if (absl::string_view number = entry; absl::ConsumePrefix(&number, "OMPI_COMM_WORLD_RANK="))
      (void)absl::SimpleAtoi(number, &rank);
  return rank;
}

/// 'R' running, 'S' asleep, 'T' stopped, ...: the field after the name, which may hold anything.
static char stateOf(pid_t process) {
  std::ifstream file(processFile(process, "stat"));
  std::string text;
  std::getline(file, text, '\0'); // does not throw when the process ends meanwhile
  size_t name = text.rfind(") ");
  return name == std::string::npos || name + 2 >= text.size() ? '?' : text[name + 2];
}

std::string recipe::rt::describeIdleRanks() {
  std::map<int64_t, std::string> idle;
  std::vector<pid_t> left = childrenOf(getpid());
  while (!left.empty()) {
    pid_t process = left.back();
    left.pop_back();
    for (pid_t child : childrenOf(process))
      left.push_back(child);
    int64_t rank = rankOf(process);
    char state = stateOf(process);
    const char *what = state == 'T' || state == 't' ? "stopped by a signal" : state == 'D' ? "waits for a device" : "";
    if (rank >= 0 && *what)
      idle[rank] = absl::StrCat("rank ", rank, " (process ", process, "): ", what);
  }
  return absl::StrJoin(idle, ", ", [](std::string *text, const auto &entry) { *text += entry.second; });
}
