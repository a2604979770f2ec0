// Elsewhere, the learning rate is wrong after resume: it rises, warms up again, is off by one. Here it is a closed form
// of the step, and the schedule that a checkpoint belongs to is part of it.
#include "tests/e2e/CheckpointRun.h"
#include <cmath>
#include <gtest/gtest.h>

namespace recipe::test {

/// Linear warm-up over `warmup` updates, then half a cosine down to a tenth.
static double rate(int update, int warmup, int last) {
  if (update < warmup)
    return 1e-3 * double(update + 1) / warmup;
  double progress = double(update + 1 - warmup) / double(last - warmup);
  return 1e-3 * (0.1 + 0.9 * 0.5 * (1 + std::cos(M_PI * progress)));
}

TEST(Pitfall24, TheRateGoesOnWhereItWas) {
  CheckpointRun run(12);
  const int warmup = 4;
  const std::string schedule = " --set optim.warmup_steps=4 ";
  run.runWhole(schedule);
  for (int stop : {1, warmup - 1, warmup, warmup + 1, 11}) {
    std::string dir = "stop-" + std::to_string(stop);
    run.space.must(run.command("--output-dir " + dir + schedule + "--steps " + std::to_string(stop)));
    run.space.must(run.command("--output-dir " + dir + schedule + "--resume"));
    run.expectSameEnd(dir);
  }
  std::vector<nlohmann::json> steps = run.space.steps("whole");
  ASSERT_EQ(steps.size(), 12u);
  for (int update = 0; update < 12; ++update)
    EXPECT_NEAR(double(steps[size_t(update)]["learning_rate"]), rate(update, warmup, 12), 1e-9) << update;
}

TEST(Pitfall24, AnotherScheduleNeedsAFlag) {
  CheckpointRun run(12);
  run.space.must(run.command("--output-dir run --steps 6"));
  run.updates = 24;
  Outcome refused = run.space.run(run.command("--output-dir run --resume"));
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(refused.err.find("optim.max_steps: 12 in the checkpoint, 24 now"), std::string::npos) << refused.err;
  Outcome allowed = run.space.run(run.command("--output-dir run --resume --allow-changes"));
  EXPECT_EQ(allowed.code, 0) << allowed.err;
  EXPECT_EQ(run.checkpoints("run").back(), 24);
}

} // namespace recipe::test
