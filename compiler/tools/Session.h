// A recipe from the command line, loaded and ready for the pipeline.
#ifndef COMPILER_TOOLS_SESSION_H
#define COMPILER_TOOLS_SESSION_H

#include "compiler/Pipeline.h"
#include "mlir/IR/MLIRContext.h"
#include <memory>

namespace recipe {

// Owns what a compilation refers to.
struct Session {
  frontend::ResolvedRecipe recipe;
  mlir::MLIRContext context;
  std::unique_ptr<Compilation> compilation;

  Session();
};

// Null after the recipe's problems went to stderr.
std::unique_ptr<Session> openSession(const std::string &recipePath, const std::vector<std::string> &sets);

// Runs the pipeline; what is wrong goes to stderr. Returns the exit code.
int runPipeline(Session &session);

} // namespace recipe
#endif
