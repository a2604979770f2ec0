// Objects to one shared object, by lld in this process.
#ifndef COMPILER_TARGET_CPU_LINK_H
#define COMPILER_TARGET_CPU_LINK_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <string>

namespace recipe::cpu {

// Links ELF objects (as bytes) into a shared object without undefined symbols. Deterministic. One link runs at a time.
llvm::Expected<std::string> linkShared(llvm::ArrayRef<llvm::SmallVector<char, 0>> objects);

} // namespace recipe::cpu
#endif
