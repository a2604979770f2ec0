#include "compiler/frontend/Schema.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <charconv>

namespace recipe::frontend {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;

Schema::Schema() {
  const Descriptor *root = Recipe::descriptor();
  for (int s = 0; s < root->field_count(); ++s) {
    const FieldDescriptor *section = root->field(s);
    for (int k = 0; k < section->message_type()->field_count(); ++k) {
      const FieldDescriptor *field = section->message_type()->field(k);
      all.push_back({section->name(), section->name() + "." + field->name(), section, field,
                     &field->options().GetExtension(key)});
    }
  }
}

std::vector<std::string> Schema::sections() const {
  std::vector<std::string> names;
  const Descriptor *root = Recipe::descriptor();
  for (int s = 0; s < root->field_count(); ++s)
    names.push_back(root->field(s)->name());
  return names;
}

bool Schema::hasSection(const std::string &section) const { return llvm::is_contained(sections(), section); }

const Key *Schema::find(const std::string &dotted) const {
  auto found = llvm::find_if(all, [&](const Key &k) { return k.name == dotted; });
  return found == all.end() ? nullptr : &*found;
}

std::vector<const Key *> Schema::keysOf(const std::string &section) const {
  std::vector<const Key *> keys;
  for (const Key &k : all)
    if (k.section == section)
      keys.push_back(&k);
  return keys;
}

std::vector<const Key *> Schema::rivals(const Key &key) const {
  std::vector<const Key *> others;
  if (!key.choice())
    return others;
  for (const Key &k : all)
    if (k.choice() == key.choice() && k.field != key.field)
      others.push_back(&k);
  return others;
}

// Two letters swapped are one slip of the hand. Insensitive to case; more than the limit is limit + 1.
static unsigned slips(const std::string &text, const std::string &candidate, unsigned limit) {
  unsigned best = llvm::StringRef(text).edit_distance_insensitive(candidate, true, limit);
  if (text.size() > 64) // no name is that long
    return best;
  std::string swapped = text;
  for (size_t i = 0; i + 1 < text.size(); ++i) {
    std::swap(swapped[i], swapped[i + 1]);
    best = std::min(best, llvm::StringRef(swapped).edit_distance_insensitive(candidate, true, limit) + 1);
    std::swap(swapped[i], swapped[i + 1]);
  }
  return best;
}

std::string closest(const std::string &text, const std::vector<std::string> &candidates) {
  unsigned limit = std::max<unsigned>(1, text.size() / 3);
  std::string best;
  for (const std::string &candidate : candidates) {
    unsigned distance = slips(text, candidate, limit);
    if (distance > limit || distance >= candidate.size())
      continue;
    if (best.empty() || distance < limit)
      best = candidate;
    limit = std::min(limit, distance);
  }
  return best;
}

namespace {

// Exactly this key, by its own or by another trainer's name.
std::string byName(const std::vector<const Key *> &keys, const std::string &name) {
  for (const Key *k : keys)
    if (k->shortName() == name || llvm::is_contained(k->options->also_called(), name))
      return k->name;
  return "";
}

std::string bySpelling(const std::vector<const Key *> &keys, const std::string &name) {
  std::vector<std::string> names;
  for (const Key *k : keys)
    names.push_back(k->shortName());
  std::string found = closest(name, names);
  return found.empty() ? "" : byName(keys, found);
}

std::vector<const Key *> pointers(const std::vector<Key> &keys) {
  std::vector<const Key *> all;
  for (const Key &k : keys)
    all.push_back(&k);
  return all;
}

} // namespace

std::string Schema::suggestKey(const std::string &section, const std::string &name) const {
  for (const std::vector<const Key *> &keys : {keysOf(section), pointers(all)}) {
    for (auto *search : {byName, bySpelling}) {
      std::string found = search(keys, name);
      if (!found.empty())
        return found;
    }
  }
  return "";
}

std::string Schema::suggestSection(const std::string &name) const {
  std::vector<const Key *> keys = pointers(all);
  std::string found = byName(keys, name);
  if (found.empty())
    found = closest(name, sections());
  if (found.empty())
    found = bySpelling(keys, name);
  return found;
}

std::vector<std::string> enumValues(const Key &key) {
  std::vector<std::string> values;
  const EnumDescriptor *type = key.field->enum_type();
  for (int i = 0; i < type->value_count(); ++i)
    values.push_back(type->value(i)->name());
  return values;
}

std::string typePhrase(const Key &key) {
  std::string one;
  switch (key.field->cpp_type()) {
  case FieldDescriptor::CPPTYPE_INT64:
    one = key.options->is_bytes() ? "an amount of memory such as 64GiB" : "a whole number";
    break;
  case FieldDescriptor::CPPTYPE_DOUBLE:
    one = "a number";
    break;
  case FieldDescriptor::CPPTYPE_BOOL:
    one = "true or false";
    break;
  case FieldDescriptor::CPPTYPE_ENUM:
    one = "one of " + llvm::join(enumValues(key), ", ");
    break;
  default:
    one = key.options->is_json() ? "a mapping" : "text";
    break;
  }
  if (!key.field->is_repeated())
    return one;
  if (key.options->one_or_more())
    return one + " or a list of " + one;
  std::string each = one == "a number" ? "numbers" : one;
  return key.options->has_count() ? "a list of " + std::to_string(key.options->count()) + " " + each
                                  : "a list of " + each;
}

std::string boundsPhrase(const KeyOptions &options) {
  std::string text;
  if (options.has_min())
    text = (options.or_zero() ? "0 or " : "") + std::string(options.min_exclusive() ? "> " : ">= ") +
           numberText(options.min());
  if (options.has_max())
    text +=
        (text.empty() ? "" : " and ") + std::string(options.max_exclusive() ? "< " : "<= ") + numberText(options.max());
  return text;
}

std::string numberText(double value) {
  // Fixed notation where the shortest text would turn a round count such as 1048576 into an exponent.
  char buffer[64];
  bool whole = value > -1e15 && value < 1e15 && value == static_cast<double>(static_cast<long long>(value));
  std::to_chars_result end = whole ? std::to_chars(buffer, buffer + sizeof(buffer), static_cast<long long>(value))
                                   : std::to_chars(buffer, buffer + sizeof(buffer), value);
  return std::string(buffer, end.ptr);
}

} // namespace recipe::frontend
