#include "passes/codegen/BF16.h"
#include "passes/codegen/EmitPolicy.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IntrinsicsX86.h"

using namespace llvm;

namespace recipe::codegen {

bool hasBF16Instructions(const step::TargetInfo &target) { return is_contained(target.features, "avx512bf16"); }

static Type *words(KernelBuilder &b) { return b.lanesOf(b.i32Type()); }
static Type *halves(KernelBuilder &b) { return b.lanesOf(b.ir().getInt16Ty()); }

Val widenBF16(KernelBuilder &b, Val half) {
  auto lanes = cast<FixedVectorType>(half->getType())->getElementCount();
  Val words = b.ir().CreateShl(b.ir().CreateZExt(half, VectorType::get(b.i32Type(), lanes)), 16);
  return b.ir().CreateBitCast(words, VectorType::get(b.f32Type(), lanes));
}

Val roundToBF16(KernelBuilder &b, Val lanes) {
  if (hasBF16Instructions(b.getTarget())) {
    Val rounded = b.ir().CreateIntrinsic(Intrinsic::x86_avx512bf16_cvtneps2bf16_512, {}, {lanes});
    return widenBF16(b, b.ir().CreateBitCast(rounded, halves(b)));
  }
  EmitPolicy policy(b);
  return train::roundToBF16(policy, lanes);
}

static SmallVector<int> numbers(int first, int step, int count) {
  SmallVector<int> all;
  for (int i = 0; i < count; ++i)
    all.push_back(first + i * step);
  return all;
}

Val pairWords(KernelBuilder &b, Val even, Val odd) {
  SmallVector<int> order;
  for (int lane = 0; lane < kLanes; ++lane)
    order.append({lane, int(kLanes) + lane});
  return b.ir().CreateBitCast(b.ir().CreateShuffleVector(even, odd, order), b.lanesOf(b.f32Type()));
}

std::pair<Val, Val> roundPairs(KernelBuilder &b, Val even, Val odd) {
  Val both = b.ir().CreateIntrinsic(Intrinsic::x86_avx512bf16_cvtne2ps2bf16_512, {}, {odd, even});
  both = b.ir().CreateBitCast(both, FixedVectorType::get(b.ir().getInt16Ty(), 2 * kLanes));
  return {b.ir().CreateShuffleVector(both, numbers(0, 1, kLanes)),
          b.ir().CreateShuffleVector(both, numbers(kLanes, 1, kLanes))};
}

Val multiplyAddPairs(KernelBuilder &b, Val left, Val right, Val chain) {
  auto *pairs = FixedVectorType::get(b.ir().getBFloatTy(), 2 * kLanes);
  return b.ir().CreateIntrinsic(Intrinsic::x86_avx512bf16_dpbf16ps_512, {},
                                {chain, b.ir().CreateBitCast(left, pairs), b.ir().CreateBitCast(right, pairs)});
}

std::array<Val, 3> partsOfF32(KernelBuilder &b, Val lanes) {
  EmitPolicy policy(b);
  std::array<Val, 3> parts = train::bf16PartsOf(policy, lanes);
  for (Val &part : parts)
    part = b.ir().CreateBitCast(part, words(b));
  return parts;
}

Val loadBF16Lanes(KernelBuilder &b, Address from, Val mask) {
  return widenBF16(b, b.loadLanes(from, b.ir().getInt16Ty(), mask));
}

void storeBF16Lanes(KernelBuilder &b, Address to, Val lanes, Val mask) {
  if (!mask)
    return b.storeLanes(to,
                        b.ir().CreateTrunc(b.ir().CreateLShr(b.ir().CreateBitCast(lanes, words(b)), 16), halves(b)));
  // Not truncated: of a truncation under a mask of one lane LLVM 22 makes a store of all 32 bits.
  Val parts = b.ir().CreateBitCast(lanes, FixedVectorType::get(b.ir().getInt16Ty(), 2 * kLanes));
  b.storeLanes(to, b.ir().CreateShuffleVector(parts, numbers(1, 2, kLanes)), mask);
}

} // namespace recipe::codegen
