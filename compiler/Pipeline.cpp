#include "compiler/Pipeline.h"
#include "compiler/FitBudget.h"
#include "compiler/PhaseChecks.h"
#include "compiler/PhaseRunner.h"
#include "compiler/emit/EmitStep.h"
#include "compiler/emit/Semantic.h"
#include "compiler/frontend/Schema.h"
#include "compiler/target/cpu/Compile.h"
#include "dialects/dist/Dist.h"
#include "dialects/train/Names.h"
#include "models/Models.h"
#include "passes/Passes.h"
#include "passes/plan/Certificate.h"
#include "passes/precision/Policy.h"

using namespace mlir;

namespace recipe {
namespace {

Outcome import(Compilation &c) {
  const frontend::Recipe &recipe = c.recipe.recipe;
  std::vector<models::ConfigProblem> problems;
  c.module = models::buildModel(c.context, frontend::Model::Type_Name(recipe.model().type()), c.recipe.modelConfig.json,
                                c.options.facts, problems);
  for (const models::ConfigProblem &problem : problems)
    c.messages.push_back(toString(c.recipe.modelConfig.errorAt(problem.key, problem.text)));
  if (!c.module)
    return problems.empty() ? Outcome::Bug : Outcome::UserError;
  c.parameterCount = models::parameterCount(*c.module);
  c.weightFiles = models::weightFiles(frontend::Model::Type_Name(recipe.model().type()), *c.module);
  return Outcome::Done;
}

Outcome grad(Compilation &c) { return runPass(c, createGradPass()); }

Outcome update(Compilation &c) {
  const OptimizerOptions &o = c.options.optimizer;
  if (runPass(c, createUpdatePass({o.beta1, o.beta2, o.eps, o.weightDecay, o.clip})) != Outcome::Done)
    return Outcome::Bug;
  c.flopsPerToken = emit::flopsPerToken(*c.module, c.options.facts);
  c.vocabSize = emit::vocabSize(*c.module);
  return Outcome::Done;
}

// For the class or operation that `name` was probably meant to be, or nothing.
std::string didYouMean(Compilation &c, StringRef name) {
  if (name.find_first_of("*?") != StringRef::npos)
    return "";
  std::vector<std::string> known = precision::classNames();
  c.module->walk([&](train::PrecisionOpInterface op) {
    if (StringRef opName = train::nameOf(op); !opName.contains('/'))
      known.push_back(opName.str());
  });
  std::string guess = frontend::closest(name.str(), known);
  return guess.empty() ? "" : ", did you mean " + guess + "?";
}

Outcome lowerPrecision(Compilation &c) {
  const PrecisionOptions &o = c.options.precision;
  for (const std::string &name : precision::matchNothing(*c.module, o.keepFp32))
    c.messages.push_back(toString(
        c.recipe.errorAt("precision.keep_fp32",
                         "'precision.keep_fp32' must name classes of operations, or the model's operations with * and "
                         "?, got " +
                             name + didYouMean(c, name))));
  if (!c.messages.empty())
    return Outcome::UserError;
  PrecisionPassOptions options;
  options.keepFp32.assign(o.keepFp32.begin(), o.keepFp32.end());
  options.casts = o.bf16;
  options.blocks = c.options.target.tilesBF16;
  options.bf16x6 = o.bf16x6;
  if ((o.bf16 || o.bf16x6) && runPass(c, createPrecisionPass(options)) != Outcome::Done)
    return Outcome::Bug;
  c.bf16Order = emit::bf16Order(*c.module);
  c.semantic = writeSemantic(*c.module);
  return Outcome::Done;
}

Outcome recompute(Compilation &c) {
  RecomputeReport report;
  report.wantsText = !c.options.dumpFolder.empty();
  RecomputePassOptions options;
  options.products = c.options.recomputeProducts;
  if (c.options.recomputeToFit)
    options = fitBudget(c);
  if (c.options.recompute && runPass(c, createRecomputePass(options, &report)) != Outcome::Done)
    return Outcome::Bug;
  c.report = std::move(report.text);
  return Outcome::Done;
}

// One step runs on every legal number of ranks: what holds on the largest mesh holds on each.
Outcome shard(Compilation &c) { return runPass(c, createShardPass({c.options.facts.legalRanks().back()})); }
// Problems in the user's files, at their lines.
bool userRulesAreSound(Compilation &c) {
  ScopedDiagnosticHandler handler(&c.context, [&](Diagnostic &diagnostic) {
    std::string place;
    if (auto location = dyn_cast<FileLineColLoc>(diagnostic.getLocation()))
      place = (location.getFilename().getValue() + ":" + Twine(location.getLine()) + ":" + Twine(location.getColumn()) +
               ": ")
                  .str();
    c.messages.push_back(place + "error: " + diagnostic.str());
    return success();
  });
  return succeeded(checkFusionRules(&c.context, c.options.fusionRules));
}

Outcome fuse(Compilation &c) {
  if (!userRulesAreSound(c))
    return Outcome::UserError;
  FusePassOptions options;
  options.enabled = c.options.fusion;
  FusionReport report;
  report.wantsText = !c.options.dumpFolder.empty();
  if (runPass(c, createFusePass(options, c.options.fusionRules, &report)) != Outcome::Done)
    return Outcome::Bug;
  c.report = std::move(report.text);
  for (const std::string &problem : report.unmet)
    c.messages.push_back(toString(c.recipe.errorAt("fusion.rules", problem)));
  return report.unmet.empty() ? Outcome::Done : Outcome::UserError;
}
Outcome foldCollectives(Compilation &c) { return runPass(c, createFoldCollectivesPass()); }
Outcome selectKernels(Compilation &c) { return runPass(c, createSelectKernelsPass(c.options.target)); }
Outcome planArena(Compilation &c) {
  return runPass(c, createPlanArenaPass({c.options.target.maxThreads, c.options.evaluatesTables}));
}

Outcome budget(Compilation &c) {
  auto arena = *c.module->getOps<step::ArenaOp>().begin();
  std::string problem = plan::applyBudget(arena, c.options.budget, c.options.ranks);
  if (problem.empty())
    return Outcome::Done;
  if (!c.options.recomputeToFit)
    problem += "; memory.recompute: auto may need less";
  c.messages.push_back(toString(c.recipe.errorAt("memory.budget", problem)));
  return Outcome::UserError;
}

Outcome codegen(Compilation &c) {
  auto kernels = llvm::to_vector(c.module->getOps<step::KernelOp>());
  llvm::Expected<std::string> object = cpu::compileKernels(kernels, c.options.target, c.options.threads);
  if (!object) {
    llvm::Error error = object.takeError();
    // The linker works on files, for which there may be no room.
    Outcome outcome = error.isA<llvm::FileError>() ? Outcome::UserError : Outcome::Bug;
    c.messages.push_back("error: " + llvm::toString(std::move(error)));
    return outcome;
  }
  c.object = std::move(*object);
  return Outcome::Done;
}

Outcome emitStep(Compilation &c) {
  std::string problem = emit::emitStep(c);
  if (problem.empty())
    return Outcome::Done;
  c.messages.push_back("error: " + problem);
  return Outcome::UserError;
}

} // namespace

ArrayRef<Phase> phases() {
  // Differentiation comes first, on the single-device model, so that nothing after it knows about gradients. Casts come
  // when every op is there, so that each value is cast once for forward and backward. What is replayed is decided on
  // types as they will be, and before fusion, which may then join replays with each other but not with forward. Layouts
  // are assigned before fusion because a collective ends a kernel. Kernels are chosen before memory is planned, since
  // they say how much workspace they need; no code is generated before all of that is known to fit.
  static const Phase table[] = {
      {"import", "recipe and model configuration to forward graphs", import, checkImported},
      {"grad", "forward graph to forward and backward", grad, checkDifferentiated},
      {"update", "optimizer, initial state and schedule", update, checkUpdated},
      {"precision", "casts to bf16; how f32 products are computed", lowerPrecision, checkPrecision},
      {"recompute", "what backward computes again", recompute, checkDifferentiated},
      {"shard", "layouts and collectives", shard, checkSharded},
      {"fuse", "ops to kernel regions", fuse, checkFused},
      {"fold-collectives", "collectives over one rank removed", foldCollectives, checkFused},
      {"select-kernels", "kernels, tiles and workspace", selectKernels, checkSelected},
      {"plan-arena", "places in memory; graphs to programs", planArena, checkPlanned},
      {"budget", "the certificate against memory.budget", budget, checkPlanned},
      {"codegen", "kernels to native code", codegen, nullptr, Phase::Leaves::Code},
      {"emit", "everything to one file", emitStep, nullptr, Phase::Leaves::File},
  };
  return table;
}

void loadDialects(MLIRContext &context) {
  context.loadDialect<train::TrainDialect, dist::DistDialect, step::StepDialect>();
}

Outcome compile(Compilation &compilation) {
  for (const Phase &phase : phases()) {
    Outcome outcome = runPhase(compilation, phase);
    if (outcome != Outcome::Done || phase.name == compilation.options.stopAfter)
      return outcome;
  }
  return Outcome::Done;
}

} // namespace recipe
