//===- YamlTree.h - YAML text as a tree with positions ------------------------------------------------------------===//
//
// The only door to yaml-cpp: its exceptions end here, and no type of it shows. Keys keep their order and their
// duplicates, aliases are expanded.
//
//===-------------------------------------------------------------------------------------------------------------===//
#ifndef RECIPE_FRONTEND_YAMLTREE_H
#define RECIPE_FRONTEND_YAMLTREE_H

#include "compiler/frontend/Diagnostics.h"

#include <string>
#include <variant>
#include <vector>

namespace recipe::frontend {

struct YamlEntry;

struct YamlNode {
  enum Kind { Null, Scalar, List, Map };
  Kind kind = Null;
  std::string text;    // of a scalar
  bool quoted = false; // a scalar that can only be text
  Place place;
  std::vector<YamlNode> items;    // of a list
  std::vector<YamlEntry> entries; // of a map
};

struct YamlEntry {
  std::string key;
  Place place;
  YamlNode value;
};

struct YamlError {
  Place place;
  std::string message;
};

// Reads one YAML document; no document is a Null node. Places are in the given source.
std::variant<YamlNode, YamlError> parseYaml(const std::string &text, unsigned source);

} // namespace recipe::frontend

#endif // RECIPE_FRONTEND_YAMLTREE_H
