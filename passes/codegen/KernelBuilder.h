// Builds one kernel function (runtime/abi/kernel_abi.h) as LLVM IR: arguments, memory, loops, 16-lane arithmetic.
//
// Every float operation emitted here is one IEEE operation in the order written; nothing carries fast-math flags and
// fma is only ever llvm.fma. Vectors have 16 lanes on every ISA; LLVM splits them into what the target has. One builder
// serves one thread; builders of different modules (and LLVM contexts) are independent.
#ifndef PASSES_CODEGEN_KERNELBUILDER_H
#define PASSES_CODEGEN_KERNELBUILDER_H

#include "dialects/step/TargetInfo.h"
#include "runtime/abi/kernel_abi.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"

namespace recipe::codegen {

using Val = llvm::Value *;
using Vals = llvm::SmallVector<llvm::Value *, 8>;
using ValRange = llvm::ArrayRef<llvm::Value *>;

inline constexpr int64_t kLanes = 16;

// A place in memory and the argument it belongs to: accesses to different arguments do not alias.
struct Address {
  Val pointer = nullptr;
  int memory = -1; // index of the buffer, or one of the values below
  static constexpr int kScratch = -2, kParams = -3;
};

class KernelBuilder {
public:
  // Adds the function `name` to `module` and opens its body.
  KernelBuilder(llvm::Module &module, llvm::StringRef name, const step::TargetInfo &target);

  // Closes the function: returns, attaches alias information. Nothing may be emitted afterwards.
  llvm::Function *finish();

  llvm::IRBuilder<> &ir() { return builder; }
  const step::TargetInfo &getTarget() const { return target; }

  // --- Arguments ---
  Address buffer(unsigned index); // rcp_launch_v1.buffers[index]; floats lie at 4-byte aligned addresses at least
  Val scalar(unsigned index);     // rcp_launch_v1.scalars[index], i64
  // The same with a number known at run time (i64); buffers first, first + 1, ... count as one memory for aliasing.
  Address bufferAt(unsigned first, Val index);
  Val scalarAt(Val index);
  Val workgroup() { return workgroupArgument; } // i64
  Address scratch(int64_t bytes = 0);           // this thread's workspace plus an offset; 64-byte aligned at offset 0
  // The two buffers may be the same memory (in-place operands).
  void mayAlias(unsigned first, unsigned second);
  // A field of rcp_step_params_v1: b.param(offsetof(rcp_step_params_v1, seed), b.i64Type()).
  Val param(size_t offset, llvm::Type *type);
  void setParam(size_t offset, Val value);
  bool setsParams() const { return paramsAreSet; }
  // A function of rcp_host_v1 (fp64 arguments and result), by its offset in that struct.
  Val hostCall(size_t offset, ValRange arguments);

  // --- Types and constants ---
  llvm::Type *f32Type() { return builder.getFloatTy(); }
  llvm::Type *f64Type() { return builder.getDoubleTy(); }
  llvm::Type *i32Type() { return builder.getInt32Ty(); }
  llvm::Type *i64Type() { return builder.getInt64Ty(); }
  llvm::Type *lanesOf(llvm::Type *element) { return llvm::FixedVectorType::get(element, kLanes); }
  Val i32(int64_t value) { return builder.getInt32(uint32_t(value)); }
  Val i64(int64_t value) { return builder.getInt64(uint64_t(value)); }
  Val f32(double value); // rounded once
  Val f64(double value);
  Val lanes(double value) { return splat(f32(value)); } // 16 equal lanes
  Val lanes(Val scalarValue) { return splat(scalarValue); }
  Val splat(Val scalarValue) { return builder.CreateVectorSplat(kLanes, scalarValue); }
  Val laneIndex(); // <16 x i32> 0, 1, ..., 15

  // --- Index arithmetic (i64, no overflow) ---
  Val iadd(Val a, Val b) { return builder.CreateAdd(a, b, "", true, true); }
  Val iadd(Val a, int64_t b) { return b == 0 ? a : iadd(a, i64(b)); }
  Val isub(Val a, Val b) { return builder.CreateSub(a, b, "", false, true); }
  Val imul(Val a, Val b) { return builder.CreateMul(a, b, "", true, true); }
  Val imul(Val a, int64_t b) { return b == 1 ? a : imul(a, i64(b)); }
  Val idiv(Val a, Val b) { return builder.CreateUDiv(a, b); } // both non-negative
  Val idiv(Val a, int64_t b) { return b == 1 ? a : idiv(a, i64(b)); }
  Val irem(Val a, Val b) { return builder.CreateURem(a, b); }
  Val irem(Val a, int64_t b) { return irem(a, i64(b)); }
  Val imin(Val a, Val b) { return builder.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b); }
  Val imax(Val a, Val b) { return builder.CreateBinaryIntrinsic(llvm::Intrinsic::smax, a, b); }
  Val ilt(Val a, Val b) { return builder.CreateICmpSLT(a, b); }
  Val ieq(Val a, Val b) { return builder.CreateICmpEQ(a, b); }

  // --- Float arithmetic: scalars or lanes ---
  Val add(Val a, Val b) { return builder.CreateFAdd(a, b); }
  Val sub(Val a, Val b) { return builder.CreateFSub(a, b); }
  Val mul(Val a, Val b) { return builder.CreateFMul(a, b); }
  Val div(Val a, Val b) { return builder.CreateFDiv(a, b); }
  Val neg(Val a) { return builder.CreateFNeg(a); }
  Val abs(Val a) { return builder.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, a); }
  Val sqrt(Val a) { return builder.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, a); }
  Val fma(Val a, Val b, Val c) { return builder.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, c}); }
  Val max(Val a, Val b) { return select(builder.CreateFCmpOGT(a, b), a, b); } // a > b ? a : b
  Val select(Val condition, Val a, Val b) { return builder.CreateSelect(condition, a, b); }

  // --- Rows: 16 lanes to one value, by the explicit tree of docs/numerics.md ---
  Val laneSum(Val v); // lane[l] + lane[l + w] for w = 8, 4, 2, 1
  Val laneMax(Val v); // lane[l + w] > lane[l] ? lane[l + w] : lane[l]

  // tree(values): adjacent pairs, until one is left. At least one value.
  Val treeSum(ValRange values);

  // --- Memory. `index` counts elements of `elementBytes` ---
  Address at(Address base, Val index, int64_t elementBytes = 4);
  Address at(Address base, int64_t index, int64_t elementBytes = 4);
  Val load(Address from, llvm::Type *type, unsigned align = 4); // i64 and f64: aligned to 8 where the caller says so
  void store(Address to, Val value, unsigned align = 4);
  Val loadF32(Address from) { return load(from, f32Type()); }
  Val loadI32(Address from) { return load(from, i32Type()); }
  // 16 floats; lanes off in `mask` (<16 x i1>, null: all on) are +0.0 and their memory is not touched.
  Val loadLanes(Address from, Val mask = nullptr);
  Val loadLanes(Address from, llvm::Type *element, Val mask);
  // A vector of at most 16 elements; `mask` is that of 16 lanes, whose first are taken.
  Val loadMasked(Address from, llvm::FixedVectorType *type, Val mask);
  void storeLanes(Address to, Val value, Val mask = nullptr);
  Val broadcast(Address from) { return splat(loadF32(from)); }
  void prefetch(Address from); // for reading, into all caches
  void prefetchToWrite(Address to);
  // Workgroup w takes elements w * grain .. min((w + 1) * grain, total): the two bounds.
  std::pair<Val, Val> ownRange(Val total, Val grain);
  // Lanes 0..count-1 on; count is an i64 in 0..16 (or any larger: all on).
  Val tailMask(Val count);
  Val tailMask(int64_t count);

  // --- Control flow ---
  using LoopBody = llvm::function_ref<Vals(Val iv, ValRange carried)>;
  // for (iv = lo; iv < hi; iv += step) carried = body(iv, carried); step > 0. Returns the last carried values.
  Vals forLoop(Val lo, Val hi, Val step, ValRange init, LoopBody body);
  void forLoop(Val lo, Val hi, Val step, llvm::function_ref<void(Val iv)> body);
  void forLoop(int64_t lo, int64_t hi, int64_t step, llvm::function_ref<void(Val iv)> body) {
    forLoop(i64(lo), i64(hi), i64(step), body);
  }
  // while (condition(carried)) carried = body(carried).
  Vals whileLoop(ValRange init, llvm::function_ref<Val(ValRange)> condition, llvm::function_ref<Vals(ValRange)> body);
  // Steps of 16 through lo..hi; the body of the last, partial step gets its mask, all others null.
  using LanesBody = llvm::function_ref<Vals(Val index, Val mask, ValRange carried)>;
  Vals forLanes(Val lo, Val hi, ValRange init, LanesBody body);
  void forLanes(Val lo, Val hi, llvm::function_ref<void(Val index, Val mask)> body);
  Vals ifElse(Val condition, llvm::function_ref<Vals()> then, llvm::function_ref<Vals()> otherwise);
  void ifThen(Val condition, llvm::function_ref<void()> then);

private:
  llvm::Type *pointerType() { return builder.getPtrTy(); }
  Val entryLoad(llvm::function_ref<Val(llvm::IRBuilder<> &)> emit);
  Val launchField(size_t offset, llvm::StringRef name);
  llvm::Instruction *belongs(llvm::Instruction *access, int memory);

  llvm::IRBuilder<> builder;
  const step::TargetInfo &target;
  llvm::Function *function;
  llvm::BasicBlock *entry;
  bool paramsAreSet = false;
  Val workgroupArgument;
  llvm::SmallVector<std::pair<size_t, Val>> launchFields;
  llvm::SmallVector<std::pair<unsigned, Val>> buffers, scalars;
  llvm::SmallVector<std::pair<unsigned, unsigned>> aliases;
  llvm::SmallVector<std::pair<llvm::Instruction *, int>> accesses;
};

} // namespace recipe::codegen
#endif
