#include "runtime/loader/RunTimeKeys.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "runtime/base/EditDistance.h"
#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

using namespace recipe::rt;
using recipe::abi::RunTimeKey;

template <typename... T> static absl::Status invalid(const T &...text) {
  return absl::InvalidArgumentError(absl::StrCat(text...));
}

/// In the words of recipec.
static std::string boundsPhrase(const RunTimeKey &key) {
  std::string phrase;
  if (key.has_minimum())
    absl::StrAppend(&phrase, key.minimum_exclusive() ? "> " : ">= ", key.minimum());
  if (key.has_maximum())
    absl::StrAppend(&phrase, phrase.empty() ? "" : " and ", key.maximum_exclusive() ? "< " : "<= ", key.maximum());
  return phrase;
}

static absl::Status checkRange(const RunTimeKey &key, double value, const std::string &text) {
  bool low = key.has_minimum() && !(key.minimum_exclusive() ? value > key.minimum() : value >= key.minimum());
  bool high = key.has_maximum() && !(key.maximum_exclusive() ? value < key.maximum() : value <= key.maximum());
  if (low || high)
    return invalid("'", key.key(), "' must be ", boundsPhrase(key), ", got ", text);
  return absl::OkStatus();
}

/// As recipec reads numbers: no hexadecimal digits, no spaces.
template <typename Number> static bool parseNumber(const std::string &text, Number &value) {
  const char *end = text.data() + text.size();
  bool plus = text.size() > 1 && text[0] == '+' && text[1] != '-';
  auto [rest, error] = std::from_chars(text.data() + plus, end, value);
  return error == std::errc() && rest == end;
}

/// As YAML spells them.
static std::optional<bool> parseBoolean(const std::string &text) {
  if (text == "true" || text == "True" || text == "TRUE")
    return true;
  if (text == "false" || text == "False" || text == "FALSE")
    return false;
  return std::nullopt;
}

/// What `text` puts in run_values; 0 for a string.
static absl::StatusOr<double> parseValue(const RunTimeKey &key, const std::string &text) {
  double value = 0;
  switch (key.kind()) {
  case RunTimeKey::NUMBER:
    if (!parseNumber(text, value) || !std::isfinite(value))
      return invalid("'", key.key(), "' must be a number, got '", text, "'");
    break;
  case RunTimeKey::INTEGER: {
    int64_t integer;
    if (!parseNumber(text, integer))
      return invalid("'", key.key(), "' must be a whole number, got '", text, "'");
    value = double(integer);
    break;
  }
  case RunTimeKey::STRING:
    return 0.0;
  case RunTimeKey::STRINGS:
    if (absl::StatusOr<std::vector<std::string>> list = parseList(text); !list.ok())
      return invalid("'", key.key(), "' must be text or a list of text, ", list.status().message(), ", got '", text,
                     "'");
    return 0.0;
  case RunTimeKey::BOOLEAN:
    if (std::optional<bool> truth = parseBoolean(text))
      return *truth ? 1.0 : 0.0;
    return invalid("'", key.key(), "' must be true or false, got '", text, "'");
  case RunTimeKey::ENUMERATION: {
    auto found = std::find(key.enum_values().begin(), key.enum_values().end(), text);
    if (found == key.enum_values().end())
      return invalid("'", key.key(), "' must be one of ", absl::StrJoin(key.enum_values(), ", "), ", got '", text, "'");
    return double(found - key.enum_values().begin());
  }
  default: // the enumeration is open: any number can arrive
    return invalid("'", key.key(), "': unknown kind ", int(key.kind()));
  }
  RCP_RETURN_IF_ERROR(checkRange(key, value, text));
  return value;
}

/// Why `name` cannot be set, if it is no run-time key.
static absl::Status refuseKey(const recipe::abi::Step &step, const std::string &name) {
  std::vector<std::string> runTime, all;
  for (const RunTimeKey &key : step.run_time_keys())
    runTime.push_back(key.key());
  all = runTime;
  for (const recipe::abi::ResolvedRecipe::Entry &entry : step.recipe().entries()) {
    if (entry.key() == name)
      return invalid(
          "'", name, "' is compiled in with the value ", entry.value(),
          "; change the recipe and compile again. Keys that a run may change: ", absl::StrJoin(runTime, ", "));
    if (absl::StartsWith(name, entry.key() + "."))
      return invalid("'", name, "' belongs to '", entry.key(),
                     "', which is compiled in; change the recipe and compile again",
                     ". Keys that a run may change: ", absl::StrJoin(runTime, ", "));
    all.push_back(entry.key());
  }
  std::string near = nearestName(name, all);
  return invalid("unknown key '", name, "'", near.empty() ? "" : absl::StrCat("; did you mean '", near, "'?"),
                 near.empty() ? absl::StrCat(". Keys that a run may change: ", absl::StrJoin(runTime, ", ")) : "");
}

void RunTimeKeys::store(const abi::RunTimeKey &key, const std::string &text, double value) {
  texts[key.key()] = text;
  if (key.slot() >= 0)
    values[size_t(key.slot())] = value;
}

/// Without a value, a key reads as this in its slot.
static const double unset = -1;

absl::StatusOr<RunTimeKeys> RunTimeKeys::resolve(const abi::Step &step, absl::Span<const std::string> overrides) {
  RunTimeKeys keys;
  std::map<std::string, const RunTimeKey *> byName;
  std::array<bool, RCP_RUN_VALUES> taken{};
  for (const RunTimeKey &key : step.run_time_keys()) {
    if (key.key().empty() || !byName.emplace(key.key(), &key).second)
      return invalid("run-time keys must be unique and not empty, got '", key.key(), "'");
    if (key.slot() < -1 || key.slot() >= RCP_RUN_VALUES || (key.slot() >= 0 && taken[size_t(key.slot())]))
      return invalid("run-time key '", key.key(), "': slot must be -1 or a free one below ", RCP_RUN_VALUES, ", got ",
                     key.slot());
    if (key.slot() >= 0)
      taken[size_t(key.slot())] = true;
    double value = unset;
    if (!key.value().empty()) {
      RCP_ASSIGN_OR_RETURN(value, parseValue(key, key.value()));
    }
    keys.store(key, key.value(), value);
  }

  std::vector<std::string> problems;
  std::set<std::string> given;
  for (const std::string &text : overrides) {
    size_t equals = text.find('=');
    if (equals == std::string::npos) {
      problems.push_back(absl::StrCat("--set must have the form key=value, got '", text, "'"));
      continue;
    }
    std::string name = text.substr(0, equals), newText = text.substr(equals + 1);
    auto found = byName.find(name);
    if (found == byName.end()) {
      problems.emplace_back(refuseKey(step, name).message());
      continue;
    }
    absl::StatusOr<double> value = parseValue(*found->second, newText);
    if (!value.ok()) {
      problems.emplace_back(value.status().message());
      continue;
    }
    const RunTimeKey &key = *found->second;
    for (const std::string &other : key.excludes()) {
      if (given.count(other))
        problems.push_back(absl::StrCat("only one of '", other, "' and '", name, "' may be set"));
      if (auto rival = byName.find(other); rival != byName.end())
        keys.store(*rival->second, "", unset);
    }
    given.insert(name);
    if (key.kind() == RunTimeKey::BOOLEAN) // one spelling
      newText = *value != 0 ? "true" : "false";
    keys.store(key, newText, *value);
  }
  if (!problems.empty())
    return absl::InvalidArgumentError(absl::StrJoin(problems, "\n"));
  return keys;
}

std::string RunTimeKeys::text(const std::string &key, const std::string &fallback) const {
  auto found = texts.find(key);
  return found == texts.end() ? fallback : found->second;
}

double RunTimeKeys::number(const std::string &key, double fallback) const {
  double value;
  return absl::SimpleAtod(text(key, ""), &value) ? value : fallback;
}

int64_t RunTimeKeys::integer(const std::string &key, int64_t fallback) const {
  int64_t value;
  return absl::SimpleAtoi(text(key, ""), &value) ? value : fallback;
}

bool RunTimeKeys::boolean(const std::string &key, bool fallback) const {
  std::string value = text(key, "");
  return value.empty() ? fallback : value == "true";
}

std::vector<std::string> RunTimeKeys::list(const std::string &key) const {
  // resolve() has seen that it can be read.
  std::string value = text(key, "");
  return value.empty() ? std::vector<std::string>() : *parseList(value);
}

absl::StatusOr<std::vector<std::string>> recipe::rt::parseList(const std::string &text) {
  if (!absl::StartsWith(text, "["))
    return std::vector<std::string>{text};
  std::vector<std::string> list;
  nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_array() && std::all_of(json.begin(), json.end(), [](const auto &item) { return item.is_string(); })) {
    list = json.get<std::vector<std::string>>();
  } else {
    if (text.back() != ']')
      return absl::InvalidArgumentError("a list must end with ]");
    for (absl::string_view word : absl::StrSplit(text.substr(1, text.size() - 2), ','))
      list.emplace_back(absl::StripAsciiWhitespace(word));
  }
  if (list.empty() || std::count(list.begin(), list.end(), ""))
    return absl::InvalidArgumentError("no element of a list may be empty");
  return list;
}

absl::StatusOr<int64_t> recipe::rt::lastUpdate(const RunTimeKeys &keys, int64_t wanted) {
  int64_t horizon = keys.integer("optim.max_steps", 0), warmUp = keys.integer("optim.warmup_steps", 0);
  if (horizon < 1)
    return invalid("the step has no 'optim.max_steps': it is not a training step");
  if (warmUp >= horizon)
    return invalid("'optim.warmup_steps' must be less than optim.max_steps, got ", warmUp, " and ", horizon);
  if (wanted > horizon)
    return invalid("--steps must not go beyond the schedule, optim.max_steps, got ", wanted, " and ", horizon,
                   "; --set optim.max_steps changes it");
  return wanted < 0 ? horizon : wanted;
}

absl::Status recipe::rt::checkEvaluationKeys(const RunTimeKeys &keys) {
  if (!keys.text("data.eval_path", "").empty() || keys.number("data.eval_fraction", 0) > 0)
    return absl::OkStatus();
  for (const char *key : {"logging.eval_interval", "logging.eval_steps"})
    if (int64_t value = keys.integer(key, 0); value > 0)
      return invalid("'", key, "' needs 'data.eval_path' or 'data.eval_fraction' > 0, got ", value, " and neither");
  return absl::OkStatus();
}
