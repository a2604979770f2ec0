// The launch of one gemm kernel: its tile, its blocks of C, its scratch.
#ifndef PASSES_SELECT_GEMMLAUNCH_H
#define PASSES_SELECT_GEMMLAUNCH_H

#include "passes/select/KernelRule.h"

namespace recipe::select {

// C [m, n] = sum over pairs of lhs rhs, see train.contract.
struct GemmShape {
  train::ContractForm form;
  int64_t m, n;
  llvm::SmallVector<int64_t> k;        // of each pair
  llvm::SmallVector<int64_t> segments; // [segment][pair][2]
  bool accumulator = false;            // chains start from an operand, which may be the result
  bool bf16 = false;                   // left and right operands; all else is f32
  bool blocks = false;                 // of terms: bf16, else in pairs; f32 in parts (bf16x6). Needs tilesBF16
  int64_t subtrees = 1;                // of segments, each with its own C behind the last; one if in blocks
  int64_t sample = 0;                  // blocks end at multiples of it; 0: only with a segment
  int64_t lhsStride = 0;               // elements between rows of the left operand; 0: as many as a row has. No blocks
  int64_t resultStride = 0;            // the same of C; without accumulator, subtrees, epilogue
};

// Everything but the arguments: left operands, right operands, the accumulator if there is one, the result.
Launch gemmLaunch(mlir::MLIRContext *context, const GemmShape &shape, const step::TargetInfo &target);

// The same of terms in blocks.
Launch gemmAmxLaunch(mlir::MLIRContext *context, const GemmShape &shape, const step::TargetInfo &target);

// Whether a contraction or loss takes its terms in blocks, those of bf16 or of f32 in parts, for which it needs AMX.
template <class Op> bool takesBlocks(Op op) {
  return op.getBf16Order() == train::BF16Order::Blocks || op.getF32Products() == train::F32Products::BF16X6;
}
template <class Op> llvm::LogicalResult checkBlocks(Op op, const step::TargetInfo &target) {
  if (!takesBlocks(op) || target.tilesBF16)
    return mlir::success();
  return op.emitOpError(op.getBf16Order() ? "bf16 terms in blocks need a target with AMX, got: "
                                          : "f32 products as bf16x6 need a target with AMX, got: ")
         << target.cpu;
}

// Adds scratch for one tile of finished values, where an epilogue takes them from.
void addGemmStage(Launch &launch, mlir::MLIRContext *context);

} // namespace recipe::select
#endif
