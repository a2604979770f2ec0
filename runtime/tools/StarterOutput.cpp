#include "runtime/tools/StarterOutput.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "runtime/tools/MpirunTrouble.h"
#include <vector>

using namespace recipe::rt;

static bool isRule(const std::string &line) {
  return line.size() >= 40 && line.find_first_not_of('-') == std::string::npos;
}

/// Of mpirun and of the MPI library in the ranks: notes about messages and about signals that we sent.
static bool isNote(const std::string &line) {
  for (const char *known : {"has sent help message", "have sent help message", "orte_base_help_aggregate",
                            "mpirun: Forwarding signal", "mpirun: abort is already in progress"})
    if (absl::StrContains(line, known))
      return true;
  return false;
}

/// What the MPI library says when the rank at the other end is gone, sometimes before anybody has found that out.
static bool isAftermath(const std::string &line) {
  if (!absl::StartsWith(line, "["))
    return false;
  for (const char *known : {"Read -1, expected", "ORTE_ERROR_LOG", "PMIX ERROR", "[warn] Epoll", "FORCE-TERMINATE AT"})
    if (absl::StrContains(line, known))
      return true;
  return false;
}

void StarterOutput::take(const std::string &bytes) {
  for (size_t begin = 0; begin < bytes.size();) {
    size_t end = bytes.find('\n', begin);
    if (end == std::string::npos) {
      line += bytes.substr(begin);
      break;
    }
    line += bytes.substr(begin, end - begin);
    if (passing && !onlyOurs)
      pass(line + "\n");
    else
      takeLine(line);
    line.clear();
    passing = false;
    begin = end + 1;
  }
  // A line that mpirun may have begun waits until it is whole.
  if (!line.empty() && !inBlock && !onlyOurs && (passing || line.find_first_of("-[rm") != 0)) {
    pass(line);
    line.clear();
    passing = true;
  }
}

void StarterOutput::end() {
  if (!line.empty())
    takeLine(line);
  line.clear();
  if (inBlock)
    takeBlock();
  inBlock = false;
  if (!error && !dead && !trouble && !onlyOurs)
    pass(aftermath);
}

void StarterOutput::takeLine(const std::string &whole) {
  if (onlyOurs && !absl::StartsWith(whole, "reciperun: "))
    return;
  if (isRule(whole)) {
    if (inBlock)
      takeBlock();
    inBlock = !inBlock;
    block.clear();
  } else if (inBlock) {
    absl::StrAppend(&block, whole, "\n");
  } else if (absl::StartsWith(whole, "reciperun: error: ")) {
    takeError(whole);
  } else if (whole == kJoined) {
    joined = true;
  } else if (whole == kBegins) {
    began = true;
  } else if (absl::StartsWith(whole, "reciperun: stopped ")) {
    stopped = true;
    pass(whole + "\n");
  } else if (isAftermath(whole)) {
    absl::StrAppend(&aftermath, whole, "\n");
  } else if (!isNote(whole)) {
    pass(whole + "\n");
  }
}

/// Where ranks wait for each other more than one may lose patience before it hears of the first; whoever was suspended
/// and goes on when the run is ended finds everybody late.
static bool isImpatience(const std::string &line) {
  for (const char *known : {"made no progress for", "gave no answer within"})
    if (absl::StrContains(line, known))
      return true;
  return false;
}

void StarterOutput::takeError(const std::string &whole) {
  bool first = !error;
  error = true;
  if (!errors.insert(whole).second || (!first && isImpatience(whole)))
    return;
  std::string idle = whole == kNotTogether ? missing() : "";
  pass(absl::StrCat(whole, idle.empty() ? "" : "; missing: ", idle, "\n"));
}

/// Lines of unequal length into one.
static std::string flat(const std::string &text) {
  return absl::StrJoin(absl::StrSplit(text, absl::ByAnyChar(" \n"), absl::SkipEmpty()), " ");
}

/// "... process rank 1 with PID 0 on node vm exited on signal 9 (Killed)."
static std::optional<StarterOutput::Death> readDeath(const std::string &text) {
  size_t at = text.find("process rank ");
  if (at == std::string::npos)
    return std::nullopt;
  std::vector<std::string> words = absl::StrSplit(text.substr(at), ' ');
  StarterOutput::Death death;
  if (words.size() < 13 || words[9] != "exited" || words[11] != "signal" || !absl::SimpleAtoi(words[2], &death.rank) ||
      !absl::SimpleAtoi(words[12], &death.signal))
    return std::nullopt;
  death.host = words[8];
  return death;
}

void StarterOutput::takeBlock() {
  std::string text = flat(block);
  if (std::optional<Death> death = readDeath(text)) {
    if (!dead)
      dead = death;
    return;
  }
  // What a rank that ends with an exit code makes it say; the rank itself said why.
  for (const char *known : {"MPI_ABORT was invoked", "a non-zero exit code", "exited with non-zero status"})
    if (absl::StrContains(text, known)) {
      exited = true;
      return;
    }
  if (std::optional<std::string> known = mpirunTrouble(text)) {
    if (!trouble)
      trouble = known;
    return;
  }
  bool follows = error || trouble || absl::StrContains(text, "An internal error has occurred in ORTE");
  spoke |= !follows;
  for (absl::string_view one : absl::StrSplit(block, '\n', absl::SkipWhitespace())) {
    std::string shown = absl::StrCat("mpirun: ", one, "\n");
    if (follows)
      aftermath += shown;
    else
      pass(shown);
  }
}

std::string StarterOutput::reason(int code) const {
  if (trouble)
    return *trouble;
  if (spoke)
    return absl::StrCat("mpirun ended with exit code ", code, ", for the reason above");
  if (exited)
    return absl::StrCat("the ranks ended with exit code ", code, " and said nothing");
  return absl::StrCat("mpirun ended with exit code ", code,
                      " and without a word, as after a signal that is sent to it; ",
                      stopped ? "the ranks have saved and stopped" : "only checkpoints that were complete stay");
}
