#include "compiler/frontend/Resolve.h"
#include "compiler/frontend/ResolvedRecipe.h"
#include "compiler/frontend/Values.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"

#include <algorithm>
#include <numeric>

namespace recipe::frontend {
namespace {

std::vector<std::string> sourceNames(const std::string &path, const std::vector<std::string> &sets) {
  std::vector<std::string> names = {path};
  for (const std::string &set : sets)
    names.push_back("--set " + llvm::json::fixUTF8(set));
  return names;
}

std::string originOf(const std::string &key, const Draft &draft, const Filled &filled) {
  auto given = draft.given.find(key);
  if (given == draft.given.end())
    return filled.at(key);
  if (given->second.source)
    return "--set";
  return "recipe:" + std::to_string(given->second.line) + ":" + std::to_string(given->second.column);
}

// The configuration that the model is built from; nothing if it cannot be had, which is then reported.
std::optional<ModelConfig> modelConfig(const Draft &draft, Diagnostics &diagnostics) {
  const Model &model = draft.recipe.model();
  if (model.has_config()) {
    ModelConfig config;
    config.json = model.config();
    config.source = diagnostics.locate(draft.given.at("model.config"));
    config.name = "model.config";
    config.refused = draft.configRefused;
    for (auto &[path, place] : draft.configKeys)
      config.keys[path] = diagnostics.locate(place);
    return config;
  }
  if (!model.has_config_path() || draft.refused.count("model.config_path"))
    return std::nullopt;
  std::vector<Diagnostic> duplicates;
  std::variant<ModelConfig, Diagnostic> config = readModelConfig(model.config_path(), duplicates);
  for (const Diagnostic &duplicate : duplicates)
    diagnostics.error(duplicate.at, duplicate.message);
  auto *problem = std::get_if<Diagnostic>(&config);
  if (!problem)
    return std::get<ModelConfig>(std::move(config));
  if (problem->at.line == 0) // not there or not text: the key is to blame
    diagnostics.error(draft.valuePlace.at("model.config_path"),
                      "'model.config_path': " + model.config_path() + " " + problem->message);
  else
    diagnostics.error(problem->at, problem->message);
  return std::nullopt;
}

// Of two configurations neither is checked: who knows which one is meant.
std::optional<ModelDraft> modelDraft(const Draft &draft, const std::optional<ModelConfig> &config) {
  const Model &model = draft.recipe.model();
  bool several = draft.given.count("model.config") && draft.given.count("model.config_path");
  if (!config || !model.has_type() || several)
    return std::nullopt;
  return ModelDraft{Model::Type_Name(model.type()), *config, draft.recipe.data().seq_length()};
}

// A section whose keys were all neutral leaves no trace.
void dropEmptySections(const Schema &schema, Recipe &recipe) {
  for (const Key &key : schema.keys())
    if (sectionOf(static_cast<const Recipe &>(recipe), key).ByteSizeLong() == 0)
      recipe.GetReflection()->ClearField(&recipe, key.sectionField);
}

void derive(ResolvedRecipe &resolved) {
  const Recipe &r = resolved.recipe;
  resolved.accumulation = r.optim().grad_accum_steps();
  resolved.globalBatch = r.data().batch_size() * r.distributed().data_parallel_size() * resolved.accumulation;
  resolved.batchSegments = std::gcd(resolved.globalBatch, r.numerics().batch_segments());
  resolved.legalRanks = legalRankCounts(resolved.globalBatch, r.data().batch_size(), resolved.batchSegments);
}

LoadedRecipe load(const std::string &text, const std::string &path, const std::vector<std::string> &sets) {
  Schema schema;
  Diagnostics diagnostics(sourceNames(path, sets));
  auto problems = [&] { return LoadedRecipe{std::nullopt, diagnostics.sorted(), std::nullopt}; };
  for (const std::string &any : sets) {
    if (!llvm::json::isUTF8(any)) {
      diagnostics.error(Place{static_cast<unsigned>(&any - sets.data()) + 1, 0, 0}, "must be UTF-8 text");
      return problems();
    }
  }

  std::variant<YamlNode, YamlError> tree = parseYaml(text, 0);
  if (auto *error = std::get_if<YamlError>(&tree)) {
    diagnostics.error(error->place, error->message);
    return problems();
  }
  YamlNode root = std::get<YamlNode>(std::move(tree));
  for (auto [i, set] : llvm::enumerate(sets))
    applySet(schema, set, i + 1, root, diagnostics);
  Draft draft = readRecipe(schema, root, diagnostics);
  if (root.kind != YamlNode::Map)
    return problems();

  checkRequired(schema, draft, diagnostics);
  Filled filled = fillDefaults(schema, path, draft);
  resolvePaths(schema, path, draft);
  checkCrossRules(draft, diagnostics);
  std::optional<ModelConfig> config = modelConfig(draft, diagnostics);
  std::optional<ModelDraft> model = modelDraft(draft, config);
  if (!diagnostics.empty())
    return {std::nullopt, diagnostics.sorted(), std::move(model)};

  ResolvedRecipe resolved;
  resolved.path = path;
  dropEmptySections(schema, draft.recipe);
  resolved.recipe = draft.recipe;
  resolved.modelConfig = std::move(*config);
  for (const Key &key : schema.keys())
    if (hasValue(draft.recipe, key))
      resolved.entries.push_back({key.name, valueText(key, sectionOf(draft.recipe, key)),
                                  originOf(key.name, draft, filled), key.options->run_time()});
  for (auto &[key, place] : draft.valuePlace)
    resolved.places[key] = diagnostics.locate(place);
  derive(resolved);
  return {std::move(resolved), {}, std::move(model)};
}

} // namespace

Diagnostic ResolvedRecipe::errorAt(const std::string &key, std::string message) const {
  auto found = places.find(key);
  return {found == places.end() ? Location{path, 0, 0} : found->second, std::move(message)};
}

std::vector<int64_t> legalRankCounts(int64_t globalBatch, int64_t batchSize, int64_t batchSegments) {
  std::vector<int64_t> legal;
  for (int64_t ranks = 1; ranks <= batchSegments; ++ranks)
    if (batchSegments % ranks == 0 && globalBatch % (batchSize * ranks) == 0)
      legal.push_back(ranks);
  return legal;
}

LoadedRecipe loadRecipeText(const std::string &text, const std::string &path, const std::vector<std::string> &sets) {
  size_t bad = 0;
  if (!llvm::json::isUTF8(text, &bad))
    return {std::nullopt,
            {{{path, 0, 0}, "must be UTF-8 text, got another byte at offset " + std::to_string(bad)}},
            std::nullopt};
  return load(text, path, sets);
}

LoadedRecipe loadRecipe(const std::string &path, const std::vector<std::string> &sets) {
  std::variant<std::string, Diagnostic> text = readTextFile(path);
  if (auto *problem = std::get_if<Diagnostic>(&text))
    return {std::nullopt, {*problem}, std::nullopt};
  return loadRecipeText(std::get<std::string>(text), path, sets);
}

} // namespace recipe::frontend
