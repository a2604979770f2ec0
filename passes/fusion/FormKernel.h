// Turns a group of ops into a train.kernel region.
#ifndef PASSES_FUSION_FORMKERNEL_H
#define PASSES_FUSION_FORMKERNEL_H

#include "passes/LocalTypes.h"
#include "passes/fusion/Groups.h"

namespace recipe::fusion {

// "<first op>", or "<anchor>+<other>+<another>" for several ops; empty when no op has a model name.
std::string kernelNameOf(const Group &group);

// Moves the ops of a group into a new region at the place of its last op. Operands of a region of one op correspond to
// the op's operands by number, results to its results; a larger region takes each value once, and gives what is used
// outside and what its anchor stores itself. Inside, tensors are local and plain: the layout stays at the boundary.
train::KernelOp formKernel(const Group &group, llvm::StringRef name, const LocalTypes &types);

} // namespace recipe::fusion
#endif
