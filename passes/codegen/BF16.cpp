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
  SmallVector<int> upper;
  for (int64_t lane = 0; lane < kLanes; ++lane)
    upper.push_back(int(2 * lane + 1));
  b.storeLanes(to, b.ir().CreateShuffleVector(parts, upper), mask);
}

} // namespace recipe::codegen
