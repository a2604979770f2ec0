#include "TinyRecipe.h"

namespace recipe::test {

std::unique_ptr<Compiled> compileText(const std::string &text, const std::string &stopAfter,
                                      const std::vector<std::string> &sets, unsigned threads) {
  auto compiled = std::make_unique<Compiled>();
  frontend::LoadedRecipe loaded = frontend::loadRecipeText(text, "tiny.recipe", sets);
  std::vector<frontend::Diagnostic> problems = loaded.diagnostics;
  if (loaded.recipe) {
    compiled->recipe = *loaded.recipe;
    loadDialects(compiled->context);
    Options options = optionsOf(compiled->recipe, problems);
    options.stopAfter = stopAfter;
    options.threads = threads;
    compiled->compilation.reset(new Compilation{compiled->recipe, options, compiled->context});
  }
  for (const frontend::Diagnostic &problem : problems)
    compiled->messages += toString(problem) + "\n";
  if (!problems.empty()) {
    compiled->outcome = Outcome::UserError;
    return compiled;
  }
  compiled->outcome = compile(*compiled->compilation);
  for (const std::string &message : compiled->compilation->messages)
    compiled->messages += message + "\n";
  return compiled;
}

} // namespace recipe::test
