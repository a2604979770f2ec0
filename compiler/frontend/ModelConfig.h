//===- ModelConfig.h - the model's config.json, from a file or from the recipe ------------------------------------===//
//
// The frontend only makes sure that it is a JSON object; what the keys mean is the business of models/.
//
//===-------------------------------------------------------------------------------------------------------------===//
#ifndef RECIPE_FRONTEND_MODELCONFIG_H
#define RECIPE_FRONTEND_MODELCONFIG_H

#include "compiler/frontend/Diagnostics.h"
#include "compiler/frontend/Values.h"
#include "compiler/frontend/YamlTree.h"

#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace recipe::frontend {

struct ModelConfig {
  std::string json;                     // text of a JSON object
  Location source;                      // the file, or where model.config begins in the recipe
  std::map<std::string, Location> keys; // path such as rope_scaling.factor -> where it is
  std::set<std::string> refused;        // paths with a reported problem; JSON has some text for their value
  std::string name;                     // "model.config" of one in the recipe; empty: a file

  // A problem with the value at path; "" or an unknown path: with the configuration as a whole. A message that begins
  // with the path in quotes gets the name before it.
  Diagnostic errorAt(const std::string &path, std::string message) const;
};

// A YAML mapping as JSON text on one line, keys in the order given; numbers keep their spelling where JSON has it.
// name: the dotted name for messages. places: filled with path -> place of the key. Of a key that is there twice, which
// is reported, the first counts. refused: takes the path of each number that JSON cannot have, which is reported too.
void writeJson(const YamlNode &node, const std::string &name, std::string &json, std::map<std::string, Place> &places,
               std::set<std::string> &refused, const Report &report);

// A small UTF-8 file: a recipe or a config.json.
std::variant<std::string, Diagnostic> readTextFile(const std::string &path);

// Reads a config.json. duplicates: filled with the keys that are there twice, because parsers disagree on which one
// counts.
std::variant<ModelConfig, Diagnostic> readModelConfig(const std::string &path, std::vector<Diagnostic> &duplicates);

} // namespace recipe::frontend

#endif // RECIPE_FRONTEND_MODELCONFIG_H
