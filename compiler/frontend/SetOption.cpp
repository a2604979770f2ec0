// --set key=value: an edit of the YAML tree before it is checked, so that both go through the same checks.
#include "compiler/frontend/Draft.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

namespace recipe::frontend {
namespace {

YamlNode mapping(Place place) {
  YamlNode node;
  node.kind = YamlNode::Map;
  node.place = place;
  return node;
}

YamlEntry *lastMapNamed(YamlNode &parent, const std::string &name) {
  for (YamlEntry &entry : llvm::reverse(parent.entries))
    if (entry.key == name && entry.value.kind == YamlNode::Map)
      return &entry;
  return nullptr;
}

void removeKey(YamlNode &root, const std::string &section, const std::string &key, bool onlyOfFile) {
  for (YamlEntry &entry : root.entries) {
    if (entry.key != section)
      continue;
    llvm::erase_if(entry.value.entries,
                   [&](const YamlEntry &e) { return e.key == key && !(onlyOfFile && e.place.source != 0); });
  }
}

// Walks down path, making mappings on the way, and puts the value at its end.
void put(YamlNode &parent, llvm::ArrayRef<std::string> path, YamlNode value, Place place) {
  if (path.size() == 1) {
    llvm::erase_if(parent.entries, [&](const YamlEntry &e) { return e.key == path[0]; });
    parent.entries.push_back({path[0], place, std::move(value)});
    return;
  }
  YamlEntry *inner = lastMapNamed(parent, path[0]);
  if (!inner) {
    parent.entries.push_back({path[0], place, mapping(place)});
    inner = &parent.entries.back();
  }
  put(inner->value, path.drop_front(), std::move(value), place);
}

} // namespace

void applySet(const Schema &schema, const std::string &assignment, unsigned source, YamlNode &root,
              Diagnostics &diagnostics) {
  Place place{source, 0, 0};
  auto [name, text] = llvm::StringRef(assignment).split('=');
  if (name.size() == assignment.size() || name.empty()) {
    diagnostics.error(place, "must be key=value");
    return;
  }
  std::variant<YamlNode, YamlError> parsed = parseYaml(text.str(), source);
  if (auto *error = std::get_if<YamlError>(&parsed)) {
    diagnostics.error(place, error->message);
    return;
  }
  std::vector<std::string> path;
  for (llvm::StringRef part : llvm::split(name, '.'))
    path.push_back(part.str());
  if (root.kind == YamlNode::Null)
    root = mapping(place);
  if (path.size() == 2) {
    removeKey(root, path[0], path[1], /*onlyOfFile=*/false);
    if (const Key *key = schema.find(name.str()))
      for (const Key *rival : schema.rivals(*key))
        removeKey(root, path[0], rival->shortName(), /*onlyOfFile=*/true);
  }
  put(root, path, std::move(std::get<YamlNode>(parsed)), place);
}

} // namespace recipe::frontend
