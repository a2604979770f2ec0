#include "tests/e2e/OneClearError.h"
#include <gtest/gtest.h>
#include <sstream>

namespace recipe::test {

void expectOneClearError(const Workspace &space, const std::string &command, std::string message) {
  for (size_t at = 0; (at = message.find('@')) != std::string::npos;)
    message.replace(at, 1, space.files().path(""));
  auto before = space.listing();
  Outcome outcome = space.run(command);
  EXPECT_EQ(outcome.code, 1) << command;
  EXPECT_EQ(outcome.out, "") << command;
  EXPECT_EQ(outcome.err.substr(0, message.size()), message) << command << "\n" << outcome.err;
  std::istringstream lines(outcome.err);
  int errors = 0;
  for (std::string line; std::getline(lines, line);) {
    errors += line.find("error: ") != std::string::npos;
    EXPECT_LT(line.size(), 600u) << line;
    EXPECT_EQ(line.find(", got "), line.rfind(", got ")) << "what was found is said once: " << line;
  }
  EXPECT_EQ(errors, 1) << outcome.err;
  EXPECT_EQ(space.listing(), before) << command << ": left something behind";
}

} // namespace recipe::test
