// Kernels to native code.
#ifndef COMPILER_TARGET_CPU_COMPILE_H
#define COMPILER_TARGET_CPU_COMPILE_H

#include "dialects/step/Step.h"
#include "dialects/step/TargetInfo.h"
#include "llvm/Support/Error.h"
#include <string>

namespace recipe::cpu {

// Emits and compiles the kernels, at least one, on up to `threads` threads and links them into one ELF shared object,
// returned as bytes, that exports each kernel under its symbol name and needs no other library. The bytes depend on
// kernels and target only.
llvm::Expected<std::string> compileKernels(llvm::ArrayRef<step::KernelOp> kernels, const step::TargetInfo &target,
                                           unsigned threads);

// The LLVM IR of one kernel, as emitted or after optimisation; for dumps.
llvm::Expected<std::string> printKernel(step::KernelOp kernel, const step::TargetInfo &target, bool optimized);

} // namespace recipe::cpu
#endif
