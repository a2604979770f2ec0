// No key of a recipe is silently without effect. One that is fixed at compile time changes the step, one that a run may
// change is handed to the run and changes nothing else, one that is not built yet is refused by its name. What the run
// does with its keys: tests/e2e/RunKeysTest.cpp.
#include "TinyRecipe.h"
#include "compiler/emit/Program.h"
#include "compiler/frontend/Describe.h"
#include "compiler/frontend/Schema.h"
#include "compiler/frontend/Values.h"
#include "tests/unit/TempFolder.h"
#include <gtest/gtest.h>
#include <map>

using namespace recipe;
using namespace recipe::test;
using frontend::Key;
using google::protobuf::FieldDescriptor;

namespace {

struct Change {
  std::vector<std::string> to;
  std::vector<std::string> from = {}; // set before, for keys that need others
  bool refused = false;               // no other value can be compiled: it must be an error at the key
};

// A change of each key that is fixed at compile time.
const std::map<std::string, Change> compileChanges = {
    {"experiment.name", {{"experiment.name=other"}}},
    {"model.type", {{"model.type=llama"}, {}, true}},
    {"model.config", {{"model.config.n_layer=1"}}},
    {"model.precision", {{"model.precision=bf16"}}},
    {"data.seq_length", {{"data.seq_length=12"}}},
    {"data.batch_size", {{"data.batch_size=4"}}},
    {"optim.name", {{"optim.name=sgd"}, {}, true}},
    {"optim.betas", {{"optim.betas=[0.9, 0.99]"}}},
    {"optim.eps", {{"optim.eps=1e-6"}}},
    {"optim.weight_decay", {{"optim.weight_decay=0.2"}}},
    {"optim.grad_accum_steps", {{"optim.grad_accum_steps=8"}}},
    {"optim.clip_grad_norm", {{"optim.clip_grad_norm=2"}}},
    {"distributed.world_size", {{"distributed.world_size=2"}}},
    {"distributed.data_parallel_size", {{"distributed.data_parallel_size=2"}}},
    {"numerics.mode", {{"numerics.mode=fast"}, {}, true}},
    {"numerics.segments", {{"numerics.segments=4"}}},
    {"numerics.batch_segments", {{"numerics.batch_segments=4"}}},
    {"precision.compute", {{"precision.compute=bf16"}}},
    {"precision.keep_fp32", {{"precision.keep_fp32=[transformer.h.0.*]"}, {"precision.compute=bf16"}}},
    {"precision.f32_products", {{"precision.f32_products=bf16x6"}, {"target.arch=sapphirerapids"}}},
    {"memory.budget", {{"memory.budget=1GiB"}}},
    {"memory.recompute", {{"memory.recompute=none"}}},
    {"fusion.rules", {{"fusion.rules=[missing.pdll]"}, {}, true}},
    {"fusion.enabled", {{"fusion.enabled=false"}}},
    {"target.device", {{"target.device=cuda"}, {}, true}},
    {"target.arch", {{"target.arch=x86-64-v4"}, {"target.arch=x86-64-v3"}}},
    {"target.max_threads", {{"target.max_threads=3"}}},
};

// A value of the key's type that is neither `other` nor what most keys take for nothing.
std::string someValue(const Key &key, const std::string &other) {
  std::string value;
  switch (key.field->cpp_type()) {
  case FieldDescriptor::CPPTYPE_BOOL:
    return other == "true" ? "false" : "true";
  case FieldDescriptor::CPPTYPE_ENUM:
    for (const std::string &name : frontend::enumValues(key))
      if (name != other)
        value = name;
    return value;
  case FieldDescriptor::CPPTYPE_STRING:
    return key.field->is_repeated() ? "[text]" : "text";
  case FieldDescriptor::CPPTYPE_INT64:
    return other == "3" ? "4" : "3";
  default:
    return other == "0.25" ? "0.5" : "0.25";
  }
}

std::string current(const Key &key, const frontend::Recipe &recipe) {
  const google::protobuf::Message &section = recipe.GetReflection()->GetMessage(recipe, key.sectionField);
  return key.field->is_repeated() || section.GetReflection()->HasField(section, key.field)
             ? frontend::valueText(key, section)
             : "";
}

// All that a step is made of but for the list of the recipe's values.
struct Made {
  std::string step;   // the message as text, without code
  std::string module; // the planned module
  std::string problems;
};

Made make(const std::string &recipe, const std::vector<std::string> &sets) {
  std::unique_ptr<Compiled> compiled = compileText(recipe, "budget", sets);
  if (compiled->outcome != Outcome::Done)
    return {"", "", compiled->messages};
  recipe::abi::Step step;
  frontend::describeRecipe(compiled->recipe, step);
  emit::emitProgram(*compiled->compilation->module, step);
  step.clear_recipe();
  const mlir::OpPrintingFlags flags;
  std::string module = compiled->compilation->options.target.cpu + "\n";
  llvm::raw_string_ostream out(module);
  compiled->compilation->module->print(out, flags);
  return {step.DebugString(), module, ""};
}

bool operator==(const Made &a, const Made &b) {
  return a.step == b.step && a.module == b.module && a.problems == b.problems;
}

class EveryRecipeKey : public testing::TestWithParam<std::string> {
protected:
  frontend::Schema schema;
  const Key &key = *schema.find(GetParam());

  void isRefusedByName() {
    std::string value = someValue(key, key.options->neutral());
    Made made = make(kTinyGpt2, {key.name + "=" + value});
    EXPECT_EQ(made.problems, "--set " + key.name + "=" + value + ": error: '" + key.name +
                                 "' is recognised but not built yet: " + key.options->not_yet() + "\n");
  }

  void isHandedToTheRun() {
    std::unique_ptr<Compiled> base = compileText(kTinyGpt2, "import");
    std::string value = someValue(key, current(key, base->recipe.recipe));
    std::vector<std::string> sets = {key.name + "=" + value};
    if (llvm::StringRef(key.name).starts_with("logging.eval_"))
      sets.push_back("data.eval_fraction=0.5");
    Made before = make(kTinyGpt2, {}), after = make(kTinyGpt2, sets);
    EXPECT_EQ(after.problems, "");
    EXPECT_TRUE(before.module == after.module) << "compiled in";
    EXPECT_FALSE(before.step == after.step) << "not handed to the run";
  }

  void changesTheStep() {
    auto change = compileChanges.find(key.name);
    ASSERT_NE(change, compileChanges.end()) << "a key that is fixed at compile time needs a change in this test";
    const auto &[to, from, refused] = change->second;
    std::vector<std::string> sets = from;
    sets.insert(sets.end(), to.begin(), to.end());
    Made before = make(kTinyGpt2, from), after = make(kTinyGpt2, sets);
    EXPECT_EQ(before.problems, "");
    EXPECT_EQ(after.problems != "", refused) << after.problems;
    EXPECT_FALSE(before == after) << "nothing changes";
  }
};

TEST_P(EveryRecipeKey, HasAnEffect) {
  if (key.options->has_not_yet())
    isRefusedByName();
  else if (key.options->run_time())
    isHandedToTheRun();
  else if (key.name != "model.config_path") // below
    changesTheStep();
}

TEST(RecipeKeys, ConfigPathIsReadLikeConfig) {
  TempFolder folder;
  std::string path = folder.write("c.json", R"({"model_type": "gpt2", "vocab_size": 67, "n_embd": 24, "n_layer": 2,
    "n_head": 4, "n_positions": 32, "n_ctx": 32, "activation_function": "gelu_new", "resid_pdrop": 0.1,
    "embd_pdrop": 0.1, "attn_pdrop": 0.1})");
  Made inlined = make(kTinyGpt2, {}), read = make(kTinyGpt2, {"model.config_path=" + path});
  EXPECT_EQ(read.problems, "");
  EXPECT_TRUE(read == inlined);
}

// What is left to the target shows as what it came to.
TEST(RecipeKeys, ProductsAreChosenByTheTarget) {
  for (const auto &[arch, products] : {std::pair("sapphirerapids", "bf16x6"), std::pair("x86-64-v4", "fma")}) {
    std::vector<std::string> target = {std::string("target.arch=") + arch};
    std::vector<std::string> left = target, named = target;
    left.push_back("precision.f32_products=auto");
    named.push_back(std::string("precision.f32_products=") + products);
    EXPECT_TRUE(make(kTinyGpt2, left) == make(kTinyGpt2, named)) << arch;
    std::unique_ptr<Compiled> compiled = compileText(kTinyGpt2, "import", left);
    EXPECT_EQ(current(*frontend::Schema().find("precision.f32_products"), compiled->recipe.recipe), products);
    for (const frontend::Entry &entry : compiled->recipe.entries)
      if (entry.key == "precision.f32_products") {
        EXPECT_EQ(entry.value + " " + entry.origin, std::string(products) + " derived");
      }
  }
}

std::vector<std::string> allKeys() {
  std::vector<std::string> names;
  frontend::Schema schema;
  for (const Key &key : schema.keys())
    names.push_back(key.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, EveryRecipeKey, testing::ValuesIn(allKeys()), [](const auto &info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
});

} // namespace
