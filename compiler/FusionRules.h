// The user's fusion rules: from PDLL to what the fuse phase takes.
#ifndef COMPILER_FUSIONRULES_H
#define COMPILER_FUSIONRULES_H

#include "passes/Passes.h"
#include "llvm/Support/Error.h"

namespace recipe {

// Translates a file of PDLL by mlir-pdll, which must be installed, or takes PDL as it is (a name that ends in .mlir).
// The error is a line for people; it names the place in the file where mlir-pdll found something wrong.
llvm::Expected<FusionRules> readFusionRules(const std::string &path);

} // namespace recipe
#endif
