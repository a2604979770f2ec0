// Runs one phase with everything around it: time, verification, dump, and a reproducer when it is our fault.
#ifndef COMPILER_PHASERUNNER_H
#define COMPILER_PHASERUNNER_H

#include "compiler/Pipeline.h"
#include "mlir/Pass/Pass.h"

namespace recipe {

// A pass by itself on the module. It can only fail by our mistake.
Outcome runPass(Compilation &compilation, std::unique_ptr<mlir::Pass> pass);

Outcome runPhase(Compilation &compilation, const Phase &phase);

} // namespace recipe
#endif
