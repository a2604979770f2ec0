#include "compiler/frontend/KeyReference.h"

#include "compiler/frontend/Schema.h"

#include "google/protobuf/descriptor.pb.h"

#include <map>
#include <vector>

namespace recipe::frontend {

using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptorProto;
using google::protobuf::FileDescriptorSet;

namespace {

using Path = std::vector<int>; // of numbers of fields and indices in a FileDescriptorProto

// Leading comments by path. The descriptors in generated code keep none.
class Comments {
public:
  bool parse(const std::string &descriptorSet) {
    FileDescriptorSet files;
    if (!files.ParseFromString(descriptorSet))
      return false;
    for (const FileDescriptorProto &file : files.file()) {
      if (file.name() != Recipe::descriptor()->file()->name())
        continue;
      for (const auto &location : file.source_code_info().location())
        if (!location.leading_comments().empty())
          byPath[Path(location.path().begin(), location.path().end())] = oneLine(location.leading_comments());
      return true;
    }
    return false;
  }

  std::string of(const FieldDescriptor &field) {
    return find({4, field.containing_type()->index(), 2, field.index()}, field.full_name());
  }
  std::string of(const google::protobuf::EnumValueDescriptor &value) {
    const EnumDescriptor &type = *value.type();
    return find({4, type.containing_type()->index(), 4, type.index(), 2, value.index()}, value.full_name());
  }

  std::vector<std::string> missing; // names of what has no comment

private:
  std::string find(const Path &path, const std::string &name) {
    auto found = byPath.find(path);
    if (found != byPath.end())
      return found->second;
    missing.push_back(name);
    return "";
  }

  static std::string oneLine(const std::string &comment) {
    std::string text;
    for (char c : comment) {
      bool space = c == ' ' || c == '\n';
      if (!space)
        text += c;
      else if (!text.empty() && text.back() != ' ')
        text += ' ';
    }
    while (!text.empty() && text.back() == ' ')
      text.pop_back();
    return text;
  }

  std::map<Path, std::string> byPath;
};

std::string code(const std::string &text) { return "`" + text + "`"; }

std::string cells(const std::vector<std::string> &texts) {
  std::string row = "|";
  for (std::string text : texts) {
    for (size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2)
      text.insert(at, 1, '\\');
    row += " " + text + " |";
  }
  return row + "\n";
}

std::string typeCell(const Key &key) {
  std::string text;
  if (key.isEnum()) {
    for (const std::string &value : enumValues(key))
      text += (text.empty() ? "" : ", ") + code(value);
  } else if (key.options->is_path()) {
    text = key.options->one_or_more() ? "path or a list of paths"
           : key.field->is_repeated() ? "a list of paths"
                                      : "path";
  } else {
    text = typePhrase(key);
  }
  std::string bounds = boundsPhrase(*key.options);
  if (!bounds.empty())
    text += ", " + bounds;
  return text + (key.options->power_of_two() ? ", a power of two" : "");
}

std::string defaultCell(const Schema &schema, const Key &key) {
  if (key.options->has_default_value())
    return code(key.options->default_value());
  if (key.options->has_derived())
    return key.options->derived();
  if (key.options->required())
    return "required";
  std::string rivals;
  for (const Key *rival : schema.rivals(key))
    rivals += (rivals.empty() ? "" : " or ") + code(rival->shortName());
  bool needed = key.choice() && key.choice()->options().GetExtension(choice).required();
  return (needed ? "required unless " : "instead of ") + rivals;
}

std::string meaningCell(const Key &key, Comments &comments) {
  std::string text = comments.of(*key.field);
  if (!key.isEnum())
    return text;
  const EnumDescriptor &type = *key.field->enum_type();
  for (int i = 0; i < type.value_count(); ++i) {
    const ValueOptions &options = type.value(i)->options().GetExtension(value);
    text += " " + code(type.value(i)->name()) + ": " + comments.of(*type.value(i));
    if (options.has_not_yet())
      text += " (Not built yet.)";
  }
  return text;
}

} // namespace

std::variant<std::string, ReferenceError> keyReference(const std::string &descriptorSet) {
  Comments comments;
  if (!comments.parse(descriptorSet))
    return ReferenceError{"not a descriptor set of recipe.proto"};
  Schema schema;
  std::string built, unbuilt;
  for (const std::string &section : schema.sections()) {
    std::string rows;
    for (const Key *key : schema.keysOf(section)) {
      if (key->options->has_not_yet())
        unbuilt += cells({code(key->name), typeCell(*key),
                          key->options->has_neutral() ? code(key->options->neutral()) : "none",
                          meaningCell(*key, comments), key->options->not_yet()});
      else
        rows += cells({code(key->shortName()), typeCell(*key), defaultCell(schema, *key),
                       key->options->run_time() ? "run" : "compile", meaningCell(*key, comments)});
    }
    std::string about = comments.of(*Recipe::descriptor()->FindFieldByName(section));
    if (!rows.empty())
      built += "\n## " + section + "\n\n" + about + "\n\n" + cells({"key", "value", "default", "fixed at", "meaning"}) +
               "|---|---|---|---|---|\n" + rows;
  }
  if (!comments.missing.empty())
    return ReferenceError{"'" + comments.missing.front() + "' has no comment in recipe.proto"};
  return built + "\n## Recognised, not built yet\n\n" +
         cells({"key", "value", "accepted value", "meaning", "what there is instead"}) + "|---|---|---|---|---|\n" +
         unbuilt;
}

} // namespace recipe::frontend
