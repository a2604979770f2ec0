#include "compiler/frontend/Values.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

#include <charconv>
#include <cmath>
#include <optional>

namespace recipe::frontend {

using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

namespace {

constexpr const char *byteUnits[] = {"KiB", "MiB", "GiB", "TiB", "kB", "KB", "MB", "GB", "TB"};
constexpr int64_t byteFactors[] = {1ll << 10, 1ll << 20, 1ll << 30,    1ll << 40,      1000,
                                   1000,      1000000,   1000000000ll, 1000000000000ll};
static_assert(std::size(byteUnits) == std::size(byteFactors));

std::string quoted(const std::string &text) { return llvm::formatv("{0}", llvm::json::Value(text)).str(); }

// What the user wrote, for the end of a message.
std::string found(const YamlNode &node) {
  switch (node.kind) {
  case YamlNode::Null:
    return "nothing";
  case YamlNode::List:
    return node.items.empty() ? "an empty list" : "a list";
  case YamlNode::Map:
    return "a mapping";
  case YamlNode::Scalar:
    break;
  }
  std::string text = node.text.size() > 60 ? node.text.substr(0, 57) + "..." : node.text;
  text = llvm::json::fixUTF8(text);
  bool plain = !node.quoted && llvm::all_of(text, [](char c) { return static_cast<unsigned char>(c) >= ' '; });
  return plain ? text : quoted(text);
}

std::optional<int64_t> wholeNumber(const std::string &text) {
  const char *begin = text.data() + (!text.empty() && text[0] == '+');
  int64_t value;
  auto [end, error] = std::from_chars(begin, text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

std::optional<double> realNumber(const std::string &text) {
  const char *begin = text.data() + (!text.empty() && text[0] == '+');
  double value;
  auto [end, error] = std::from_chars(begin, text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

std::optional<int64_t> byteCount(const std::string &text) {
  if (numberKind(text) == NumberKind::Whole)
    return wholeNumber(text);
  for (size_t i = 0; i < std::size(byteUnits); ++i) {
    llvm::StringRef number(text);
    if (!number.consume_back(byteUnits[i]))
      continue;
    number = number.rtrim(' ');
    if (numberKind(number.str()) == NumberKind::NotANumber)
      return std::nullopt;
    std::optional<double> amount = realNumber(number.str());
    if (!amount || std::abs(*amount * byteFactors[i]) >= 9.2e18)
      return std::nullopt;
    return static_cast<int64_t>(*amount * byteFactors[i]);
  }
  return std::nullopt;
}

// Reads single values of one key; a list has one of these for all elements.
class ValueReader {
public:
  ValueReader(const Key &key, Message &section, const Report &report)
      : key(key), section(section), reflection(*section.GetReflection()), report(report) {}

  // name: of the key, or of one element.
  bool read(const std::string &name, const YamlNode &node) {
    if (node.kind != YamlNode::Scalar)
      return wrongType(name, node);
    switch (key.field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT64:
      return readInteger(name, node);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return readDouble(name, node);
    case FieldDescriptor::CPPTYPE_BOOL:
      return readBool(name, node);
    case FieldDescriptor::CPPTYPE_ENUM:
      return readEnum(name, node);
    case FieldDescriptor::CPPTYPE_STRING:
      return readText(name, node);
    default:
      llvm_unreachable("recipe.proto uses a type that the reader does not know");
    }
  }

private:
  bool fail(const YamlNode &node, const std::string &message) {
    report(node.place, message);
    return false;
  }
  bool wrongType(const std::string &name, const YamlNode &node) {
    std::string what = key.field->is_repeated() && key.field->cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE ? "a number"
                       : key.field->is_repeated() ? "text"
                                                  : typePhrase(key);
    return fail(node, "'" + name + "' must be " + what + ", got " + found(node));
  }

  bool inBounds(const std::string &name, const YamlNode &node, double value) {
    const KeyOptions &o = *key.options;
    bool low = o.has_min() && (o.min_exclusive() ? value <= o.min() : value < o.min());
    low &= !(o.or_zero() && value == 0);
    bool high = o.has_max() && (o.max_exclusive() ? value >= o.max() : value > o.max());
    return !(low || high) || fail(node, "'" + name + "' must be " + boundsPhrase(o) + ", got " + found(node));
  }

  bool readInteger(const std::string &name, const YamlNode &node) {
    std::optional<int64_t> value;
    if (key.options->is_bytes()) {
      value = byteCount(node.text);
      if (!value)
        return wrongType(name, node);
    } else {
      if (node.quoted || numberKind(node.text) != NumberKind::Whole)
        return wrongType(name, node);
      value = wholeNumber(node.text);
      if (!value)
        return fail(node,
                    "'" + name + "' must be " + (node.text[0] == '-' ? ">= -2^63" : "< 2^63") + ", got " + found(node));
    }
    if (!inBounds(name, node, static_cast<double>(*value)))
      return false;
    if (key.options->power_of_two() && (*value & (*value - 1)))
      return fail(node, "'" + name + "' must be a power of two, got " + found(node));
    reflection.SetInt64(&section, key.field, *value);
    return true;
  }

  bool readDouble(const std::string &name, const YamlNode &node) {
    if (node.quoted || numberKind(node.text) == NumberKind::NotANumber)
      return wrongType(name, node);
    std::optional<double> value = realNumber(node.text);
    if (!value)
      return fail(node, "'" + name + "' must fit a double, got " + found(node));
    if (!inBounds(name, node, *value))
      return false;
    if (key.field->is_repeated())
      reflection.AddDouble(&section, key.field, *value);
    else
      reflection.SetDouble(&section, key.field, *value);
    return true;
  }

  bool readBool(const std::string &name, const YamlNode &node) {
    bool isTrue = node.text == "true" || node.text == "True" || node.text == "TRUE";
    bool isFalse = node.text == "false" || node.text == "False" || node.text == "FALSE";
    if (node.quoted || !(isTrue || isFalse))
      return wrongType(name, node);
    reflection.SetBool(&section, key.field, isTrue);
    return true;
  }

  bool readEnum(const std::string &name, const YamlNode &node) {
    const EnumValueDescriptor *value = key.field->enum_type()->FindValueByName(node.text);
    if (!value) {
      std::string guess = closest(node.text, enumValues(key));
      return fail(node, "'" + name + "' must be " + typePhrase(key) + ", got " + found(node) +
                            (guess.empty() ? "" : ", did you mean " + guess + "?"));
    }
    const ValueOptions &options = value->options().GetExtension(frontend::value);
    if (options.has_not_yet())
      return fail(node, "'" + name + ": " + node.text + "' is recognised but not built yet: " + options.not_yet());
    reflection.SetEnum(&section, key.field, value);
    return true;
  }

  bool readText(const std::string &name, const YamlNode &node) {
    if (node.text.empty())
      return fail(node, "'" + name + "' may not be empty");
    if (node.text.find('\0') != std::string::npos)
      return fail(node, "'" + name + "' may not contain a zero byte");
    if (key.options->is_path() && node.text[0] == '~')
      return fail(node, "'" + name + "' may not start with ~, which only a shell expands, got " + found(node));
    if (key.field->is_repeated())
      reflection.AddString(&section, key.field, node.text);
    else
      reflection.SetString(&section, key.field, node.text);
    return true;
  }

  const Key &key;
  Message &section;
  const Reflection &reflection;
  const Report &report;
};

std::string elementText(const Key &key, const Message &section, int index) {
  const Reflection &reflection = *section.GetReflection();
  bool list = key.field->is_repeated();
  switch (key.field->cpp_type()) {
  case FieldDescriptor::CPPTYPE_INT64: {
    int64_t value = reflection.GetInt64(section, key.field);
    for (size_t i : {3, 2, 1, 0})
      if (key.options->is_bytes() && value && value % byteFactors[i] == 0)
        return std::to_string(value / byteFactors[i]) + byteUnits[i];
    return std::to_string(value);
  }
  case FieldDescriptor::CPPTYPE_DOUBLE:
    return numberText(list ? reflection.GetRepeatedDouble(section, key.field, index)
                           : reflection.GetDouble(section, key.field));
  case FieldDescriptor::CPPTYPE_BOOL:
    return reflection.GetBool(section, key.field) ? "true" : "false";
  case FieldDescriptor::CPPTYPE_ENUM:
    return reflection.GetEnum(section, key.field)->name();
  case FieldDescriptor::CPPTYPE_STRING: {
    std::string text =
        list ? reflection.GetRepeatedString(section, key.field, index) : reflection.GetString(section, key.field);
    return key.options->is_json() ? text : scalarText(text);
  }
  default:
    llvm_unreachable("recipe.proto uses a type that the reader does not know");
  }
}

} // namespace

NumberKind numberKind(const std::string &text) {
  llvm::StringRef rest(text);
  if (!rest.consume_front("-"))
    rest.consume_front("+");
  auto digits = [&] {
    size_t count = rest.take_while(llvm::isDigit).size();
    rest = rest.drop_front(count);
    return count;
  };
  size_t before = digits(), after = 0;
  bool real = rest.consume_front(".");
  if (real)
    after = digits();
  if (before + after == 0)
    return NumberKind::NotANumber;
  if (rest.consume_front_insensitive("e")) {
    real = true;
    if (!rest.consume_front("-"))
      rest.consume_front("+");
    if (!digits())
      return NumberKind::NotANumber;
  }
  if (!rest.empty())
    return NumberKind::NotANumber;
  return real ? NumberKind::Real : NumberKind::Whole;
}

std::string scalarText(const std::string &text) {
  auto harmless = [](char c) { return llvm::isAlnum(c) || c == '_' || c == '-' || c == '.' || c == '/'; };
  std::string lower = llvm::StringRef(text).lower();
  bool word = lower == "true" || lower == "false" || lower == "null";
  bool plain = !text.empty() && llvm::all_of(text, harmless) && text[0] != '-' && !word &&
               numberKind(text) == NumberKind::NotANumber;
  return plain ? text : quoted(llvm::json::fixUTF8(text));
}

bool readValue(const Key &key, const YamlNode &node, Place place, Message &section, const Report &report) {
  if (node.kind == YamlNode::Null) {
    report(place, "'" + key.name + "' must be " + typePhrase(key) + ", got nothing");
    return false;
  }
  if (!key.field->is_repeated())
    return ValueReader(key, section, report).read(key.name, node);

  if (key.options->one_or_more() && node.kind == YamlNode::Scalar) {
    section.GetReflection()->ClearField(&section, key.field);
    return ValueReader(key, section, report).read(key.name, node);
  }
  if (node.kind != YamlNode::List || (key.options->one_or_more() && node.items.empty())) {
    report(node.place, "'" + key.name + "' must be " + typePhrase(key) + ", got " + found(node));
    return false;
  }
  if (key.options->has_count() && node.items.size() != static_cast<size_t>(key.options->count())) {
    report(node.place,
           "'" + key.name + "' must be " + typePhrase(key) + ", got a list of " + std::to_string(node.items.size()));
    return false;
  }
  section.GetReflection()->ClearField(&section, key.field);
  bool good = true;
  for (auto [i, item] : llvm::enumerate(node.items))
    good &= ValueReader(key, section, report).read(key.name + "[" + std::to_string(i) + "]", item);
  if (!good)
    section.GetReflection()->ClearField(&section, key.field);
  return good;
}

std::string valueText(const Key &key, const Message &section) {
  if (!key.field->is_repeated())
    return elementText(key, section, 0);
  if (key.options->one_or_more() && section.GetReflection()->FieldSize(section, key.field) == 1)
    return elementText(key, section, 0);
  std::string text = "[";
  for (int i = 0, e = section.GetReflection()->FieldSize(section, key.field); i < e; ++i)
    text += (i ? ", " : "") + elementText(key, section, i);
  return text + "]";
}

} // namespace recipe::frontend
