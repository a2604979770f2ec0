//===- Draft.h - a recipe as given, before anything is filled in --------------------------------------------------===//
#ifndef RECIPE_FRONTEND_DRAFT_H
#define RECIPE_FRONTEND_DRAFT_H

#include "compiler/frontend/Diagnostics.h"
#include "compiler/frontend/Schema.h"
#include "compiler/frontend/YamlTree.h"

#include <map>
#include <set>
#include <string>

namespace recipe::frontend {

struct Draft {
  Recipe recipe;
  std::map<std::string, Place> given;      // key -> where; also keys whose value was refused
  std::map<std::string, Place> valuePlace; // key -> where its value is
  std::map<std::string, Place> sections;   // section -> where it begins
  std::set<std::string> refused;           // keys with a reported problem
  std::set<std::string> configRefused;     // keys of model.config with a value that JSON cannot have
  std::map<std::string, Place> configKeys; // of model.config: path such as rope_scaling.factor -> where
};

// The section's message of a recipe, made if absent.
google::protobuf::Message &sectionOf(Recipe &recipe, const Key &key);
const google::protobuf::Message &sectionOf(const Recipe &recipe, const Key &key);

// Whether the recipe has a value for the key.
bool hasValue(const Recipe &recipe, const Key &key);

// Checks the tree against the schema and fills a draft. Every problem is reported.
Draft readRecipe(const Schema &schema, const YamlNode &root, Diagnostics &diagnostics);

// Puts one "key=value" over the tree; it is the source-th --set (from 1).
void applySet(const Schema &schema, const std::string &assignment, unsigned source, YamlNode &root,
              Diagnostics &diagnostics);

} // namespace recipe::frontend

#endif // RECIPE_FRONTEND_DRAFT_H
