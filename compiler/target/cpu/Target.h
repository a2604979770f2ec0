// Which instruction set `target.arch` means.
#ifndef COMPILER_TARGET_CPU_TARGET_H
#define COMPILER_TARGET_CPU_TARGET_H

#include "dialects/step/TargetInfo.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace recipe::cpu {

// `arch`: native (this machine), x86-64-v3, x86-64-v4 or any 64-bit x86 CPU that LLVM knows. Fails for an unknown name
// and for a CPU without AVX2 and FMA; the message has no location.
llvm::Expected<step::TargetInfo> resolveTarget(llvm::StringRef arch, int64_t maxThreads);

} // namespace recipe::cpu
#endif
