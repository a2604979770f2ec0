// Elsewhere, after resume the sample order repeats or skips. Here it is a function of seed and global sample number.
#include "tests/e2e/CheckpointRun.h"
#include <csignal>
#include <gtest/gtest.h>

namespace recipe::test {

// 1000 tokens are 76 windows of 13: with 16 samples per update an epoch ends within the fifth and the tenth.
TEST(Pitfall23, SamplesGoOnAcrossAnEpochEdge) {
  CheckpointRun run(10);
  run.space.must("head -c 1000 text.txt >short.txt; recipedata tokenize short.txt -o short.tok");
  const std::string data = " --set data.path=short.tok ";
  run.runWhole(data);
  run.space.must("recipec compile gpt2.recipe --set data.batch_size=4 --set optim.grad_accum_steps=4 -o small.bin");
  for (int stop : {3, 4, 5}) {
    std::string dir = "stop-" + std::to_string(stop);
    run.space.must(run.command("--output-dir " + dir + data + "--steps " + std::to_string(stop)));
    run.space.must(run.command("--output-dir " + dir + data + "--resume", stop == 4 ? "small.bin" : "gpt2.bin"));
    run.expectSameEnd(dir);
  }
  run.space.must(run.command("--output-dir nodes --nodes 2" + data + "--steps 4", "small.bin"));
  run.space.must(run.command("--output-dir nodes --nodes 4" + data + "--resume", "small.bin"));
  run.expectSameEnd("nodes");
  // It matters which samples come: without order the course is another one.
  run.space.must(run.command("--output-dir straight --set data.shuffle=false" + data));
  EXPECT_NE(run.course("straight"), run.course("whole"));
}

} // namespace recipe::test
