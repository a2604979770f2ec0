// The loops of compiled kernels in which chains run, and how often these leave their registers.
#ifndef TESTS_UNIT_CODEGEN_CHAINLOOPS_H
#define TESTS_UNIT_CODEGEN_CHAINLOOPS_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>
#include <vector>

namespace recipe::test {

// A loop without jumps inside whose only arithmetic on vectors of floats are multiply-adds, four or more (an iteration
// of AMX has four). Loops that compute formulas are none: they also add.
struct ChainLoop {
  std::string kernel;
  int64_t multiplyAdds;            // instructions: fma, vdpbf16ps, tdpbf16ps
  int64_t stackLoads, stackStores; // instructions that move a vector register, or a tile of AMX, from or to the stack
};

// Of an ELF shared object of kernels for x86-64, by LLVM's disassembler; in the order of the exported symbols. Fails
// the running test where it does not understand the object.
std::vector<ChainLoop> chainLoops(llvm::StringRef object);

} // namespace recipe::test
#endif
