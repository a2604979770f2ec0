#include "compiler/FitBudget.h"
#include "compiler/PhaseRunner.h"
#include "dialects/train/Variables.h"

using namespace mlir;

namespace recipe {

// The arena of one rank when the phases from recompute to plan-arena have run; none where one fails.
static std::optional<int64_t> arenaBytes(const Compilation &compilation, const RecomputePassOptions &options) {
  Compilation trial{compilation.recipe, compilation.options, compilation.context};
  trial.options.dumpFolder.clear();
  trial.module = ModuleOp(*compilation.module).clone();
  if (runPass(trial, createRecomputePass(options, nullptr)) != Outcome::Done)
    return std::nullopt;
  const auto *phase = llvm::find_if(phases(), [](const Phase &each) { return each.name == "recompute"; });
  do {
    ++phase;
    if (phase->run(trial) != Outcome::Done)
      return std::nullopt;
  } while (phase->name != "plan-arena");
  for (auto row : (*trial.module->getOps<step::ArenaOp>().begin()).getRows().getAsRange<step::RowAttr>())
    if (row.getRanks() == compilation.options.ranks)
      return row.total();
  return std::nullopt;
}

RecomputePassOptions fitBudget(const Compilation &compilation) {
  constexpr int kRounds = 8;
  const int64_t budget = compilation.options.budget;
  RecomputePassOptions options, best;
  std::optional<int64_t> bytes = budget ? arenaBytes(compilation, options) : std::nullopt;
  if (!bytes || *bytes <= budget)
    return options;
  int64_t least = *bytes;
  auto fits = [&] {
    std::optional<int64_t> tried = arenaBytes(compilation, options);
    if (!tried)
      return false;
    bytes = tried;
    if (*bytes < least)
      best = options, least = *bytes;
    return *bytes <= budget;
  };
  // Rounding weights again costs a reading of each, products cost arithmetic. It fails where a user's rule asks for the
  // cast that makes a working copy.
  options.workingCopies = train::variablesOf(*compilation.module, train::Role::Working).empty();
  if (!options.workingCopies) {
    if (fits())
      return options;
    options.workingCopies = best.workingCopies;
  }
  options.products = 2, options.productBytes = 0;
  for (int round = 0; round < kRounds; ++round) {
    // The peak may be elsewhere by now, where little of what is dropped next would lie.
    options.productBytes += std::max(*bytes - budget, options.productBytes / 4);
    if (fits())
      return options;
  }
  options.productBytes = -1;
  return fits() ? options : best;
}

} // namespace recipe
