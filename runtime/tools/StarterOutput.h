// What comes out of mpirun's standard error: our ranks' messages pass, its own are understood, and shown only where
// they say something that the user does not learn otherwise.
#ifndef RUNTIME_TOOLS_STARTEROUTPUT_H
#define RUNTIME_TOOLS_STARTEROUTPUT_H
#include <cstdio>
#include <functional>
#include <optional>
#include <set>
#include <string>

namespace recipe::rt {

/// One thread. Lines pass when they are whole, others (progress on a terminal) at once.
class StarterOutput {
public:
  /// `missing` tells which ranks do not run, in words, "" if all do.
  explicit StarterOutput(
      std::function<void(const std::string &)> pass, std::function<std::string()> missing = [] { return ""; })
      : pass(std::move(pass)), missing(std::move(missing)) {}

  /// What a rank says that waits in the MPI library, which knows no limit and tells nothing.
  static constexpr char kNotTogether[] =
      "reciperun: error: the ranks did not all come, or did not all leave, in time (--timeout)";

  void take(const std::string &bytes);
  /// Nothing more comes.
  void end();

  /// A process that a signal ended, as mpirun saw it.
  struct Death {
    int rank = 0;
    std::string host;
    int signal = 0;
  };
  const std::optional<Death> &death() const { return dead; }
  /// Whether a message of ours says what was wrong.
  bool sawError() const { return error; }
  /// Why mpirun ended with that exit code where nothing else tells.
  std::string reason(int code) const;
  /// Whether the ranks said that they have stopped as asked.
  bool sawStop() const { return stopped; }
  /// Whether rank 0 said kBegins, which is for us alone.
  bool sawBegin() const { return began; }
  /// Whether rank 0 said kJoined: the ranks know each other, and miss each other from then on.
  bool sawJoin() const { return joined; }
  static constexpr char kJoined[] = "reciperun: the ranks have come";
  static constexpr char kBegins[] = "reciperun: training begins";
  /// From here on only messages of ours pass.
  void passOnlyOurs() { onlyOurs = true; }

private:
  void takeLine(const std::string &line);
  void takeBlock();

  void takeError(const std::string &line);

  std::function<void(const std::string &)> pass;
  std::function<std::string()> missing;
  std::string line;     // begun
  bool passing = false; // its beginning has passed
  bool inBlock = false; // between two of mpirun's rules
  std::string block;
  std::string aftermath;        // of a failure: to be shown if nothing else tells of one
  std::set<std::string> errors; // of ours, each of which passes once
  std::optional<Death> dead;
  std::optional<std::string> trouble; // of mpirun's in starting the ranks
  bool spoke = false;                 // mpirun, and it passed
  bool exited = false;                // a rank, with a code that mpirun saw
  bool error = false;
  bool stopped = false;
  bool began = false;
  bool joined = false;
  bool onlyOurs = false;
};

} // namespace recipe::rt
#endif
