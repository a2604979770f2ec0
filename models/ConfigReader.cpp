#include "models/ConfigReader.h"
#include "llvm/Support/FormatVariadic.h"
#include <cassert>
#include <cstdio>
#include <cstdlib>

using namespace llvm;
using namespace recipe::models;

std::string recipe::models::numberText(double value) {
  char text[32];
  for (int digits = 6; digits <= 17; ++digits) {
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    if (std::strtod(text, nullptr) == value)
      break;
  }
  return text;
}

static std::string asText(const json::Value &value) {
  if (value.kind() == json::Value::Number && !value.getAsInteger())
    return numberText(*value.getAsNumber());
  return formatv("{0}", value).str();
}

ConfigReader::ConfigReader(const json::Object &object, std::vector<ArrayRef<ConfigKey>> tables, std::string prefix,
                           std::vector<ConfigProblem> &problems)
    : config(object), tables(std::move(tables)), prefix(std::move(prefix)), problems(problems) {
  std::vector<StringRef> names;
  for (auto &entry : config)
    names.push_back(entry.first);
  sort(names); // json::Object has no order of its own
  for (StringRef name : names) {
    const ConfigKey *key = find(name);
    if (!key)
      checkUnknown(name);
    else if (key->use == KeyUse::Fixed)
      checkFixed(*key, *config.get(name));
  }
}

std::string ConfigReader::path(StringRef key) const { return prefix.empty() ? key.str() : prefix + "." + key.str(); }

bool ConfigReader::sound(std::initializer_list<StringRef> names) const {
  return none_of(names, [&](StringRef name) { return unsound.contains(name); });
}

void ConfigReader::problem(StringRef key, const Twine &rule) {
  unsound.insert(key);
  problems.push_back({path(key), ("'" + path(key) + "' " + rule).str()});
}

const ConfigKey *ConfigReader::find(StringRef name) const {
  for (ArrayRef<ConfigKey> table : tables)
    for (const ConfigKey &key : table)
      if (name == key.name)
        return &key;
  return nullptr;
}

void ConfigReader::checkUnknown(StringRef name) {
  const char *nearest = nullptr;
  unsigned best = std::max<unsigned>(2, name.size() / 3) + 1;
  auto offer = [&](StringRef candidate, const char *meant) {
    unsigned distance = name.edit_distance(candidate, true, best);
    if (distance < best)
      best = distance, nearest = meant;
  };
  for (ArrayRef<ConfigKey> table : tables)
    for (const ConfigKey &key : table) {
      offer(key.name, key.name);
      if (key.alias)
        offer(key.alias, key.name);
    }
  problem(name, nearest ? "is not a key of this configuration; did you mean '" + path(nearest) + "'?"
                        : std::string("is not a key of this configuration"));
}

void ConfigReader::checkFixed(const ConfigKey &key, const json::Value &value) {
  Expected<json::Value> accepted = json::parse(key.accepted);
  assert(accepted && accepted->getAsArray() && "a list of values");
  std::string list;
  for (const json::Value &one : *accepted->getAsArray()) {
    if (one == value)
      return;
    list += (list.empty() ? "" : " or ") + asText(one);
  }
  problem(key.name, "must be " + list + ", got " + asText(value));
}

const json::Value *ConfigReader::value(StringRef key) const {
  assert(find(key) && find(key)->use != KeyUse::Ignored && "a key that is read is in the table");
  const json::Value *found = config.get(key);
  return found && found->kind() != json::Value::Null ? found : nullptr;
}

bool ConfigReader::has(StringRef key) const { return value(key) != nullptr; }

int64_t ConfigReader::size(StringRef key, std::optional<int64_t> fallback, int64_t most) {
  const json::Value *found = value(key);
  if (!found) {
    if (!fallback)
      problem(key, "is missing");
    return fallback.value_or(1);
  }
  std::optional<int64_t> number = found->getAsInteger();
  if (number && *number >= 1 && *number <= most)
    return *number;
  problem(key, "must be an integer from 1 to " + Twine(most) + ", got " + asText(*found));
  return 1;
}

double ConfigReader::number(StringRef key, std::optional<double> fallback) {
  NumberRange range = find(key)->range;
  const json::Value *found = value(key);
  if (!found) {
    if (!fallback)
      problem(key, "is missing");
    return fallback.value_or(range.least);
  }
  std::optional<double> number = found->getAsNumber();
  if (number && *number >= range.least && *number <= range.most)
    return *number;
  problem(key, "must be a number from " + numberText(range.least) + " to " + numberText(range.most) + ", got " +
                   asText(*found));
  return range.least;
}

bool ConfigReader::flag(StringRef key, bool fallback) {
  const json::Value *found = value(key);
  if (!found)
    return fallback;
  if (std::optional<bool> truth = found->getAsBoolean())
    return *truth;
  problem(key, "must be true or false, got " + asText(*found));
  return fallback;
}

std::string ConfigReader::text(StringRef key, StringRef fallback) {
  const json::Value *found = value(key);
  if (!found)
    return fallback.str();
  if (std::optional<StringRef> string = found->getAsString())
    return string->str();
  problem(key, "must be a string, got " + asText(*found));
  return fallback.str();
}

const json::Object *ConfigReader::object(StringRef key) {
  const json::Value *found = value(key);
  if (!found)
    return nullptr;
  if (!found->getAsObject())
    problem(key, "must be an object or null, got " + asText(*found));
  return found->getAsObject();
}
