#include "runtime/tools/Launcher.h"
#include "runtime/tools/ChildProcess.h"
#include <algorithm>
#include <csignal>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace recipe::rt;

static bool has(const std::vector<std::string> &words, const std::string &word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

TEST(LauncherTest, MpirunIsToldWhatIsNeededHere) {
  LaunchOptions options;
  options.nodes = 4;
  std::vector<std::string> plain = mpirunCommand(options, false, true);
  EXPECT_EQ(plain, std::vector<std::string>({"mpirun", "-n", "4", "--bind-to", "none", "--oversubscribe"}));
  options.hostfile = "hosts";
  std::vector<std::string> all = mpirunCommand(options, true, false);
  EXPECT_TRUE(has(all, "--allow-run-as-root"));
  EXPECT_TRUE(has(all, "hosts"));
  EXPECT_TRUE(has(all, "btl_vader_single_copy_mechanism"));
}

TEST(LauncherTest, AChildsEndAndItsErrorsArrive) {
  auto child = ChildProcess::start({"sh", "-c", "echo so it goes >&2; exit 7"});
  ASSERT_TRUE(child.ok()) << child.status();
  while (!child->ended())
    child->poll();
  EXPECT_EQ(WEXITSTATUS(child->status()), 7);
  char bytes[64];
  ssize_t count = read(child->errors(), bytes, sizeof bytes);
  EXPECT_EQ(std::string(bytes, size_t(std::max<ssize_t>(count, 0))), "so it goes\n");
}

TEST(LauncherTest, WhatCannotBeStartedSaysSo) {
  EXPECT_EQ(ChildProcess::start({"/nonexistent/program"}).status().code(), absl::StatusCode::kNotFound);
  const char *found = getenv("PATH");
  std::string path = found ? found : "";
  setenv("PATH", "/nonexistent", 1);
  absl::Status status = ChildProcess::start({"mpirun", "-n", "2"}).status();
  setenv("PATH", path.c_str(), 1);
  EXPECT_NE(status.message().find("more than one node needs OpenMPI"), std::string::npos) << status;
}

TEST(LauncherTest, OrphansAreAdoptedAndKilled) {
  // In a process of its own: this test's would adopt those of others.
  pid_t tester = fork();
  if (tester == 0) {
    adoptOrphans();
    // The shell ends at once and leaves a child that would live on.
    auto child = ChildProcess::start({"sh", "-c", "sleep 1000 & exit 0"});
    bool left = true;
    for (int round = 0; round < 2000 && child.ok(); ++round) {
      left = child->poll();
      if (child->ended() && !left)
        break;
      if (child->ended())
        killChildren();
      usleep(1000);
    }
    _exit(child.ok() && child->ended() && !left ? 0 : 1);
  }
  int status = 1;
  waitpid(tester, &status, 0);
  EXPECT_EQ(status, 0);
}
