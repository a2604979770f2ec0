// Elsewhere, a checkpoint resumes on the world size that saved it, or not at all. Here it holds logical tensors.
#include "tests/e2e/CheckpointRun.h"
#include <gtest/gtest.h>

namespace recipe::test {

TEST(Pitfall27, AnyNumberOfNodesGoesOn) {
  CheckpointRun run(6);
  run.space.must("recipec compile gpt2.recipe --set data.batch_size=2 --set optim.grad_accum_steps=8 -o small.bin");
  auto train = [&](const std::string &dir, int nodes, const std::string &options = "") {
    run.space.must(
        run.command("--output-dir " + dir + " --nodes " + std::to_string(nodes) + " " + options, "small.bin"));
  };
  train("whole", 1, "--threads 2 --set logging.ckpt_interval=3");
  for (auto [saving, resuming] : {std::pair(2, 1), {1, 2}, {2, 4}, {4, 2}}) {
    std::string dir = std::to_string(saving) + "-then-" + std::to_string(resuming);
    train(dir, saving, "--threads 1 --steps 3");
    run.expectSameCheckpoint(run.checkpoint(dir, 3), run.checkpoint("whole", 3));
    train(dir, resuming, "--resume --threads 1");
    run.expectSameEnd(dir);
    std::string manifest = run.space.files().read(run.checkpoint(dir, 6) + "/manifest.json");
    EXPECT_NE(manifest.find("\"nodes\": " + std::to_string(resuming)), std::string::npos) << manifest;
  }
}

} // namespace recipe::test
