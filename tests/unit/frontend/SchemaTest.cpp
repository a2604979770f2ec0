// What recipe.proto must keep to, so that the reader can rely on it.
#include "compiler/frontend/Schema.h"

#include "compiler/frontend/Draft.h"
#include "compiler/frontend/Values.h"

#include "gtest/gtest.h"

#include <cfloat>
#include <set>

namespace recipe::frontend {
namespace {

std::string readBack(const Key &key, const std::string &yaml) {
  Recipe recipe;
  std::string problem;
  Report report = [&](Place, std::string message) { problem = message; };
  std::variant<YamlNode, YamlError> node = parseYaml(yaml, 0);
  if (!std::holds_alternative<YamlNode>(node))
    return "not YAML";
  return readValue(key, std::get<YamlNode>(node), {}, sectionOf(recipe, key), report) ? "" : problem;
}

TEST(Schema, DefaultAndNeutralValuesKeepTheirOwnRules) {
  size_t count = 0;
  Schema schema;
  for (const Key &key : schema.keys()) {
    for (const auto &[has, text] : {std::pair(key.options->has_default_value(), key.options->default_value()),
                                    std::pair(key.options->has_neutral(), key.options->neutral())}) {
      if (!has)
        continue;
      EXPECT_EQ(readBack(key, text), "") << key.name;
      ++count;
    }
  }
  EXPECT_GT(count, 30u);
}

TEST(Schema, EveryKeyGetsItsValueInOneWay) {
  Schema schema;
  for (const Key &key : schema.keys()) {
    const KeyOptions &o = *key.options;
    int ways = o.has_default_value() + o.has_derived() + o.required() + o.has_not_yet();
    EXPECT_EQ(ways, key.choice() && !o.has_default_value() ? 0 : 1) << key.name;
    EXPECT_TRUE(o.has_not_yet() || !o.has_neutral()) << key.name;
  }
}

// What is not 0 is a normal number of fp32, and stays one when it is used.
TEST(Schema, RealNumbersFitFp32) {
  Schema schema;
  for (const Key &key : schema.keys()) {
    const KeyOptions &o = *key.options;
    // RunTimeKey of step.proto has no such field.
    EXPECT_FALSE(o.or_zero() && o.run_time()) << key.name;
    if (key.field->cpp_type() != google::protobuf::FieldDescriptor::CPPTYPE_DOUBLE)
      continue;
    EXPECT_TRUE(o.has_min() && o.has_max()) << key.name << " needs a range";
    EXPECT_LT(o.max(), FLT_MAX) << key.name;
    // Shares of a whole are used in fp64 only.
    bool share = o.min() == 0 && o.max() == 1;
    EXPECT_TRUE(share || (o.min() > FLT_MIN && o.max() > o.min())) << key.name;
  }
}

TEST(Schema, BoundsPhrase) {
  KeyOptions options;
  EXPECT_EQ(boundsPhrase(options), "");
  options.set_min(1e-10);
  EXPECT_EQ(boundsPhrase(options), ">= 1e-10");
  options.set_or_zero(true);
  options.set_max(3);
  EXPECT_EQ(boundsPhrase(options), "0 or >= 1e-10 and <= 3");
}

TEST(Schema, OtherNamesOfKeysAreNoKeysAndUnique) {
  Schema schema;
  std::set<std::string> names;
  for (const Key &key : schema.keys())
    for (const std::string &other : key.options->also_called()) {
      EXPECT_EQ(schema.find(key.section + "." + other), nullptr) << other;
      EXPECT_TRUE(names.insert(other).second) << other;
      EXPECT_EQ(schema.suggestKey(key.section, other), key.name);
      EXPECT_EQ(schema.suggestSection(other), key.name);
    }
}

TEST(Schema, Closest) {
  EXPECT_EQ(closest("cosin", {"constant", "linear", "cosine"}), "cosine");
  EXPECT_EQ(closest("LINEAR", {"constant", "linear", "cosine"}), "linear");
  EXPECT_EQ(closest("xyz", {"constant", "linear", "cosine"}), "");
  EXPECT_EQ(closest("", {"a"}), "");
  EXPECT_EQ(closest("b", {"a"}), "") << "a one-letter word is no misspelling of another";
}

TEST(Schema, NumberText) {
  EXPECT_EQ(numberText(1048576), "1048576");
  EXPECT_EQ(numberText(1e12), "1000000000000");
  EXPECT_EQ(numberText(0.1), "0.1");
  EXPECT_EQ(numberText(1e-8), "1e-08");
  EXPECT_EQ(numberText(1e300), "1e+300");
  EXPECT_EQ(numberText(-3), "-3");
}

TEST(Schema, NumberKind) {
  for (const char *whole : {"0", "-1", "+7", "007"})
    EXPECT_EQ(numberKind(whole), NumberKind::Whole) << whole;
  for (const char *real : {"1.", ".5", "1e3", "-1.5E-3", "3e+4"})
    EXPECT_EQ(numberKind(real), NumberKind::Real) << real;
  for (const char *not_ : {"", "-", ".", "1e", "1_000", "0x10", ".inf", "nan", "1 ", "--1", "1.2.3", "e5"})
    EXPECT_EQ(numberKind(not_), NumberKind::NotANumber) << not_;
}

TEST(Schema, ScalarTextReadsBackAsText) {
  for (const char *text :
       {"plain", "a b", "007", "true", "Null", "~", "-x", "a: b", "#c", "'q'", "\"q\"", "é",  "tab\tline\n", "{",
        "[",     "&a",  "*a",  "!t",   "%",    "@", "`",  "|",    ">",  "1e5", "a,b",   "\\", "x #y"}) {
    std::variant<YamlNode, YamlError> node = parseYaml("k: " + scalarText(text), 0);
    ASSERT_TRUE(std::holds_alternative<YamlNode>(node)) << text;
    const YamlNode &value = std::get<YamlNode>(node).entries.at(0).value;
    EXPECT_EQ(value.kind, YamlNode::Scalar) << text;
    EXPECT_EQ(value.text, text);
  }
}

} // namespace
} // namespace recipe::frontend
