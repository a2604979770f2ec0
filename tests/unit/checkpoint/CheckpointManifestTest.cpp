#include "runtime/checkpoint/CheckpointManifest.h"
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace recipe::rt {
namespace {

CheckpointManifest sample() {
  CheckpointManifest manifest;
  manifest.step = 123;
  manifest.samples = 1968;
  manifest.modelType = "gpt2";
  manifest.modelConfig = R"({"attn_pdrop":0.1,"layer_norm_epsilon":1e-05,"n_embd":24})";
  manifest.parameters = 20000;
  manifest.settings = {{"optim.lr", "0.001"}, {"experiment.seed", "7"}};
  manifest.files = {{"model.safetensors", 80000, std::string(64, 'a')}};
  manifest.provenance = {"a run", "reciperun 0.1.0", "recipec 0.1.0", "x86-64-v3", 2, 4, "2026-01-31T12:00:00Z"};
  return manifest;
}

TEST(CheckpointManifest, ComesBackAsItWas) {
  std::string text = encodeManifest(sample());
  auto back = decodeManifest(text);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->step, 123);
  EXPECT_EQ(back->samples, 1968);
  EXPECT_EQ(back->modelConfig, sample().modelConfig);
  EXPECT_EQ(back->settings, sample().settings);
  ASSERT_EQ(back->files.size(), 1u);
  EXPECT_EQ(back->files[0].bytes, 80000u);
  EXPECT_EQ(back->provenance.threads, 4);
  EXPECT_EQ(encodeManifest(*back), text);
}

TEST(CheckpointManifest, OnlyTheProvenanceTellsWhereItWasWritten) {
  CheckpointManifest other = sample();
  other.provenance = {"b", "c", "d", "e", 1, 1, "2027-01-31T12:00:00Z"};
  auto here = nlohmann::json::parse(encodeManifest(sample())), there = nlohmann::json::parse(encodeManifest(other));
  EXPECT_NE(here, there);
  here.erase("provenance");
  there.erase("provenance");
  EXPECT_EQ(here.dump(), there.dump());
}

TEST(CheckpointManifest, EveryChangedByteShows) {
  std::string good = encodeManifest(sample());
  for (size_t i = 0; i < good.size(); ++i)
    for (int mask : {1, 0x10, 0x20, 0x80}) {
      std::string bad = good;
      bad[i] = char(bad[i] ^ mask);
      EXPECT_FALSE(decodeManifest(bad).ok()) << "byte " << i << ", mask " << mask;
    }
  for (size_t length = 0; length < good.size(); ++length)
    EXPECT_FALSE(decodeManifest(good.substr(0, length)).ok()) << length;
  EXPECT_FALSE(decodeManifest(good + "\n").ok());
}

TEST(CheckpointManifest, NewerFormatsAreRefusedWithBothVersions) {
  std::string newer = encodeManifest(sample());
  newer.replace(newer.find("\"version\": 1"), 12, "\"version\": 2");
  EXPECT_EQ(decodeManifest(newer).status().message(),
            "the checkpoint format must be version 1, which this program reads, got 2");
}

TEST(CheckpointManifest, SaysWhatIsWrong) {
  EXPECT_EQ(decodeManifest("{]").status().message(), "damaged, it must be one JSON object");
  EXPECT_EQ(decodeManifest("{\"version\": 1}").status().message(),
            "not a checkpoint's manifest: 'format' must be \"recipec checkpoint\"");
  std::string bad = encodeManifest(sample());
  bad.replace(bad.find("1968"), 4, "1969");
  EXPECT_NE(decodeManifest(bad).status().message().find("damaged or changed, its SHA-256 must be "), std::string::npos);
}

} // namespace
} // namespace recipe::rt
