#include "compiler/frontend/ModelConfig.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <charconv>

namespace recipe::frontend {
namespace {

constexpr uint64_t maxTextBytes = 1 << 20;

std::string child(const std::string &path, const std::string &key) { return path.empty() ? key : path + "." + key; }

// What numberKind takes for a number, without a plus, without spare zeros, with digits on both sides of the point.
bool isJsonNumber(llvm::StringRef text) {
  text.consume_front("-");
  llvm::StringRef whole = text.take_while(llvm::isDigit), rest = text.drop_front(whole.size());
  bool point = rest.consume_front(".");
  return !whole.empty() && (whole == "0" || whole[0] != '0') && !(point && (rest.empty() || !llvm::isDigit(rest[0])));
}

class JsonWriter {
public:
  JsonWriter(std::string name, std::string &json, std::map<std::string, Place> &places, std::set<std::string> &refused,
             const Report &report)
      : name(std::move(name)), stream(json), out(stream), places(places), refused(refused), report(report) {}

  // key: the path without the places in lists.
  void write(const YamlNode &node, const std::string &path, const std::string &key) {
    switch (node.kind) {
    case YamlNode::Null:
      return out.value(nullptr);
    case YamlNode::Scalar:
      return writeScalar(node, path, key);
    case YamlNode::List:
      return writeList(node, path, key);
    case YamlNode::Map:
      return writeMap(node, path);
    }
    llvm_unreachable("all kinds are handled");
  }

private:
  void writeScalar(const YamlNode &node, const std::string &path, const std::string &key) {
    const std::string &text = node.text;
    if (!node.quoted && (text == "true" || text == "false"))
      out.value(text == "true");
    else if (!node.quoted && numberKind(text) != NumberKind::NotANumber)
      writeNumber(node, path, key);
    else
      out.value(text);
  }

  void writeNumber(const YamlNode &node, const std::string &path, const std::string &key) {
    double value;
    const char *begin = node.text.data() + (node.text[0] == '+');
    if (std::from_chars(begin, node.text.data() + node.text.size(), value).ec != std::errc()) {
      report(node.place, "'" + child(name, path) + "' must fit a double, got " + node.text);
      refused.insert(key);
      return out.value(node.text);
    }
    // Only YAML has the spellings +1, 007, .5 and 1.
    out.rawValue(isJsonNumber(node.text) ? node.text : numberText(value));
  }

  void writeList(const YamlNode &node, const std::string &path, const std::string &key) {
    out.array([&] {
      for (auto [i, item] : llvm::enumerate(node.items))
        write(item, path + "[" + std::to_string(i) + "]", key);
    });
  }

  void writeMap(const YamlNode &node, const std::string &path) {
    out.object([&] {
      for (const YamlEntry &entry : node.entries) {
        std::string inner = child(path, entry.key);
        auto [first, isNew] = places.try_emplace(inner, entry.place);
        if (!isNew) {
          report(entry.place, "'" + child(name, inner) + "' is already given at " + std::to_string(first->second.line) +
                                  ":" + std::to_string(first->second.column));
          continue;
        }
        out.attributeBegin(entry.key);
        write(entry.value, inner, inner);
        out.attributeEnd();
      }
    });
  }

  std::string name;
  llvm::raw_string_ostream stream;
  llvm::json::OStream out;
  std::map<std::string, Place> &places;
  std::set<std::string> &refused;
  const Report &report;
};

// Fills config.keys.
void collectKeys(const YamlNode &node, const std::string &path, ModelConfig &config,
                 std::vector<Diagnostic> &duplicates) {
  for (const YamlEntry &entry : node.entries) {
    std::string inner = child(path, entry.key);
    Location here{config.source.file, entry.place.line, entry.place.column};
    auto [first, isNew] = config.keys.try_emplace(inner, here);
    if (isNew)
      collectKeys(entry.value, inner, config, duplicates);
    else
      duplicates.push_back({here, "'" + inner + "' is already given at " + std::to_string(first->second.line) + ":" +
                                      std::to_string(first->second.column)});
  }
}

// JSON is close enough to YAML for the positions of its keys, which llvm::json does not keep.
void locateKeys(ModelConfig &config, std::vector<Diagnostic> &duplicates) {
  std::string text = config.json;
  std::replace(text.begin(), text.end(), '\t', ' ');
  std::variant<YamlNode, YamlError> tree = parseYaml(text, 0);
  if (const YamlNode *root = std::get_if<YamlNode>(&tree))
    collectKeys(*root, "", config, duplicates);
}

// llvm::json says "[line:column, byte=n]: message".
Diagnostic jsonError(const std::string &file, const std::string &text) {
  unsigned line = 0, column = 0;
  llvm::StringRef place(text);
  size_t end = text.find("]: ");
  bool read = place.consume_front("[") && !place.consumeInteger(10, line) && place.consume_front(":") &&
              !place.consumeInteger(10, column);
  if (!read || end == std::string::npos)
    return {{file, 0, 0}, "not valid JSON: " + text};
  return {{file, line, std::max(column, 1u)}, "not valid JSON: " + text.substr(end + 3)};
}

} // namespace

Diagnostic ModelConfig::errorAt(const std::string &path, std::string message) const {
  auto found = keys.find(path);
  if (!name.empty() && llvm::StringRef(message).starts_with("'" + path + "'"))
    message.insert(1, name + ".");
  return {found == keys.end() ? source : found->second, std::move(message)};
}

void writeJson(const YamlNode &node, const std::string &name, std::string &json, std::map<std::string, Place> &places,
               std::set<std::string> &refused, const Report &report) {
  JsonWriter(name, json, places, refused, report).write(node, "", "");
}

std::variant<std::string, Diagnostic> readTextFile(const std::string &path) {
  namespace fs = llvm::sys::fs;
  fs::file_status status;
  if (std::error_code error = fs::status(path, status))
    return Diagnostic{{path, 0, 0}, "cannot be read: " + error.message()};
  if (!fs::is_regular_file(status))
    return Diagnostic{{path, 0, 0}, "cannot be read: not a regular file"};
  if (status.getSize() > maxTextBytes)
    return Diagnostic{{path, 0, 0},
                      "must have at most " + std::to_string(maxTextBytes) + " bytes, got " +
                          std::to_string(status.getSize())};
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> file = llvm::MemoryBuffer::getFile(path);
  if (!file)
    return Diagnostic{{path, 0, 0}, "cannot be read: " + file.getError().message()};
  llvm::StringRef text = (*file)->getBuffer();
  size_t bad = 0;
  if (!llvm::json::isUTF8(text, &bad))
    return Diagnostic{{path, 0, 0}, "must be UTF-8 text, got another byte at offset " + std::to_string(bad)};
  return text.str();
}

// Brackets open at once, outside strings; the JSON parser recurses once for each.
static int deepestNesting(llvm::StringRef text) {
  int depth = 0, deepest = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inString && c == '\\')
      ++i;
    else if (c == '"')
      inString = !inString;
    else if (!inString && (c == '[' || c == '{'))
      deepest = std::max(deepest, ++depth);
    else if (!inString && (c == ']' || c == '}'))
      --depth;
  }
  return deepest;
}

std::variant<ModelConfig, Diagnostic> readModelConfig(const std::string &path, std::vector<Diagnostic> &duplicates) {
  std::variant<std::string, Diagnostic> text = readTextFile(path);
  if (auto *problem = std::get_if<Diagnostic>(&text))
    return *problem;
  ModelConfig config;
  config.json = std::get<std::string>(text);
  config.source = {path, 0, 0};
  constexpr int maxNesting = 64;
  if (int levels = deepestNesting(config.json); levels > maxNesting)
    return Diagnostic{{path, 0, 0},
                      "must be nested at most " + std::to_string(maxNesting) + " levels deep, got " +
                          std::to_string(levels)};
  llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(config.json);
  if (!parsed)
    return jsonError(path, llvm::toString(parsed.takeError()));
  if (!parsed->getAsObject())
    return Diagnostic{{path, 1, 1}, "a model configuration must be a JSON object"};
  locateKeys(config, duplicates);
  return config;
}

} // namespace recipe::frontend
