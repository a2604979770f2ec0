//===- Schema.h - what recipe.proto says, in a form that is easy to ask -------------------------------------------===//
//
// A view of the descriptors and options of recipe.proto; immutable once built.
//
//===-------------------------------------------------------------------------------------------------------------===//
#ifndef RECIPE_FRONTEND_SCHEMA_H
#define RECIPE_FRONTEND_SCHEMA_H

#include "compiler/frontend/recipe.pb.h"

#include <string>
#include <vector>

namespace recipe::frontend {

struct Key {
  std::string section;
  std::string name; // dotted: optim.lr
  const google::protobuf::FieldDescriptor *sectionField;
  const google::protobuf::FieldDescriptor *field;
  const KeyOptions *options;

  const std::string &shortName() const { return field->name(); }
  bool isEnum() const { return field->cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_ENUM; }
  // The oneof that the key belongs to, or null.
  const google::protobuf::OneofDescriptor *choice() const { return field->real_containing_oneof(); }
};

class Schema {
public:
  Schema();

  const std::vector<Key> &keys() const { return all; } // in the order of recipe.proto
  std::vector<std::string> sections() const;
  bool hasSection(const std::string &section) const;
  const Key *find(const std::string &dotted) const;
  std::vector<const Key *> keysOf(const std::string &section) const;
  std::vector<const Key *> rivals(const Key &key) const; // the other keys of its choice

  // The dotted key that someone who wrote section.name probably meant; empty: no idea.
  std::string suggestKey(const std::string &section, const std::string &name) const;
  // The section or dotted key that someone who wrote name as a section probably meant; empty: no idea.
  std::string suggestSection(const std::string &name) const;

private:
  std::vector<Key> all;
};

// The candidate closest to text if it is close enough to be a misspelling, else empty.
std::string closest(const std::string &text, const std::vector<std::string> &candidates);

// The values of an enumeration, in order.
std::vector<std::string> enumValues(const Key &key);

// "must be ..." of a value of the key's type, without its bounds: "a whole number".
std::string typePhrase(const Key &key);

// The bounds: ">= 0 and < 1" or "0 or >= 1e-10"; empty if there are none.
std::string boundsPhrase(const KeyOptions &options);

// Shortest decimal text that reads back as the same number.
std::string numberText(double value);

} // namespace recipe::frontend

#endif // RECIPE_FRONTEND_SCHEMA_H
