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

namespace {
struct RankHere {
  pid_t process;
  char state;
};
} // namespace

static bool isStopped(char state) { return state == 'T' || state == 't'; }

static std::map<int64_t, RankHere> ranksHere() {
  std::map<int64_t, RankHere> found;
  std::vector<pid_t> left = childrenOf(getpid());
  while (!left.empty()) {
    pid_t process = left.back();
    left.pop_back();
    for (pid_t child : childrenOf(process))
      left.push_back(child);
    if (int64_t rank = rankOf(process); rank >= 0)
      found[rank] = {process, stateOf(process)};
  }
  return found;
}

RankCount recipe::rt::countRanks() {
  RankCount count;
  for (const auto &[rank, here] : ranksHere()) {
    ++count.present;
    count.stopped += isStopped(here.state);
  }
  return count;
}

std::string recipe::rt::describeIdleRanks() {
  std::vector<std::string> idle;
  for (const auto &[rank, here] : ranksHere())
    if (isStopped(here.state) || here.state == 'D')
      idle.push_back(absl::StrCat("rank ", rank, " (process ", here.process,
                                  "): ", isStopped(here.state) ? "stopped by a signal" : "waits for a device"));
  return absl::StrJoin(idle, ", ");
}
