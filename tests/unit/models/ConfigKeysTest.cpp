// No key of a config is silently without effect: each one changes the step, is checked, is refused, or is documented as
// ignored.
#include "tests/unit/models/Build.h"
#include <map>

using namespace recipe;
using namespace recipe::models;
namespace json = llvm::json;

namespace {

struct Change {
  const char *to;          // merged into the base config (RFC 7396)
  const char *from = "{}"; // merged into the base first, for keys that need others
};

const std::map<std::string, const char *> bases = {
    {"gpt2", R"({"vocab_size": 101, "n_positions": 16, "n_embd": 24, "n_layer": 2, "n_head": 4})"},
    {"llama", R"({"vocab_size": 101, "hidden_size": 24, "intermediate_size": 40, "num_hidden_layers": 2,
                  "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 64})"},
};

const char *const llama3 =
    R"({"head_dim": 64, "rope_scaling": {"rope_type": "llama3", "factor": 8, "low_freq_factor": 1,
                              "high_freq_factor": 4, "original_max_position_embeddings": 32}})";

// A change of each used key.
const std::map<std::string, std::map<std::string, Change>> usedChanges = {
    {"gpt2",
     {{"attn_pdrop", {R"({"attn_pdrop": 0.2})"}},
      {"embd_pdrop", {R"({"embd_pdrop": 0.2})"}},
      {"initializer_range", {R"({"initializer_range": 0.03})"}},
      {"layer_norm_epsilon", {R"({"layer_norm_epsilon": 1e-6})"}},
      {"n_embd", {R"({"n_embd": 28})"}},
      {"n_head", {R"({"n_head": 2})"}},
      {"n_inner", {R"({"n_inner": 80})"}},
      {"n_layer", {R"({"n_layer": 3})"}},
      {"n_positions", {R"({"n_positions": 17})"}},
      {"resid_pdrop", {R"({"resid_pdrop": 0})"}},
      {"scale_attn_weights", {R"({"scale_attn_weights": false})"}},
      {"tie_word_embeddings", {R"({"tie_word_embeddings": false})"}},
      {"vocab_size", {R"({"vocab_size": 102})"}}}},
    {"llama",
     {{"attention_bias", {R"({"attention_bias": true})"}},
      {"attention_dropout", {R"({"attention_dropout": 0.1})"}},
      {"head_dim", {R"({"head_dim": 8})"}},
      {"hidden_size", {R"({"hidden_size": 32})"}},
      {"initializer_range", {R"({"initializer_range": 0.03})"}},
      {"intermediate_size", {R"({"intermediate_size": 41})"}},
      {"mlp_bias", {R"({"mlp_bias": true})"}},
      {"num_attention_heads", {R"({"num_attention_heads": 6})"}},
      {"num_hidden_layers", {R"({"num_hidden_layers": 1})"}},
      {"num_key_value_heads", {R"({"num_key_value_heads": 4})"}},
      {"rms_norm_eps", {R"({"rms_norm_eps": 1e-5})"}},
      {"rope_parameters", {R"({"rope_parameters": {"rope_theta": 500000}})"}},
      {"rope_scaling", {R"({"rope_scaling": {"type": "linear", "factor": 2}})"}},
      {"rope_theta", {R"({"rope_theta": 20000})"}},
      {"tie_word_embeddings", {R"({"tie_word_embeddings": true})"}},
      {"vocab_size", {R"({"vocab_size": 102})"}},
      // Inside rope_scaling and rope_parameters.
      {"rope.rope_type",
       {R"({"rope_scaling": {"rope_type": "linear", "factor": 2}})", R"({"rope_scaling": {"rope_type": "default"}})"}},
      {"rope.type",
       {R"({"rope_scaling": {"type": "linear", "factor": 2}})", R"({"rope_scaling": {"type": "default"}})"}},
      {"rope.rope_theta",
       {R"({"rope_parameters": {"rope_theta": 20000}})", R"({"rope_parameters": {"rope_theta": 10000}})"}},
      {"rope.factor", {R"({"rope_scaling": {"factor": 16}})", llama3}},
      {"rope.low_freq_factor", {R"({"rope_scaling": {"low_freq_factor": 2}})", llama3}},
      {"rope.high_freq_factor", {R"({"rope_scaling": {"high_freq_factor": 8}})", llama3}},
      {"rope.original_max_position_embeddings",
       {R"({"rope_scaling": {"original_max_position_embeddings": 16}})", llama3}}}},
};

void merge(json::Object &target, const json::Object &patch) {
  for (auto &[key, value] : patch) {
    json::Object *inner = target.getObject(key);
    if (inner && value.getAsObject())
      merge(*inner, *value.getAsObject());
    else
      target[key] = value;
  }
}

std::string merged(const std::string &base, const std::string &patch) {
  json::Object config = *cantFail(json::parse(base)).getAsObject();
  merge(config, *cantFail(json::parse(patch)).getAsObject());
  return llvm::formatv("{0}", json::Value(std::move(config)));
}

// The printed module, or the problems.
std::string outcome(const std::string &type, const std::string &config) {
  Built built(type, config);
  if (built.module)
    return built.print();
  std::string text;
  for (const std::string &problem : built.problemTexts())
    text += problem + "\n";
  return "problems: " + text;
}

struct Case {
  std::string type, section, key;
  KeyUse use;
};

std::vector<Case> allKeys() {
  std::vector<Case> cases;
  for (const ModelFamily &family : modelFamilies()) {
    for (const KeySection &section : family.keys())
      for (const ConfigKey &key : section.keys)
        cases.push_back({family.type, section.prefix[0] ? "rope_scaling" : "", key.name, key.use});
    for (const ConfigKey &key : commonKeys())
      cases.push_back({family.type, "", key.name, key.use});
  }
  return cases;
}

class EveryKey : public testing::TestWithParam<Case> {
protected:
  std::string with(const std::string &value) const {
    const Case &c = GetParam();
    std::string entry = "{\"" + c.key + "\": " + value + "}";
    return merged(bases.at(c.type), c.section.empty() ? entry : "{\"" + c.section + "\": " + entry + "}");
  }
  std::string base() const { return bases.at(GetParam().type); }
};

TEST_P(EveryKey, HasTheEffectThatIsDocumented) {
  const Case &c = GetParam();
  switch (c.use) {
  case KeyUse::Used: {
    const auto &changes = usedChanges.at(c.type);
    auto change = changes.find(c.section.empty() ? c.key : "rope." + c.key);
    ASSERT_NE(change, changes.end()) << "a used key needs a change in this test";
    std::string from = merged(base(), change->second.from);
    std::string before = outcome(c.type, from), after = outcome(c.type, merged(from, change->second.to));
    EXPECT_FALSE(llvm::StringRef(before).starts_with("problems")) << before;
    EXPECT_FALSE(llvm::StringRef(after).starts_with("problems")) << after;
    EXPECT_TRUE(before != after) << "nothing changes";
    break;
  }
  case KeyUse::Limit:
    EXPECT_TRUE(llvm::StringRef(outcome(c.type, with("3"))).contains(c.key)) << "a value out of bounds is accepted";
    break;
  case KeyUse::Fixed: {
    std::string text = outcome(c.type, with("\"another\""));
    EXPECT_TRUE(llvm::StringRef(text).starts_with("problems: ")) << "another value is accepted";
    EXPECT_TRUE(llvm::StringRef(text).contains("'" + (c.section.empty() ? "" : c.section + ".") + c.key + "' must be "))
        << text;
    break;
  }
  case KeyUse::Ignored:
    for (const char *value : {"null", "7", "\"text\"", "[1, {\"a\": true}]"})
      EXPECT_TRUE(outcome(c.type, with(value)) == outcome(c.type, base())) << value << " changes something";
    break;
  }
}

INSTANTIATE_TEST_SUITE_P(All, EveryKey, testing::ValuesIn(allKeys()), [](const auto &info) {
  std::string name =
      info.param.type + "_" + (info.param.section.empty() ? "" : info.param.section + "_") + info.param.key;
  return name;
});

// Every real number has its range in the table, and both ends hold.
TEST(ConfigKeys, NumbersOutOfTheirRangeAreRefused) {
  int ranges = 0;
  for (const ModelFamily &family : modelFamilies())
    for (const KeySection &section : family.keys())
      for (const ConfigKey &key : section.keys) {
        NumberRange range = key.range;
        if (range.most == 0)
          continue;
        ++ranges;
        std::string where = section.prefix[0] ? "rope_scaling." : "", from = bases.at(family.type);
        std::string name = key.name;
        if (!where.empty())
          from = merged(from, llama3);
        if (!where.empty() && name == "rope_theta")
          continue; // not in rope_scaling
        for (double value : {range.least / 2 - 1e-300, range.most * 2, 1e-300, 1e300}) {
          if (value >= range.least && value <= range.most)
            continue;
          std::string entry = "{\"" + name + "\": " + numberText(value) + "}";
          std::string text =
              outcome(family.type, merged(from, where.empty() ? entry : "{\"rope_scaling\": " + entry + "}"));
          std::string rule = "problems: " + where + name + ": '" + where + name + "' must be a number from " +
                             numberText(range.least) + " to " + numberText(range.most) + ", got ";
          EXPECT_EQ(text.find(rule), 0u) << text;
          EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
        }
      }
  EXPECT_EQ(ranges, 5 + 4 + 4);
}

TEST(ConfigKeys, TablesHaveNoDoubles) {
  for (const ModelFamily &family : modelFamilies()) {
    std::set<std::string> names;
    for (const KeySection &section : family.keys())
      for (const ConfigKey &key : section.keys)
        EXPECT_TRUE(names.insert(std::string(section.prefix) + "." + key.name).second) << key.name;
    for (const ConfigKey &key : commonKeys())
      EXPECT_TRUE(names.insert(std::string(".") + key.name).second) << key.name;
  }
}

TEST(ConfigKeys, DocumentIsUpToDate) {
  EXPECT_EQ(readText(std::string(RECIPEC_SOURCE_DIR) + "/docs/models.md"), modelsDocument())
      << "run the target update-model-docs";
}

} // namespace
