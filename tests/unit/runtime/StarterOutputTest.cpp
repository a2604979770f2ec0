#include "runtime/tools/StarterOutput.h"
#include <gtest/gtest.h>

using namespace recipe::rt;

namespace {
const std::string rule(74, '-');

struct Shown {
  std::string text;
  std::string missing;
  StarterOutput output{[this](const std::string &part) { text += part; }, [this] { return missing; }};
};
} // namespace

TEST(StarterOutputTest, LinesOfTheRanksPassAndProgressAtOnce) {
  Shown shown;
  shown.output.take("a line\nstep 1/10");
  EXPECT_EQ(shown.text, "a line\nstep 1/10");
  shown.output.take("\rstep 2/10");
  EXPECT_EQ(shown.text, "a line\nstep 1/10\rstep 2/10");
  shown.output.take("\nrec");
  shown.output.take("iperun: done\n");
  EXPECT_EQ(shown.text, "a line\nstep 1/10\rstep 2/10\nreciperun: done\n");
  EXPECT_FALSE(shown.output.sawError());
}

TEST(StarterOutputTest, AnErrorOfSeveralRanksPassesOnce) {
  Shown shown;
  shown.output.take("reciperun: error: no such file\nreciperun: error: no such file\nreciperun: error: other\n");
  EXPECT_EQ(shown.text, "reciperun: error: no such file\nreciperun: error: other\n");
  EXPECT_TRUE(shown.output.sawError());
}

// A rank that was suspended goes on when the run is ended, and finds everybody late.
TEST(StarterOutputTest, OneRankLosesPatience) {
  for (const char *impatience : {"reciperun: error: rank 0: the end of a step: other ranks gave no answer within 3 s",
                                 "reciperun: error: rank 0: all-reduce of x (op 1) made no progress for 3.0 s"}) {
    Shown late, first;
    late.output.take("reciperun: error: the reason\n" + std::string(impatience) + "\n");
    EXPECT_EQ(late.text, "reciperun: error: the reason\n");
    first.output.take(std::string(impatience) + "\nreciperun: error: the reason\n");
    EXPECT_EQ(first.text, std::string(impatience) + "\nreciperun: error: the reason\n");
  }
}

TEST(StarterOutputTest, RanksThatAreNotTogetherAreLookedFor) {
  const std::string line = StarterOutput::kNotTogether;
  Shown all, some;
  all.output.take(line + "\n");
  EXPECT_EQ(all.text, line + "\n");
  some.missing = "rank 1 (process 5): stopped by a signal";
  some.output.take(line + "\n" + line + "\n");
  EXPECT_EQ(some.text, line + "; missing: rank 1 (process 5): stopped by a signal\n");
  EXPECT_TRUE(some.output.sawError());
}

TEST(StarterOutputTest, OnceAskedOnlyOursPasses) {
  Shown shown;
  shown.output.take("before\n");
  shown.output.passOnlyOurs();
  shown.output.take("[vm:1] *** Process received signal ***\nmpirun(+0x1)[0x5]\nreciperun: bye\nSegmentation");
  shown.output.take(" fault\n*** End of error message ***");
  shown.output.end();
  EXPECT_EQ(shown.text, "before\nreciperun: bye\n");
}

TEST(StarterOutputTest, TheStopIsNoticed) {
  Shown shown;
  shown.output.take("reciperun: st");
  EXPECT_FALSE(shown.output.sawStop());
  shown.output.take("opped after step 3 of 9, as asked\n");
  EXPECT_TRUE(shown.output.sawStop());
}

TEST(StarterOutputTest, TheBeginIsNoticedAndNotShown) {
  Shown shown;
  shown.output.take("reciperun: training be");
  EXPECT_FALSE(shown.output.sawBegin());
  shown.output.take("gins\n");
  EXPECT_TRUE(shown.output.sawBegin());
  shown.output.end();
  EXPECT_EQ(shown.text, "");
}

TEST(StarterOutputTest, ADeathIsUnderstood) {
  Shown shown;
  std::string text = rule +
                     "\nPrimary job  terminated normally, but 1 process returned\na non-zero exit code. Per "
                     "user-direction, the job has been aborted.\n" +
                     rule + "\n" + rule +
                     "\nmpirun noticed that process rank 3 with PID 0 on node vm-7 exited on signal 9 (Killed).\n" +
                     rule + "\n";
  // However it is cut.
  for (char c : text)
    shown.output.take(std::string(1, c));
  shown.output.end();
  EXPECT_EQ(shown.text, "");
  ASSERT_TRUE(shown.output.death());
  EXPECT_EQ(shown.output.death()->rank, 3);
  EXPECT_EQ(shown.output.death()->host, "vm-7");
  EXPECT_EQ(shown.output.death()->signal, 9);
}

TEST(StarterOutputTest, WhatItCannotKnowPasses) {
  Shown shown;
  shown.output.take("[vm:12] 1 more process has sent help message help-mpi-api.txt / mpi-abort\n" + rule +
                    "\nThere are not enough slots available in the system\n\nto satisfy the 4 slots\n" + rule + "\n");
  shown.output.take("[vm:12] *** Process received signal ***\n");
  EXPECT_EQ(shown.text, "mpirun: There are not enough slots available in the system\nmpirun: to satisfy the 4 slots\n"
                        "[vm:12] *** Process received signal ***\n");
  EXPECT_FALSE(shown.output.death());
}

TEST(StarterOutputTest, TheAftermathOfAnErrorIsNone) {
  Shown shown;
  shown.output.take("[vm:12] Read -1, expected 8192, errno = 14\nreciperun: error: rank 1 is missing\n"
                    "[vm:12] Read -1, expected 8192, errno = 14\nmpirun: Forwarding signal 10 to job\n" +
                    rule + "\nWARNING: Open MPI failed to TCP connect\n" + rule + "\n");
  shown.output.end();
  EXPECT_EQ(shown.text, "reciperun: error: rank 1 is missing\n");
  Shown other;
  other.output.take("[vm:12] Read -1, expected 8192, errno = 14\n");
  other.output.end();
  EXPECT_EQ(other.text, "[vm:12] Read -1, expected 8192, errno = 14\n");
}

TEST(StarterOutputTest, WhatMpirunCannotStartIsOneReason) {
  const std::string internal =
      "\nAn internal error has occurred in ORTE:\n\n[[1,0],0] FORCE-TERMINATE AT (null):1 - error x.c(352)\n\nThis is "
      "something that should be reported to the developers.\n";
  struct Case {
    std::string said, reason;
  };
  const Case cases[] = {
      {rule +
           "\nOpen RTE detected a parse error in the hostfile:\n    my/hosts\nIt occured on line number 12 on token "
           "3.\n" +
           rule + "\n" + rule + internal + rule + "\n",
       "--hostfile: my/hosts:12: must have the form HOST slots=N, mpirun cannot read this line"},
      {rule + "\nNo nodes are available for this job, either due to a failure to\nallocate nodes\n" + rule + "\n",
       "--hostfile must name a host with room for a rank, mpirun finds none"},
      {rule + "\nORTE was unable to reliably start one or more daemons.\nThis usually is caused by:\n" + rule + "\n",
       "mpirun could not start its program orted on every host: each must be reachable by ssh without a password and "
       "have OpenMPI in the same place"},
      {rule +
           "\nThe value of the MCA parameter \"plm_rsh_agent\" was set to a path\nthat could not be found:\n\n  "
           "plm_rsh_agent: ssh : rsh\n\nPlease either unset the parameter, or check that the path is correct\n" +
           rule + "\n[vm:1] [[INVALID],INVALID] FORCE-TERMINATE AT Not found:-13 - error plm_rsh_component.c(335)\n",
       "mpirun needs ssh to reach other hosts (Debian: openssh-client), found no program of 'ssh : rsh'"},
  };
  for (const Case &one : cases) {
    Shown shown;
    shown.output.take("ssh: no such host\n" + one.said);
    shown.output.end();
    EXPECT_EQ(shown.text, "ssh: no such host\n");
    EXPECT_EQ(shown.output.reason(1), one.reason);
  }
  // Where nothing else tells, it is shown.
  Shown shown;
  shown.output.take(rule + internal + rule + "\n");
  shown.output.end();
  EXPECT_EQ(shown.text.find("mpirun: An internal error has occurred in ORTE:\n"), 0u) << shown.text;
}

TEST(StarterOutputTest, AnEndWithoutOurWordsHasAReason) {
  const std::string exited =
      rule + "\nmpirun detected that one or more processes exited with non-zero status\n" + rule + "\n";
  const std::string wordless =
      "mpirun ended with exit code 1 and without a word, as after a signal that is sent to it; ";
  for (auto [said, reason] : {std::pair(exited, std::string("the ranks ended with exit code 1 and said nothing")),
                              std::pair(rule + "\nAll is lost.\n" + rule + "\n",
                                        std::string("mpirun ended with exit code 1, for the reason above")),
                              std::pair(std::string(), wordless + "only checkpoints that were complete stay"),
                              std::pair(std::string("reciperun: stopped after step 3 of 9, as asked\n"),
                                        wordless + "the ranks have saved and stopped")}) {
    Shown shown;
    shown.output.take(said);
    shown.output.end();
    EXPECT_EQ(shown.output.reason(1), reason);
  }
}

TEST(StarterOutputTest, ABlockThatEndsEarlyIsShown) {
  Shown shown;
  shown.output.take(rule + "\nsomething odd");
  shown.output.end();
  EXPECT_EQ(shown.text, "mpirun: something odd\n");
}
