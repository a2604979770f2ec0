#include "compiler/tools/Session.h"
#include "compiler/tools/Commands.h"
#include "compiler/tools/Report.h"
#include "models/Models.h"
#include "runtime/base/Printable.h"
#include "llvm/Support/raw_ostream.h"

namespace recipe {

// Our phases do not use MLIR's threads; without them the order of everything is fixed.
Session::Session() : context(mlir::MLIRContext::Threading::DISABLED) { loadDialects(context); }

// All problems come in one run: what is wrong elsewhere does not keep the configuration from being read.
static void checkConfig(const frontend::ModelDraft &model, std::vector<frontend::Diagnostic> &problems) {
  train::StepFacts facts;
  facts.seqLength = model.seqLength;
  std::vector<models::ConfigProblem> found;
  (void)models::readModel(model.type, model.config.json, facts, found);
  for (const models::ConfigProblem &problem : found)
    if (!model.config.refused.count(problem.key))
      problems.push_back(model.config.errorAt(problem.key, problem.text));
}

std::unique_ptr<Session> openSession(const std::string &recipePath, const std::vector<std::string> &sets) {
  frontend::LoadedRecipe loaded = frontend::loadRecipe(recipePath, sets);
  std::vector<frontend::Diagnostic> problems = loaded.diagnostics;
  auto session = std::make_unique<Session>();
  if (loaded.recipe) {
    session->recipe = std::move(*loaded.recipe);
    Options options = optionsOf(session->recipe, problems);
    session->compilation.reset(new Compilation{session->recipe, options, session->context});
  }
  if (!problems.empty() && loaded.model)
    checkConfig(*loaded.model, problems); // else the first phase does
  for (const frontend::Diagnostic &problem : problems)
    llvm::errs() << rt::printable(toString(problem)) << "\n";
  return problems.empty() ? std::move(session) : nullptr;
}

int runPipeline(Session &session) {
  Compilation &compilation = *session.compilation;
  Outcome outcome = compile(compilation);
  for (llvm::StringRef message : compilation.messages)
    llvm::errs() << printableLines(((message.starts_with("error: ") ? "recipec: " : "") + message).str());
  switch (outcome) {
  case Outcome::Done:
    return 0;
  case Outcome::UserError:
    return kUserError;
  case Outcome::Bug:
    llvm::errs() << "recipec: this is a bug in recipec";
    if (!compilation.reproducer.empty())
      llvm::errs() << "; what is needed to reproduce it is in " << rt::printable(compilation.reproducer);
    llvm::errs() << "\n";
    return kOurBug;
  }
  llvm_unreachable("every outcome has an exit code");
}

} // namespace recipe
