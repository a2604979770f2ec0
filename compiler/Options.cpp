#include "compiler/Options.h"
#include "compiler/FusionRules.h"
#include "compiler/frontend/ResolvedRecipe.h"
#include "compiler/target/cpu/Target.h"

namespace recipe {

// Why the target cannot do what the recipe asks of it; empty: it can.
static std::string whatTargetLacks(const Options &options, const std::string &arch) {
  if (!options.precision.bf16x6 || options.target.tilesBF16)
    return "";
  std::string cpu = arch == options.target.cpu ? "" : " (" + options.target.cpu + ")";
  return "'precision.f32_products: bf16x6' needs a target with AMX, got target.arch: " + arch + cpu +
         "; name one that has it, such as sapphirerapids, or use auto or fma";
}

// Puts what `auto` comes to in its place.
static void chooseProducts(frontend::ResolvedRecipe &resolved, const step::TargetInfo &target) {
  frontend::Precision &precision = *resolved.recipe.mutable_precision();
  if (precision.f32_products() != frontend::Precision::auto_)
    return;
  precision.set_f32_products(target.tilesBF16 ? frontend::Precision::bf16x6 : frontend::Precision::fma);
  for (frontend::Entry &entry : resolved.entries)
    if (entry.key == "precision.f32_products") {
      entry.value = frontend::Precision::F32Products_Name(precision.f32_products());
      entry.origin = "derived";
    }
}

Options optionsOf(frontend::ResolvedRecipe &resolved, std::vector<frontend::Diagnostic> &problems) {
  const frontend::Recipe &recipe = resolved.recipe;
  Options options;
  options.facts.batchSize = recipe.data().batch_size();
  options.facts.seqLength = recipe.data().seq_length();
  options.facts.globalBatch = resolved.globalBatch;
  options.facts.batchSegments = recipe.numerics().batch_segments();
  options.facts.segments = recipe.numerics().segments();
  if (failed(options.facts.verify(
          [&](const llvm::Twine &text) { problems.push_back(resolved.errorAt("data.batch_size", text.str())); })))
    return options;

  const frontend::Optim &optim = recipe.optim();
  options.optimizer = {optim.betas(0), optim.betas(1), optim.eps(), optim.weight_decay(), optim.clip_grad_norm()};
  options.fusion = recipe.fusion().enabled();
  for (const std::string &path : recipe.fusion().rules())
    if (llvm::Expected<FusionRules> rules = readFusionRules(path))
      options.fusionRules.push_back(std::move(*rules));
    else
      problems.push_back(resolved.errorAt("fusion.rules", "'fusion.rules': " + llvm::toString(rules.takeError())));
  const frontend::Precision &precision = recipe.precision();
  options.precision = {precision.compute() == frontend::Precision::bf16,
                       {precision.keep_fp32().begin(), precision.keep_fp32().end()}};
  options.recompute = recipe.memory().recompute() != frontend::Memory::none;
  options.recomputeToFit = recipe.memory().recompute() == frontend::Memory::auto_;
  options.recomputeProducts = recipe.memory().recompute() == frontend::Memory::full       ? 2
                              : recipe.memory().recompute() == frontend::Memory::products ? 1
                                                                                          : 0;
  options.ranks = recipe.distributed().data_parallel_size();
  options.budget = int64_t(recipe.memory().budget());
  llvm::Expected<step::TargetInfo> target = cpu::resolveTarget(recipe.target().arch(), recipe.target().max_threads());
  if (!target) {
    problems.push_back(resolved.errorAt("target.arch", llvm::toString(target.takeError())));
    return options;
  }
  options.target = *target;
  chooseProducts(resolved, options.target);
  options.precision.bf16x6 = precision.f32_products() == frontend::Precision::bf16x6;
  if (std::string problem = whatTargetLacks(options, recipe.target().arch()); !problem.empty())
    problems.push_back(resolved.errorAt("precision.f32_products", problem));
  return options;
}

} // namespace recipe
