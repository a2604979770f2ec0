#include "compiler/target/cpu/Target.h"
#include <algorithm>
#include <gtest/gtest.h>

using namespace recipe;

static step::TargetInfo resolved(const char *arch) {
  llvm::Expected<step::TargetInfo> target = cpu::resolveTarget(arch, 5);
  EXPECT_TRUE(bool(target)) << llvm::toString(target.takeError());
  return *target;
}

static std::string refusal(const char *arch) {
  llvm::Expected<step::TargetInfo> target = cpu::resolveTarget(arch, 5);
  EXPECT_FALSE(bool(target)) << arch;
  return target ? "" : llvm::toString(target.takeError());
}

static bool has(const step::TargetInfo &target, const char *feature) {
  return std::find(target.features.begin(), target.features.end(), feature) != target.features.end();
}

TEST(Target, LevelsOfX86) {
  step::TargetInfo v3 = resolved("x86-64-v3"), v4 = resolved("x86-64-v4");
  EXPECT_EQ(v3.cpu, "x86-64-v3");
  EXPECT_EQ(v3.vectorBits, 256);
  EXPECT_EQ(v3.vectorRegisters, 16);
  EXPECT_EQ(v3.maxThreads, 5);
  std::vector<std::string> avx2 = {"avx",   "avx2",  "bmi",    "bmi2", "cx16",   "f16c",   "fma",
                                   "lzcnt", "movbe", "popcnt", "sse3", "sse4.1", "sse4.2", "ssse3"};
  EXPECT_EQ(v3.features, avx2);
  EXPECT_EQ(v4.vectorBits, 512);
  EXPECT_EQ(v4.vectorRegisters, 32);
  for (const char *feature : {"avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"})
    EXPECT_TRUE(has(v4, feature)) << feature;
  EXPECT_TRUE(std::is_sorted(v4.features.begin(), v4.features.end()));
}

TEST(Target, FeaturesOfNamedCpus) {
  EXPECT_EQ(resolved("znver1").features, resolved("haswell").features);
  EXPECT_TRUE(has(resolved("sapphirerapids"), "avx512bf16"));
  EXPECT_FALSE(has(resolved("skylake-avx512"), "avx512bf16"));
  EXPECT_TRUE(resolved("znver4").dotsBF16);
  EXPECT_FALSE(resolved("sapphirerapids").dotsBF16);
  EXPECT_FALSE(resolved("znver3").dotsBF16);
  // Tiles set the order of bf16 sums. A CPU before them, which runs on one that has them, keeps to pairs.
  EXPECT_TRUE(resolved("sapphirerapids").tilesBF16);
  EXPECT_TRUE(has(resolved("sapphirerapids"), "amx-tile") && has(resolved("sapphirerapids"), "amx-bf16"));
  for (const char *arch : {"cooperlake", "znver4", "znver5", "x86-64-v4"})
    EXPECT_FALSE(resolved(arch).tilesBF16 || has(resolved(arch), "amx-tile")) << arch;
  EXPECT_EQ(resolved("sapphirerapids").l2Bytes, 2 << 20);
  EXPECT_EQ(resolved("znver4").l2Bytes, 1 << 20);
  EXPECT_GT(resolved("znver4").nearL3Bytes, 0);
  for (const char *arch : {"znver3", "sapphirerapids", "x86-64-v4"})
    EXPECT_EQ(resolved(arch).nearL3Bytes, 0) << arch;
  // AVX-512 without its byte, word and 256-bit forms is not used.
  EXPECT_FALSE(has(resolved("knl"), "avx512f"));
  EXPECT_EQ(resolved("knl").vectorBits, 256);
}

TEST(Target, NativeIsUsable) {
  step::TargetInfo native = resolved("native");
  EXPECT_TRUE(has(native, "avx2"));
  EXPECT_TRUE(has(native, "fma"));
  EXPECT_FALSE(native.cpu.empty());
  EXPECT_EQ(native.tilesBF16, has(native, "amx-bf16"));
}

TEST(Target, Refusals) {
  EXPECT_EQ(refusal("x86-64-v2"), "'target.arch' must have AVX2 and FMA, got 'x86-64-v2' without avx2 and fma");
  EXPECT_EQ(refusal("sandybridge"), "'target.arch' must have AVX2 and FMA, got 'sandybridge' without avx2 and fma");
  EXPECT_EQ(refusal("x86-64-v5"),
            "'target.arch' must be native or a 64-bit x86 CPU, got 'x86-64-v5'; did you mean 'x86-64-v2'?");
  EXPECT_EQ(refusal("skylak"),
            "'target.arch' must be native or a 64-bit x86 CPU, got 'skylak'; did you mean 'skylake'?");
  EXPECT_EQ(refusal("nativ"), "'target.arch' must be native or a 64-bit x86 CPU, got 'nativ'; did you mean 'native'?");
  EXPECT_EQ(refusal("i486"), "'target.arch' must be native or a 64-bit x86 CPU, got 'i486'");
  EXPECT_EQ(refusal(""), "'target.arch' must be native or a 64-bit x86 CPU, got ''");
}
