// Scratch of the tree over batch nodes inside one kernel: what kernel-select promises and codegen uses.
#ifndef PASSES_NODETREESHAPE_H
#define PASSES_NODETREESHAPE_H

#include "llvm/ADT/bit.h"
#include <cstdint>

namespace recipe {

// Subtrees of 1, 2, 4, ..., nodes / 2 nodes wait for their right neighbour; `vectors` (16 floats each) belong to a
// node. `nodes` is a power of two.
inline int64_t pendingBytes(int64_t nodes, int64_t vectors) {
  return llvm::countr_zero(uint64_t(nodes)) * vectors * 64;
}

} // namespace recipe
#endif
