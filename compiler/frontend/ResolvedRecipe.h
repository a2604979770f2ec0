//===- ResolvedRecipe.h - a recipe with every value in place and where it came from -------------------------------===//
//
// The result of the frontend. Plain values; safe to share between threads once made.
//
//===-------------------------------------------------------------------------------------------------------------===//
#ifndef RECIPE_FRONTEND_RESOLVEDRECIPE_H
#define RECIPE_FRONTEND_RESOLVEDRECIPE_H

#include "compiler/frontend/Diagnostics.h"
#include "compiler/frontend/ModelConfig.h"
#include "compiler/frontend/recipe.pb.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace recipe::frontend {

struct Entry {
  std::string key;    // dotted: optim.lr
  std::string value;  // as YAML on one line
  std::string origin; // recipe:LINE:COLUMN, --set, default or derived
  bool runTime = false;
};

struct ResolvedRecipe {
  std::string path; // of the recipe, as given
  // Every key that is built has a value, of exclusive keys one. Paths are absolute.
  Recipe recipe;
  std::vector<Entry> entries; // in the order of recipe.proto
  ModelConfig modelConfig;

  int64_t accumulation = 0;        // micro-batches per update and rank
  int64_t globalBatch = 0;         // G, samples per update = batch_size * data_parallel_size * accumulation
  int64_t batchSegments = 0;       // S = gcd(G, numerics.batch_segments)
  std::vector<int64_t> legalRanks; // N | S with G / (batch_size * N) whole, ascending

  std::map<std::string, Location> places; // dotted key -> where the recipe gives it

  // A problem that a later phase finds with a key's value; a key without a place: with the recipe as a whole.
  Diagnostic errorAt(const std::string &key, std::string message) const;
};

// What a configuration is checked with, whatever is wrong elsewhere in the recipe.
struct ModelDraft {
  std::string type; // model.type
  ModelConfig config;
  int64_t seqLength = 0; // 0: not known
};

struct LoadedRecipe {
  std::optional<ResolvedRecipe> recipe; // absent if there is a diagnostic
  std::vector<Diagnostic> diagnostics;  // all problems, by position
  std::optional<ModelDraft> model;      // absent if the type or the configuration cannot be told
};

// Reads a recipe, lays the "key=value" of sets over it and resolves it. Relative paths resolve against the folder of
// the recipe, those of sets against the current folder.
LoadedRecipe loadRecipe(const std::string &path, const std::vector<std::string> &sets);

// The same for the contents of a recipe; path need not exist.
LoadedRecipe loadRecipeText(const std::string &text, const std::string &path, const std::vector<std::string> &sets);

// The ranks that a pure data-parallel step runs on.
std::vector<int64_t> legalRankCounts(int64_t globalBatch, int64_t batchSize, int64_t batchSegments);

} // namespace recipe::frontend

#endif // RECIPE_FRONTEND_RESOLVEDRECIPE_H
