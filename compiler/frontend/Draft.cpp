#include "compiler/frontend/Draft.h"

#include "compiler/frontend/ModelConfig.h"
#include "compiler/frontend/Values.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <memory>

namespace recipe::frontend {

using google::protobuf::Message;

Message &sectionOf(Recipe &recipe, const Key &key) {
  return *recipe.GetReflection()->MutableMessage(&recipe, key.sectionField);
}

const Message &sectionOf(const Recipe &recipe, const Key &key) {
  return recipe.GetReflection()->GetMessage(recipe, key.sectionField);
}

bool hasValue(const Recipe &recipe, const Key &key) {
  const Message &section = sectionOf(recipe, key);
  const google::protobuf::Reflection &reflection = *section.GetReflection();
  return key.field->is_repeated() ? reflection.FieldSize(section, key.field) > 0
                                  : reflection.HasField(section, key.field);
}

namespace {

std::string shortNames(const std::vector<const Key *> &keys) {
  std::vector<std::string> names;
  for (const Key *key : keys)
    names.push_back(key->shortName());
  return llvm::join(names, ", ");
}

class RecipeReader {
public:
  RecipeReader(const Schema &schema, Diagnostics &diagnostics) : schema(schema), diagnostics(diagnostics) {}

  Draft read(const YamlNode &root) {
    if (root.kind != YamlNode::Map) {
      const char *what = root.kind == YamlNode::Null ? "nothing" : root.kind == YamlNode::List ? "a list" : "text";
      diagnostics.error(root.place, "a recipe is a mapping with the sections " + llvm::join(schema.sections(), ", ") +
                                        "; got " + what);
      return std::move(draft);
    }
    for (const YamlEntry &entry : root.entries)
      readSection(entry);
    return std::move(draft);
  }

private:
  // Two of one name in one text; --set replaces what the file says and is not a duplicate.
  bool isDuplicate(const std::map<std::string, Place> &seen, const std::string &name, Place place) {
    auto found = seen.find(name);
    return found != seen.end() && found->second.source == place.source && place.source == 0;
  }

  std::string where(Place place) const {
    if (place.source != 0)
      return "given by " + diagnostics.locate(place).file;
    return "given at " + std::to_string(place.line) + ":" + std::to_string(place.column);
  }

  void readSection(const YamlEntry &entry) {
    const std::string &name = entry.key;
    if (!schema.hasSection(name)) {
      std::string guess = schema.suggestSection(name);
      diagnostics.error(entry.place, "unknown section '" + name + "'" +
                                         (guess.empty() ? ", the sections are " + llvm::join(schema.sections(), ", ")
                                                        : ", did you mean '" + guess + "'?"));
      return;
    }
    if (isDuplicate(draft.sections, name, entry.place))
      diagnostics.error(entry.place, "section '" + name + "' is already " + where(draft.sections[name]));
    else
      draft.sections.try_emplace(name, entry.place);
    if (entry.value.kind == YamlNode::Null)
      return; // a section without keys
    if (entry.value.kind != YamlNode::Map) {
      std::string got = entry.value.kind == YamlNode::List ? "a list" : entry.value.text;
      diagnostics.error(entry.value.place, "'" + name + "' is a section with the keys " +
                                               shortNames(schema.keysOf(name)) + "; got " + got);
      // What is missing in a section that could not be read is not worth saying.
      for (const Key *key : schema.keysOf(name))
        draft.refused.insert(key->name);
      return;
    }
    for (const YamlEntry &key : entry.value.entries)
      readKey(name, key);
  }

  void readKey(const std::string &section, const YamlEntry &entry) {
    std::string name = section + "." + entry.key;
    const Key *key = schema.find(name);
    if (!key) {
      std::string guess = schema.suggestKey(section, entry.key);
      draft.refused.insert(guess); // probably given, so do not call it missing
      diagnostics.error(entry.place,
                        "unknown key '" + name + "'" +
                            (guess.empty() ? ", the keys of '" + section + "' are " + shortNames(schema.keysOf(section))
                                           : ", did you mean '" + guess + "'?"));
      return;
    }
    if (isDuplicate(draft.given, name, entry.place)) {
      diagnostics.error(entry.place, "'" + name + "' is already " + where(draft.given[name]));
      return;
    }
    for (const Key *rival : schema.rivals(*key)) {
      if (!draft.given.count(rival->name))
        continue;
      diagnostics.error(entry.place,
                        "'" + name + "' excludes '" + rival->name + "', which is " + where(draft.given[rival->name]));
      draft.refused.insert(rival->name);
      draft.refused.insert(name);
    }
    draft.given[name] = entry.place;
    draft.valuePlace[name] = entry.value.kind == YamlNode::Null ? entry.place : entry.value.place;
    if (!readKnown(*key, entry))
      draft.refused.insert(name);
  }

  bool readKnown(const Key &key, const YamlEntry &entry) {
    if (key.options->has_not_yet())
      return readUnbuilt(key, entry);
    Report report = [&](Place place, std::string message) { diagnostics.error(place, std::move(message)); };
    if (key.options->is_json())
      return readConfig(key, entry, report);
    return readValue(key, entry.value, entry.place, sectionOf(draft.recipe, key), report);
  }

  // A key that is recognised only: the value that asks for nothing is fine.
  bool readUnbuilt(const Key &key, const YamlEntry &entry) {
    Report silent = [](Place, std::string) {};
    Message &section = sectionOf(draft.recipe, key);
    bool readable = readValue(key, entry.value, entry.place, section, silent);
    if (readable && key.options->has_neutral()) {
      std::unique_ptr<Message> neutral(section.New());
      std::variant<YamlNode, YamlError> value = parseYaml(key.options->neutral(), 0);
      if (readValue(key, std::get<YamlNode>(value), {}, *neutral, silent) &&
          valueText(key, section) == valueText(key, *neutral))
        return true;
    }
    diagnostics.error(entry.place, "'" + key.name + "' is recognised but not built yet: " + key.options->not_yet());
    return false;
  }

  bool readConfig(const Key &key, const YamlEntry &entry, const Report &report) {
    if (entry.value.kind != YamlNode::Map) {
      report(entry.value.kind == YamlNode::Null ? entry.place : entry.value.place,
             "'" + key.name +
                 "' must be a mapping with the keys of a Hugging Face config.json; a file goes to "
                 "'model.config_path'");
      return false;
    }
    std::string json;
    writeJson(entry.value, key.name, json, draft.configKeys, draft.configRefused, report);
    sectionOf(draft.recipe, key).GetReflection()->SetString(&sectionOf(draft.recipe, key), key.field, json);
    return true;
  }

  const Schema &schema;
  Diagnostics &diagnostics;
  Draft draft;
};

} // namespace

Draft readRecipe(const Schema &schema, const YamlNode &root, Diagnostics &diagnostics) {
  return RecipeReader(schema, diagnostics).read(root);
}

} // namespace recipe::frontend
