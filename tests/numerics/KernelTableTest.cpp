// Native kernels against the reference meaning, bit for bit. Each table is a list of ops at odd sizes.
#include "compiler/target/cpu/Target.h"
#include "tests/numerics/KernelTables.h"
#include "llvm/ADT/STLExtras.h"

using namespace recipe;
using namespace recipe::test;

namespace {

step::TargetInfo targetOf(const char *arch) {
  llvm::Expected<step::TargetInfo> target = cpu::resolveTarget(arch, 16);
  EXPECT_TRUE(bool(target)) << llvm::toString(target.takeError());
  return *target;
}

bool takesBF16(const KernelCase &test) {
  auto isBF16 = [](llvm::StringRef type) { return type.contains("bf16"); };
  return llvm::any_of(test.operands, [&](const KernelOperand &operand) { return isBF16(operand.type); }) ||
         llvm::any_of(test.results, isBF16);
}

class KernelTable : public testing::TestWithParam<KernelCase> {};

TEST_P(KernelTable, Avx2IsExact) { expectNativeIsExact(GetParam(), targetOf("x86-64-v3")); }

// Every machine compiles AVX-512 code; one that has the instructions runs it, too.
TEST_P(KernelTable, Avx512IsExact) {
  step::TargetInfo native = targetOf("native"), plain = targetOf("x86-64-v4");
  if (native.vectorBits != 512)
    return expectCompiles(GetParam(), plain);
  expectNativeIsExact(GetParam(), native);
  if (takesBF16(GetParam())) // without the instructions for it
    expectNativeIsExact(GetParam(), plain);
}

// Kernels for a small L2, which pack what others read where it is.
class PanelTurns : public testing::TestWithParam<KernelCase> {};

step::TargetInfo withSmallCache(step::TargetInfo target, int64_t nearL3Bytes = 0) {
  target.l2Bytes = 64 << 10;
  target.nearL3Bytes = nearL3Bytes;
  return target;
}

// All of K at once where an L3 is near.
constexpr int64_t kL3Sizes[] = {0, 8 << 20};

TEST_P(PanelTurns, Avx2IsExact) { expectNativeIsExact(GetParam(), withSmallCache(targetOf("x86-64-v3"))); }

TEST_P(PanelTurns, Avx512IsExact) {
  step::TargetInfo native = withSmallCache(targetOf("native")), plain = withSmallCache(targetOf("x86-64-v4"));
  EXPECT_EQ(specOf(GetParam(), plain, "panel_turns"), 1);
  if (native.vectorBits != 512)
    return expectCompiles(GetParam(), plain);
  expectNativeIsExact(GetParam(), native);
}

// Attention by chunks of keys, which large tiles do where all keys are much more than L2.
class Chunks : public testing::TestWithParam<KernelCase> {};

TEST_P(Chunks, Avx512IsExact) {
  step::TargetInfo native = withSmallCache(targetOf("native")), plain = withSmallCache(targetOf("x86-64-v4"));
  EXPECT_EQ(specOf(GetParam(), plain, "key_chunk"), 448);
  if (native.vectorBits != 512)
    return expectCompiles(GetParam(), plain);
  expectNativeIsExact(GetParam(), native);
  expectNativeIsExact(GetParam(), plain);
}

TEST_P(PanelTurns, NearL3IsExact) {
  step::TargetInfo native = withSmallCache(targetOf("native"), 8 << 20),
                   plain = withSmallCache(targetOf("x86-64-v4"), 8 << 20);
  EXPECT_EQ(specOf(GetParam(), plain, "panel_turns"), 1);
  if (native.vectorBits != 512)
    return expectCompiles(GetParam(), plain);
  expectNativeIsExact(GetParam(), native);
}

class PanelTurnsBF16 : public testing::TestWithParam<KernelCase> {};

TEST_P(PanelTurnsBF16, PairsAreExact) {
  for (int64_t nearL3Bytes : kL3Sizes) {
    step::TargetInfo native = withSmallCache(targetOf("native"), nearL3Bytes),
                     plain = withSmallCache(targetOf("znver4"), nearL3Bytes);
    EXPECT_EQ(specOf(GetParam(), plain, "panel_turns"), 1);
    if (!llvm::is_contained(native.features, "avx512bf16"))
      return expectCompiles(GetParam(), plain);
    native.dotsBF16 = true;
    expectNativeIsExact(GetParam(), native);
  }
}

// Both forms of bf16 kernels, whichever is the faster one here.
class BF16Table : public testing::TestWithParam<KernelCase> {};

TEST_P(BF16Table, PairsAreExact) {
  step::TargetInfo target = targetOf("native");
  if (!llvm::is_contained(target.features, "avx512bf16"))
    return expectCompiles(GetParam(), targetOf("znver4"));
  target.dotsBF16 = true;
  expectNativeIsExact(GetParam(), target);
}

TEST_P(BF16Table, WidenedIsExact) {
  step::TargetInfo target = targetOf("native");
  target.dotsBF16 = false;
  expectNativeIsExact(GetParam(), target);
}

// Every machine compiles code for AMX; one that has it, and lets processes use it, runs it, too.
class BlocksTable : public testing::TestWithParam<KernelCase> {};

TEST_P(BlocksTable, AmxIsExact) {
  step::TargetInfo native = targetOf("native");
  if (native.tilesBF16)
    expectNativeIsExact(GetParam(), native);
  else
    expectCompiles(GetParam(), targetOf("sapphirerapids"));
}

std::string nameOf(const testing::TestParamInfo<KernelCase> &info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Elementwise, KernelTable, testing::ValuesIn(elementwiseCases()), nameOf);
INSTANTIATE_TEST_SUITE_P(Rows, KernelTable, testing::ValuesIn(rowCases()), nameOf);
INSTANTIATE_TEST_SUITE_P(Contract, KernelTable, testing::ValuesIn(contractCases()), nameOf);
INSTANTIATE_TEST_SUITE_P(Contract, PanelTurns, testing::ValuesIn(panelTurnCases()), nameOf);
INSTANTIATE_TEST_SUITE_P(ContractBF16, PanelTurnsBF16, testing::ValuesIn(bf16PanelTurnCases()), nameOf);
INSTANTIATE_TEST_SUITE_P(ContractBF16, KernelTable, testing::ValuesIn(bf16ContractCases()), nameOf);
INSTANTIATE_TEST_SUITE_P(Contract, BF16Table, testing::ValuesIn(bf16ContractCases()), nameOf);
INSTANTIATE_TEST_SUITE_P(Contract, BlocksTable, testing::ValuesIn(bf16BlocksCases()), nameOf);
INSTANTIATE_TEST_SUITE_P(Fused, BlocksTable, testing::ValuesIn(fusedBlocksCases()), nameOf);
INSTANTIATE_TEST_SUITE_P(Loss, KernelTable, testing::ValuesIn(lossCases()), nameOf);
INSTANTIATE_TEST_SUITE_P(LossBF16, KernelTable, testing::ValuesIn(bf16LossCases()), nameOf);
INSTANTIATE_TEST_SUITE_P(Loss, BlocksTable, testing::ValuesIn(blocksLossCases()), nameOf);
INSTANTIATE_TEST_SUITE_P(ContractSplit, BlocksTable, testing::ValuesIn(splitCases()), nameOf);
INSTANTIATE_TEST_SUITE_P(FusedSplit, BlocksTable, testing::ValuesIn(fusedSplitCases()), nameOf);
INSTANTIATE_TEST_SUITE_P(LossSplit, BlocksTable, testing::ValuesIn(splitLossCases()), nameOf);
INSTANTIATE_TEST_SUITE_P(Loss, BF16Table, testing::ValuesIn(bf16LossCases()), nameOf);
INSTANTIATE_TEST_SUITE_P(Attention, KernelTable, testing::ValuesIn(attentionCases()), nameOf);
INSTANTIATE_TEST_SUITE_P(AttentionBF16, KernelTable, testing::ValuesIn(bf16AttentionCases()), nameOf);
INSTANTIATE_TEST_SUITE_P(Attention, BF16Table, testing::ValuesIn(bf16AttentionCases()), nameOf);
INSTANTIATE_TEST_SUITE_P(Attention, Chunks, testing::ValuesIn(attentionChunkCases()), nameOf);
INSTANTIATE_TEST_SUITE_P(Attention, BlocksTable, testing::ValuesIn(blocksAttentionCases()), nameOf);
INSTANTIATE_TEST_SUITE_P(Fused, KernelTable, testing::ValuesIn(fusedCases()), nameOf);
INSTANTIATE_TEST_SUITE_P(Update, KernelTable, testing::ValuesIn(updateCases()), nameOf);

} // namespace
