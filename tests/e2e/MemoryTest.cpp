// The certificate holds: a run never has more anonymous and shared memory than it says, but for one constant.
#include "tests/e2e/Workspace.h"
#include <gtest/gtest.h>

namespace recipe::test {

/// For the program itself, its threads' stacks and its buffers of text.
static const uint64_t kOutsideArena = 200ull << 20;

static void expectWithinCertificate(const Workspace &space, const std::string &step) {
  space.must("reciperun " + step + " --steps 2 --set logging.log_interval=1 --output-dir run --overwrite");
  uint64_t certified = space.step(step).certificate().rows(0).total_bytes(), peak = 0;
  for (const nlohmann::json &record : space.steps("run"))
    peak = std::max(peak, record["peak_memory_bytes"].get<uint64_t>());
  EXPECT_GT(peak, 0u);
  EXPECT_LE(peak, certified + kOutsideArena);
  std::printf("%s: peak %.1f MiB, certificate %.1f MiB\n", step.c_str(), double(peak) / (1 << 20),
              double(certified) / (1 << 20));
}

TEST(MemoryTest, TinyRecipes) {
  Workspace space;
  for (std::string name : {"gpt2", "llama"}) {
    space.must("recipec compile " + name + ".recipe -o " + name + ".bin");
    expectWithinCertificate(space, name + ".bin");
  }
}

TEST(MemoryTest, Quickstart) {
  Workspace space;
  space.must("recipec compile " RECIPEC_SOURCE_DIR "/recipes/quickstart.recipe -o step.bin --set data.path=text.tok");
  expectWithinCertificate(space, "step.bin");
}

// Large enough that a second copy of weights and optimizer would show.
TEST(MemoryTest, StateOfSeveralHundredMegabytes) {
  Workspace space;
  space.must("recipec compile llama.recipe -o step.bin --set model.config.hidden_size=640 --set "
             "model.config.intermediate_size=2048 --set model.config.num_hidden_layers=8 --set data.batch_size=1");
  EXPECT_GT(space.step("step.bin").certificate().rows(0).total_bytes(), 2 * kOutsideArena);
  expectWithinCertificate(space, "step.bin");
}

/// Losses and weights of two updates.
static std::string trained(const Workspace &space, const std::string &step) {
  space.must("reciperun " + step + " --steps 2 --set logging.log_interval=1 --output-dir run --overwrite");
  std::string all = space.files().read("run/model.safetensors");
  for (const nlohmann::json &record : space.steps("run"))
    all += record["loss"].dump() + " " + record["grad_norm"].dump() + "\n";
  return all;
}

// From the budget that nothing has to be computed again for down to the least that is possible: each step fits, and no
// bit moves.
TEST(MemoryTest, WhatABudgetAsksForIsComputedAgain) {
  Workspace space;
  for (const char *precision : {"fp32", "bf16"}) {
    std::string compile = std::string("recipec compile gpt2.recipe --set data.batch_size=8 --set precision.compute=") +
                          precision + " -o ";
    auto bytes = [&](const std::string &step) { return space.step(step).certificate().rows(0).total_bytes(); };
    space.must(compile + "free.bin --set memory.recompute=selective");
    space.must(compile + "full.bin --set memory.recompute=full");
    uint64_t most = bytes("free.bin"), least = bytes("full.bin");
    ASSERT_LT(least, most);
    std::string expected = trained(space, "free.bin");
    for (int quarter = 0; quarter <= 4; ++quarter) {
      uint64_t budget = least + (most - least) * uint64_t(quarter) / 4;
      space.must(compile + "fit.bin --set memory.budget=" + std::to_string(budget));
      EXPECT_LE(bytes("fit.bin"), budget);
      EXPECT_EQ(bytes("fit.bin") == most, quarter == 4);
      EXPECT_TRUE(trained(space, "fit.bin") == expected) << precision << " in " << budget << " bytes";
    }
    Outcome outcome = space.run(compile + "none.bin --set memory.budget=" + std::to_string(least / 2));
    EXPECT_EQ(outcome.code, 1);
    EXPECT_NE(outcome.err.find("memory.budget must hold the arena of one rank, got"), std::string::npos) << outcome.err;
  }
}

} // namespace recipe::test
