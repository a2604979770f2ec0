#include "compiler/frontend/YamlTree.h"

#include "yaml-cpp/eventhandler.h"
#include "yaml-cpp/exceptions.h"
#include "yaml-cpp/mark.h"
#include "yaml-cpp/parser.h"

#include <exception>
#include <map>
#include <optional>
#include <sstream>

namespace recipe::frontend {
namespace {

// Aliases of aliases grow exponentially; no recipe comes near these.
constexpr size_t maxNodes = 100000;
constexpr size_t maxDepth = 64;

// Thrown through yaml-cpp's parser, caught in parseYaml.
struct Refusal {
  YamlError error;
};

class TreeBuilder : public YAML::EventHandler {
public:
  explicit TreeBuilder(unsigned source) : source(source) {}
  YamlNode takeRoot() { return std::move(root); }

  // A key that is no text. Kept until the end, because an unclosed bracket looks like one to yaml-cpp.
  std::optional<YamlError> keyProblem;

  void OnDocumentStart(const YAML::Mark &) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark &mark, YAML::anchor_t anchor) override {
    count(mark, 1);
    if (expectsKey())
      return badKey(mark, "nothing");
    YamlNode node;
    node.place = at(mark);
    finish(std::move(node), anchor);
  }

  void OnAlias(const YAML::Mark &mark, YAML::anchor_t anchor) override {
    auto found = anchors.find(anchor);
    if (found == anchors.end())
      refuse(mark, "an alias may not stand inside its own anchor");
    count(mark, found->second.size);
    if (expectsKey())
      return badKey(mark, "an alias");
    finish(YamlNode(found->second.node), 0);
  }

  void OnScalar(const YAML::Mark &mark, const std::string &tag, YAML::anchor_t anchor,
                const std::string &value) override {
    count(mark, 1);
    if (expectsKey()) {
      stack.back().key = YamlEntry{value, at(mark), {}};
      return;
    }
    YamlNode node;
    node.kind = YamlNode::Scalar;
    node.text = value;
    node.quoted = isText(mark, tag);
    node.place = at(mark);
    finish(std::move(node), anchor);
  }

  void OnSequenceStart(const YAML::Mark &mark, const std::string &tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, YamlNode::List);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark &mark, const std::string &tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, YamlNode::Map);
  }
  void OnMapEnd() override { close(); }

private:
  struct Frame {
    YamlNode node;
    YAML::anchor_t anchor;
    size_t countBefore;
    std::optional<YamlEntry> key; // of a map: waits for its value
    bool isKey;                   // stands where a key should
  };
  struct Anchored {
    YamlNode node;
    size_t size;
  };

  Place at(const YAML::Mark &mark) const {
    return {source, static_cast<unsigned>(mark.line + 1), static_cast<unsigned>(mark.column + 1)};
  }

  [[noreturn]] void refuse(const YAML::Mark &mark, std::string message) const {
    throw Refusal{{at(mark), std::move(message)}};
  }

  void count(const YAML::Mark &mark, size_t nodes) {
    nodeCount += nodes;
    if (nodeCount > maxNodes)
      refuse(mark, "more than " + std::to_string(maxNodes) + " values, aliases expanded");
  }

  bool expectsKey() const { return !stack.empty() && stack.back().node.kind == YamlNode::Map && !stack.back().key; }

  void badKey(const YAML::Mark &mark, const std::string &what) {
    if (!keyProblem)
      keyProblem = YamlError{at(mark), "a key must be text, got " + what};
    stack.back().key = YamlEntry{"", at(mark), {}};
  }

  bool isText(const YAML::Mark &mark, const std::string &tag) const {
    if (tag == "!" || tag == "tag:yaml.org,2002:str")
      return true;
    if (!tag.empty() && tag != "?")
      refuse(mark, "tags are not supported, got " + tag);
    return false;
  }

  void open(const YAML::Mark &mark, const std::string &tag, YAML::anchor_t anchor, YamlNode::Kind kind) {
    count(mark, 1);
    bool isKey = expectsKey();
    if (isKey)
      badKey(mark, kind == YamlNode::Map ? "a mapping" : "a list");
    if (tag != "!")
      isText(mark, tag);
    if (stack.size() == maxDepth)
      refuse(mark, "nested deeper than " + std::to_string(maxDepth) + " levels");
    YamlNode node;
    node.kind = kind;
    node.place = at(mark);
    stack.push_back({std::move(node), anchor, nodeCount - 1, std::nullopt, isKey});
  }

  void close() {
    Frame frame = std::move(stack.back());
    stack.pop_back();
    if (frame.isKey)
      return;
    size_t size = nodeCount - frame.countBefore;
    finish(std::move(frame.node), frame.anchor, size);
  }

  void finish(YamlNode node, YAML::anchor_t anchor, size_t size = 1) {
    if (anchor)
      anchors[anchor] = {node, size};
    if (stack.empty()) {
      root = std::move(node);
      return;
    }
    Frame &parent = stack.back();
    if (parent.node.kind == YamlNode::List) {
      parent.node.items.push_back(std::move(node));
      return;
    }
    parent.key->value = std::move(node);
    parent.node.entries.push_back(std::move(*parent.key));
    parent.key.reset();
  }

  unsigned source;
  size_t nodeCount = 0;
  YamlNode root;
  std::vector<Frame> stack;
  std::map<YAML::anchor_t, Anchored> anchors;
};

// yaml-cpp takes a tab for indentation in some places and gives a puzzling message in others.
std::optional<YamlError> findTab(const std::string &text, unsigned source) {
  unsigned line = 1, column = 1;
  bool indenting = true;
  for (char c : text) {
    if (c == '\n') {
      ++line;
      column = 1;
      indenting = true;
      continue;
    }
    if (c == '\t' && indenting)
      return YamlError{{source, line, column}, "indentation must be spaces, got a tab"};
    if (c != ' ')
      indenting = false;
    ++column;
  }
  return std::nullopt;
}

} // namespace

std::variant<YamlNode, YamlError> parseYaml(const std::string &text, unsigned source) {
  if (std::optional<YamlError> tab = findTab(text, source))
    return *tab;
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    TreeBuilder builder(source);
    if (!parser.HandleNextDocument(builder))
      return YamlNode{};
    TreeBuilder second(source);
    if (parser.HandleNextDocument(second))
      return YamlError{{source, 0, 0}, "must be one YAML document, got several"};
    if (builder.keyProblem)
      return *builder.keyProblem;
    return builder.takeRoot();
  } catch (const Refusal &refusal) {
    return refusal.error;
  } catch (const YAML::Exception &e) {
    Place place{source, 0, 0};
    if (!e.mark.is_null())
      place = {source, static_cast<unsigned>(e.mark.line + 1), static_cast<unsigned>(e.mark.column + 1)};
    return YamlError{place, "not valid YAML: " + e.msg};
  } catch (const std::exception &e) {
    return YamlError{{source, 0, 0}, std::string("not valid YAML: ") + e.what()};
  }
}

} // namespace recipe::frontend
