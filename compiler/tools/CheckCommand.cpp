#include "compiler/emit/Program.h"
#include "compiler/frontend/Describe.h"
#include "compiler/tools/Commands.h"
#include "compiler/tools/Report.h"
#include "compiler/tools/Session.h"

namespace recipe {

int checkCommand(const CheckRequest &request) {
  std::unique_ptr<Session> session = openSession(request.recipe, request.sets);
  if (!session)
    return kUserError;
  Compilation &compilation = *session->compilation;
  // Everything is known before code is generated, and without the values of constants.
  compilation.options.stopAfter = "budget";
  compilation.options.evaluatesTables = false;
  if (int code = runPipeline(*session))
    return code;
  abi::Step step;
  frontend::describeRecipe(session->recipe, step);
  emit::emitProgram(*compilation.module, step);
  step.mutable_manifest()->set_parameter_count(compilation.parameterCount);
  step.mutable_manifest()->set_flops_per_token(compilation.flopsPerToken);

  llvm::outs() << printableLines(renderResolved(session->recipe)) << "\n";
  printModel(llvm::outs(), step.manifest());
  printCertificate(llvm::outs(), step.certificate());
  return 0;
}

} // namespace recipe
