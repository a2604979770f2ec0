#include "runtime/tools/MpirunTrouble.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

using namespace recipe::rt;

/// What stands between the two; to the end, if the second is not there.
static std::string between(const std::string &text, const std::string &before, const std::string &after) {
  size_t begin = text.find(before);
  if (begin == std::string::npos)
    return "";
  begin += before.size();
  size_t end = text.find(after, begin);
  return text.substr(begin, end == std::string::npos ? end : end - begin);
}

// The texts are OpenMPI 4's, misspelt where it misspells them.
std::optional<std::string> recipe::rt::mpirunTrouble(const std::string &text) {
  if (absl::StrContains(text, "detected a parse error in the hostfile"))
    return absl::StrCat("--hostfile: ", between(text, "in the hostfile: ", " It occured"), ":",
                        between(text, "on line number ", " "),
                        ": must have the form HOST slots=N, mpirun cannot read this line");
  if (absl::StrContains(text, "No nodes are available for this job"))
    return "--hostfile must name a host with room for a rank, mpirun finds none";
  if (absl::StrContains(text, "unable to reliably start one or more daemons"))
    return "mpirun could not start its program orted on every host: each must be reachable by ssh without a password "
           "and have OpenMPI in the same place";
  if (absl::StrContains(text, "\"plm_rsh_agent\" was set to a path that could not be found"))
    return absl::StrCat("mpirun needs ssh to reach other hosts (Debian: openssh-client), found no program of '",
                        between(text, "plm_rsh_agent: ", " Please either"), "'");
  return std::nullopt;
}
