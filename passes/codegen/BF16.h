// bf16 in memory, f32 in registers: lanes hold a bf16 as the float that it is (docs/numerics.md, "bf16").
#ifndef PASSES_CODEGEN_BF16_H
#define PASSES_CODEGEN_BF16_H

#include "passes/codegen/KernelBuilder.h"
#include <array>

namespace recipe::codegen {

// vcvtneps2bf16; vdpbf16ps, too, but it does not pay everywhere (TargetInfo::dotsBF16).
bool hasBF16Instructions(const step::TargetInfo &target);

// 16 lanes of f32 rounded to what a bf16 can be.
Val roundToBF16(KernelBuilder &builder, Val lanes);

// 16 lanes of f32 as the sum of three parts that a bf16 can be (docs/numerics.md, "bf16x6"), the highest first: their
// bits, <16 x i32> whose lower halves are zero.
std::array<Val, 3> partsOfF32(KernelBuilder &builder, Val lanes);

// A vector of i16, each the upper half of an f32, as f32.
Val widenBF16(KernelBuilder &builder, Val half);

// Words of two terms, as 16 lanes of f32 whose bits are no number. Of 16 bf16 (i16) each, the even terms in the lower
// halves.
Val pairWords(KernelBuilder &builder, Val even, Val odd);
// Two times 16 lanes of f32 rounded to bf16 (i16).
std::pair<Val, Val> roundPairs(KernelBuilder &builder, Val even, Val odd);
// fma(left, right, chain) of the odd terms, then of the even ones: vdpbf16ps.
Val multiplyAddPairs(KernelBuilder &builder, Val left, Val right, Val chain);

// 16 values from or to a buffer of bf16, at 2-byte aligned addresses; masks as for KernelBuilder::loadLanes. What is
// stored has been rounded.
Val loadBF16Lanes(KernelBuilder &builder, Address from, Val mask = nullptr);
void storeBF16Lanes(KernelBuilder &builder, Address to, Val lanes, Val mask = nullptr);

} // namespace recipe::codegen
#endif
