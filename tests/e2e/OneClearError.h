// What every bad input must end in.
#ifndef TESTS_E2E_ONECLEARERROR_H
#define TESTS_E2E_ONECLEARERROR_H
#include "tests/e2e/Workspace.h"

namespace recipe::test {

/// A row of a table of them.
struct BadInput {
  const char *name;
  const char *command;
  const char *message; // what stderr begins with; @ stands for the workspace's folder
};

/// Runs the command and expects exit code 1, nothing on stdout, one line of error that begins with `message`, perhaps a
/// line that says where help is, and no file that was not there before.
void expectOneClearError(const Workspace &space, const std::string &command, std::string message);

} // namespace recipe::test
#endif
