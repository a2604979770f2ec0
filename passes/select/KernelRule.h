// What kernel-select asks of each train op: into which launches does it fall, over which kernels.
//
// A rule is a pure function of (op, local shapes, target): the same inputs give the same kernels on every machine.
// Codegen may not exceed the scratch and temporaries named here; plan gives them memory.
#ifndef PASSES_SELECT_KERNELRULE_H
#define PASSES_SELECT_KERNELRULE_H

#include "dialects/step/Step.h"
#include "dialects/step/TargetInfo.h"
#include "dialects/train/Train.h"
#include <vector>

namespace recipe::select {

struct Argument {
  step::ArgumentKind kind; // operand or result of the train.kernel (in a rule: of the op in its region), or a temporary
  int64_t index;
  // Bytes. The levels of a pending operand (role `pending`, [L, ..]) are separate places in memory: a rule passes each
  // level as an argument of its own, level l at offset l * (bytes of a level).
  int64_t offset = 0;
};

struct Launch {
  std::string family;                           // see passes/codegen/KernelFamily.h
  llvm::SmallVector<mlir::NamedAttribute> spec; // everything the emitter needs: equal specs share one kernel
  bool keepsRegion = false;              // the kernel's code is generated from the region itself (elementwise families)
  llvm::SmallVector<Argument> arguments; // order of rcp_launch_v1.buffers
  llvm::SmallVector<int64_t> scalars;    // rcp_launch_v1.scalars: what differs between launches of one kernel
  int64_t workgroups = 1;
  int64_t scratchBytes = 0; // private scratch per thread
  int64_t flops = 0, bytes = 0;
};

struct KernelPlan {
  llvm::SmallVector<int64_t> temps;                       // bytes of each temporary, live across this op's launches
  std::vector<Launch> launches;                           // in order; none overlaps one it shares written bytes with
  llvm::SmallVector<std::pair<int64_t, int64_t>> inPlace; // (result, operand) that may share storage
};

// Fills `plan` for `op`, the only op of a train.kernel region or its anchor (dialects/train/Regions.h), in numbers of
// the op's operands and results; an absent optional operand has no number, use op->getOperands() order. An anchor's
// last launch has the anchored result as its last argument. Emits an error and fails when the op cannot be compiled.
using KernelRule = llvm::LogicalResult (*)(mlir::Operation *op, const step::TargetInfo &target, KernelPlan &plan);

// The plan of a region, whatever ops it holds, in numbers of the region's operands and results. Emits an error and
// fails where no rule covers it.
llvm::LogicalResult planRegion(train::KernelOp region, const step::TargetInfo &target, KernelPlan &plan);

// The rules of each file, looked up by op name; an ordered list joins them in RegionPlan.cpp.
struct NamedKernelRule {
  llvm::StringRef op; // "train.contract"
  KernelRule rule;
};
llvm::ArrayRef<NamedKernelRule> elementwiseRules(); // add, bias_add, gelu.., swiglu.., dropout, fill, adamw, tree_merge
llvm::ArrayRef<NamedKernelRule> rowRules(); // norms and their gradients, bias_grad, position_sum, rope, embedding..
llvm::ArrayRef<NamedKernelRule> contractRules();  // contract
llvm::ArrayRef<NamedKernelRule> attentionRules(); // attention, attention_grad
llvm::ArrayRef<NamedKernelRule> lossRules();      // linear_cross_entropy, linear_cross_entropy_grad
llvm::ArrayRef<NamedKernelRule> updateRules();    // step_loss, eval_loss, grad_norm, schedule, init_normal

// Of the kernel "combine", which adds what arrived from another rank (passes/codegen/Elementwise.cpp).
llvm::SmallVector<mlir::NamedAttribute> combineSpec(mlir::MLIRContext *context);

} // namespace recipe::select
#endif
