#include "runtime/checkpoint/CheckpointManifest.h"
#include "runtime/base/Sha256.h"
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
  manifest.numerics = {3, "blocks"};
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
  EXPECT_EQ(back->numerics.version, 3);
  EXPECT_EQ(back->numerics.bf16Order, "blocks");
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

/// The text with the checksum that it should have: what a forger would write.
std::string sealed(std::string text) {
  size_t place = text.find("\"manifest_sha256\": \"") + 20;
  text.replace(place, 64, std::string(64, '0'));
  return text.replace(place, 64, toHex(Sha256::of({reinterpret_cast<const uint8_t *>(text.data()), text.size()})));
}

/// The sample with `from` replaced, and sealed.
std::string forged(const std::string &from, const std::string &to) {
  std::string text = encodeManifest(sample());
  return sealed(text.replace(text.find(from), from.size(), to));
}

TEST(CheckpointManifest, ForgedOnesAreRefusedByRule) {
  ASSERT_TRUE(decodeManifest(sealed(encodeManifest(sample()))).ok());
  auto message = [](const std::string &from, const std::string &to) {
    return std::string(decodeManifest(forged(from, to)).status().message());
  };
  EXPECT_EQ(message("\"step\": 123", "\"step\": -1"), "'step' must be a whole number");
  EXPECT_EQ(message("\"step\": 123", "\"step\": 1.5"), "'step' must be a whole number");
  EXPECT_EQ(message("\"step\": 123", "\"step\": 9223372036854775808"),
            "'step' must be at most 9223372036854775807, got 9223372036854775808");
  EXPECT_EQ(message("\"samples\": 1968", "\"samplez\": 1968"), "'samples' must be a whole number");
  EXPECT_EQ(message("\"optim.lr\": \"0.001\"", "\"optim.lr\": 1"), "the setting 'optim.lr' must be text");
  EXPECT_EQ(message("\"model.safetensors\": {", "\"../model.safetensors\": {"),
            "a file must have a name without folders and be described, got '../model.safetensors'");
  EXPECT_EQ(message("\"bytes\": 80000", "\"bytes\": true"), "'bytes' must be a whole number");
  EXPECT_EQ(message("\"version\": 3", "\"version\": \"3\""), "'version' must be a whole number");
  EXPECT_EQ(message("\"bf16_order\": \"blocks\"", "\"bf16_order\": 1"), "'bf16_order' must be text");
  std::string deep(1000000, '[');
  EXPECT_EQ(message("\"n_embd\": 24", "\"n_embd\": " + deep + std::string(1000000, ']')),
            "damaged, it must be one JSON object, nested at most 64 deep");
}

// Of a program that did not record its numerics.
TEST(CheckpointManifest, NumericsMayBeAbsent) {
  std::string text = encodeManifest(sample());
  size_t begin = text.find("  \"numerics\": {"), end = text.find("  \"files\"");
  ASSERT_LT(begin, end);
  text.erase(begin, end - begin);
  auto back = decodeManifest(sealed(text));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->numerics.version, 0);
  EXPECT_EQ(back->numerics.bf16Order, "");
  EXPECT_EQ(back->settings, sample().settings);
  EXPECT_EQ(encodeManifest(*back), sealed(text)) << "nothing is made up";
}

TEST(CheckpointManifest, SaysWhatIsWrong) {
  EXPECT_EQ(decodeManifest("").status().message(), "damaged, it is empty");
  EXPECT_EQ(decodeManifest("{]").status().message(), "damaged, it must be one JSON object, nested at most 64 deep");
  EXPECT_EQ(decodeManifest("{\"version\": 1}").status().message(),
            "not a checkpoint's manifest: 'format' must be \"recipec checkpoint\"");
  std::string bad = encodeManifest(sample());
  bad.replace(bad.find("1968"), 4, "1969");
  EXPECT_NE(decodeManifest(bad).status().message().find("damaged or changed, its SHA-256 must be "), std::string::npos);
}

} // namespace
} // namespace recipe::rt
