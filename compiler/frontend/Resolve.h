//===- Resolve.h - from what is given to what holds ---------------------------------------------------------------===//
#ifndef RECIPE_FRONTEND_RESOLVE_H
#define RECIPE_FRONTEND_RESOLVE_H

#include "compiler/frontend/Draft.h"
#include "compiler/frontend/ResolvedRecipe.h"

#include <map>
#include <string>

namespace recipe::frontend {

// key -> how it came by its value, for keys that were not given: "default" or "derived".
using Filled = std::map<std::string, std::string>;

// Reports required keys that are missing.
void checkRequired(const Schema &schema, const Draft &draft, Diagnostics &diagnostics);

// Gives every built key that was not given its default or derived value.
Filled fillDefaults(const Schema &schema, const std::string &recipePath, Draft &draft);

// Makes every path absolute.
void resolvePaths(const Schema &schema, const std::string &recipePath, Draft &draft);

// The rules between keys (docs/recipes.md). A rule whose keys already have a problem is skipped.
void checkCrossRules(Draft &draft, Diagnostics &diagnostics);

} // namespace recipe::frontend

#endif // RECIPE_FRONTEND_RESOLVE_H
