// Bits that a version of the numerics stands for: a change of any order shows here, on every machine.
#include "dialects/train/NumericsVersion.h"
#include "tests/e2e/Workspace.h"
#include <fstream>
#include <gtest/gtest.h>

namespace recipe::test {

namespace {

struct Bits {
  const char *name;
  const char *recipe;
  const char *length, *sets; // of samples; for the compiler
  const char *updates[2];
};

const Bits kBits[] = {
    {"gpt2_fma",
     "gpt2.recipe",
     "37",
     "",
     {"loss 5.5548425622888518 grad_norm 1.9805250343367695", "loss 5.4954021556957349 grad_norm 2.1111565262423326"}},
    {"llama_fma",
     "llama.recipe",
     "37",
     "",
     {"loss 5.5770193563925252 grad_norm 2.5840325826784012", "loss 5.4511331094277873 grad_norm 2.1245218022568539"}},
    {"gpt2_pairs",
     "gpt2.recipe",
     "38",
     "--set precision.compute=bf16 --set target.arch=x86-64-v3",
     {"loss 5.5574059737356087 grad_norm 1.9593733916927318", "loss 5.4962792647512337 grad_norm 1.9294411179509832"}},
    {"llama_pairs",
     "llama.recipe",
     "38",
     "--set precision.compute=bf16 --set target.arch=x86-64-v3",
     {"loss 5.5779965049342106 grad_norm 2.4807790913693997", "loss 5.4631676924856087 grad_norm 2.0626589591477109"}},
    {"gpt2_blocks",
     "gpt2.recipe",
     "38",
     "--set precision.compute=bf16 --set target.arch=sapphirerapids",
     {"loss 5.5574059737356087 grad_norm 1.9593733864023211", "loss 5.4962792647512337 grad_norm 1.9294421220567273"}},
    {"llama_blocks",
     "llama.recipe",
     "38",
     "--set precision.compute=bf16 --set target.arch=sapphirerapids",
     {"loss 5.5779965049342106 grad_norm 2.4807790420949933", "loss 5.4631676924856087 grad_norm 2.062658943146126"}},
    {"gpt2_bf16x6",
     "gpt2.recipe",
     "37",
     "--set precision.f32_products=bf16x6 --set target.arch=sapphirerapids",
     {"loss 5.5548421498891472 grad_norm 1.9805250431209471", "loss 5.4954017432960303 grad_norm 2.1111564854446523"}},
    {"llama_bf16x6",
     "llama.recipe",
     "37",
     "--set precision.f32_products=bf16x6 --set target.arch=sapphirerapids",
     {"loss 5.5770193563925252 grad_norm 2.584032594600731", "loss 5.4511331094277873 grad_norm 2.1245217763613278"}},
};

} // namespace

class NumericsVersionTest : public testing::TestWithParam<Bits> {};

// More than 32 positions, in more than one block and draw; samples in chains and in the tree.
TEST_P(NumericsVersionTest, StandsForTheseBits) {
  const Bits &bits = GetParam();
  Workspace space;
  space.must("sed -E 's/(n_positions|max_position_embeddings): .*/\\1: 40/' " + std::string(bits.recipe) +
             " >long.recipe");
  space.must("recipec compile long.recipe --set data.batch_size=8 --set numerics.batch_segments=4 --set "
             "optim.scheduler=constant --set data.seq_length=" +
             std::string(bits.length) + " " + bits.sets + " -o step.bin");
  EXPECT_EQ(space.step("step.bin").manifest().numerics_version(), train::NumericsVersion);
  std::string expected;
  for (int i : {0, 1})
    expected += "step " + std::to_string(i + 1) + " " + bits.updates[i] + " learning_rate 0.001\n";
  EXPECT_EQ(space.must("recipec interpret step.bin --mode exact --steps 2").out, expected)
      << "This recipe trains with other bits than before. Where that is meant: one more of NumericsVersion "
         "(dialects/train/NumericsVersion.h), its line in the table of versions (docs/numerics.md), and these bits.";
}

INSTANTIATE_TEST_SUITE_P(Models, NumericsVersionTest, testing::ValuesIn(kBits),
                         [](const auto &info) { return std::string(info.param.name); });

TEST(NumericsVersions, TheNewestIsTheLastInTheTable) {
  std::ifstream page(RECIPEC_SOURCE_DIR "/docs/numerics.md");
  bool inside = false;
  std::string last;
  for (std::string line; std::getline(page, line);) {
    if (line.find("## ") == 0)
      inside = line == "## Versions";
    else if (inside && line.find("| ") == 0)
      last = line;
  }
  EXPECT_EQ(last.find("| " + std::to_string(train::NumericsVersion) + " | "), 0u) << last;
}

} // namespace recipe::test
