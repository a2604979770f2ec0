// Parameters carry the names and shapes that transformers saves; every op has a name of its own.
#include "dialects/train/Names.h"
#include "dialects/train/Variables.h"
#include "models/WeightFiles.h"
#include "tests/unit/models/Build.h"
#include <map>
#include <set>
#include <tuple>

using namespace recipe;
using namespace recipe::models;

namespace {

const char *const gpt2 = R"({"vocab_size": 101, "n_positions": 16, "n_embd": 24, "n_layer": 2, "n_head": 4})";
const char *const llama = R"({"vocab_size": 101, "hidden_size": 24, "intermediate_size": 40, "num_hidden_layers": 2,
  "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 10, "max_position_embeddings": 64, "attention_bias": true})";

// "name[shape]" of each Hugging Face tensor.
std::set<std::string> tensors(mlir::ModuleOp module) {
  std::set<std::string> found;
  for (train::VariableOp variable : train::variablesOf(module, train::Role::Parameter)) {
    std::string text = variable.getHfName()->str() + "[";
    llvm::ArrayRef<int64_t> shape = *variable.getHfShape();
    for (int64_t size : shape)
      text += (text.back() == '[' ? "" : ",") + std::to_string(size);
    found.insert(text + "]");
  }
  return found;
}

TEST(Names, Gpt2TensorsAreThoseOfGPT2LMHeadModel) {
  Built built("gpt2", gpt2);
  std::set<std::string> expected{"transformer.wte.weight[101,24]", "transformer.wpe.weight[16,24]",
                                 "transformer.ln_f.weight[24]", "transformer.ln_f.bias[24]"};
  for (std::string block : {"transformer.h.0.", "transformer.h.1."})
    for (const char *tensor :
         {"ln_1.weight[24]", "ln_1.bias[24]", "attn.c_attn.weight[24,72]", "attn.c_attn.bias[72]",
          "attn.c_proj.weight[24,24]", "attn.c_proj.bias[24]", "ln_2.weight[24]", "ln_2.bias[24]",
          "mlp.c_fc.weight[24,96]", "mlp.c_fc.bias[96]", "mlp.c_proj.weight[96,24]", "mlp.c_proj.bias[24]"})
      expected.insert(block + tensor);
  EXPECT_EQ(tensors(*built.module), expected);
}

// What else stands in files of weights.
TEST(Names, FilesOfWeights) {
  for (const auto &[type, base, embedding] :
       {std::tuple(std::string("gpt2"), std::string(gpt2), "transformer.wte.weight"),
        std::tuple(std::string("llama"), std::string(llama), "model.embed_tokens.weight")})
    for (bool tied : {true, false}) {
      std::string config =
          base.substr(0, base.size() - 1) + R"(, "tie_word_embeddings": )" + (tied ? "true}" : "false}");
      Built built(type, config);
      ASSERT_TRUE(built.module) << config;
      WeightFiles files = weightFiles(type, *built.module);
      EXPECT_EQ(tied, files.tied == (std::vector<std::pair<std::string, std::string>>{{"lm_head.weight", embedding}}));
      EXPECT_EQ(tied, !files.tied.empty());
      bool hasHead = false;
      for (train::VariableOp variable : train::variablesOf(*built.module, train::Role::Parameter)) {
        std::string name = variable.getHfName()->str();
        hasHead |= name == "lm_head.weight";
        EXPECT_TRUE(name == "lm_head.weight" || name.rfind(files.basePrefix, 0) == 0) << name;
        for (const std::string &ending : files.notWeights)
          EXPECT_FALSE(llvm::StringRef(name).ends_with(ending)) << name << " is a weight";
      }
      EXPECT_EQ(hasHead, !tied);
      // Keys that the family reads, and only such that leave shapes alone.
      const ModelFamily *family =
          llvm::find_if(modelFamilies(), [name = type](const ModelFamily &f) { return f.type == name; });
      for (const std::string &key : files.meaningKeys) {
        const ConfigKey *known =
            llvm::find_if(family->keys()[0].keys, [&](const ConfigKey &k) { return key == k.name; });
        ASSERT_NE(known, family->keys()[0].keys.end()) << key;
        EXPECT_TRUE(known->use == KeyUse::Used || known->use == KeyUse::Fixed) << key;
      }
    }
}

TEST(Names, LlamaTensorsAreThoseOfLlamaForCausalLM) {
  Built built("llama", llama);
  std::set<std::string> expected{"model.embed_tokens.weight[101,24]", "model.norm.weight[24]",
                                 "lm_head.weight[101,24]"};
  for (std::string layer : {"model.layers.0.", "model.layers.1."})
    for (const char *tensor :
         {"input_layernorm.weight[24]", "post_attention_layernorm.weight[24]", "self_attn.q_proj.weight[40,24]",
          "self_attn.q_proj.bias[40]", "self_attn.k_proj.weight[20,24]", "self_attn.k_proj.bias[20]",
          "self_attn.v_proj.weight[20,24]", "self_attn.v_proj.bias[20]", "self_attn.o_proj.weight[24,40]",
          "self_attn.o_proj.bias[24]", "mlp.gate_proj.weight[40,24]", "mlp.up_proj.weight[40,24]",
          "mlp.down_proj.weight[24,40]"})
      expected.insert(layer + tensor);
  EXPECT_EQ(tensors(*built.module), expected);
}

TEST(Names, SlicesCoverTheirTensorWithoutOverlap) {
  Built built("gpt2", gpt2);
  std::map<std::string, std::map<int64_t, int64_t>> slices; // tensor -> begin -> end
  std::map<std::string, int64_t> whole;
  for (train::VariableOp variable : train::variablesOf(*built.module, train::Role::Parameter)) {
    int64_t dim = (*variable.getHfSlice())[0], begin = (*variable.getHfSlice())[1];
    if (dim < 0)
      continue;
    std::string name = variable.getHfName()->str();
    slices[name][begin] = begin + mlir::cast<mlir::RankedTensorType>(variable.getType()).getDimSize(dim);
    whole[name] = (*variable.getHfShape())[dim];
  }
  EXPECT_EQ(slices.size(), 4u); // weight and bias of c_attn in two blocks
  for (auto &[name, ranges] : slices) {
    int64_t next = 0;
    for (auto &[begin, end] : ranges) {
      EXPECT_EQ(begin, next) << name;
      next = end;
    }
    EXPECT_EQ(next, whole[name]) << name;
  }
}

TEST(Names, EveryOpOfAGraphHasItsOwn) {
  for (auto [type, config] : {std::pair{"gpt2", gpt2}, std::pair{"llama", llama}}) {
    Built built(type, config);
    for (auto graph : built.module->getOps<train::GraphOp>()) {
      std::set<std::string> names;
      for (mlir::Operation &op : graph.getBody().front()) {
        std::string name = train::nameOf(&op).str();
        EXPECT_NE(name, "");
        EXPECT_TRUE(names.insert(name).second) << name;
      }
    }
  }
}

// Two draws with one key would be the same mask.
TEST(Names, DropoutKeysDiffer) {
  Built built("gpt2", readText(std::string(RECIPEC_SOURCE_DIR) + "/recipes/configs/gpt2.json"));
  std::set<int64_t> keys;
  size_t count = 0;
  auto note = [&](double p, int64_t key) {
    EXPECT_EQ(p, 0.1);
    keys.insert(key);
    ++count;
  };
  built.module->walk([&](train::DropoutOp op) { note(op.getP().convertToDouble(), op.getDropoutId()); });
  mlir::cast<train::GraphOp>(built.module->lookupSymbol("forward")).walk([&](train::AttentionOp op) {
    note(op.getDropout().convertToDouble(), op.getDropoutId());
  });
  EXPECT_EQ(count, 1u + 3 * 12);
  EXPECT_EQ(keys.size(), count);
}

TEST(Names, EvaluationDrawsNothing) {
  Built built("gpt2", gpt2);
  mlir::cast<train::GraphOp>(built.module->lookupSymbol("eval")).walk([](mlir::Operation *op) {
    EXPECT_FALSE(mlir::isa<train::DropoutOp>(op));
    if (auto attention = mlir::dyn_cast<train::AttentionOp>(op)) {
      EXPECT_EQ(attention.getDropout().convertToDouble(), 0);
      EXPECT_EQ(attention.getDropoutId(), 0u);
    }
  });
}

// Only matrices decay (structural: pitfall of decay on gains and biases).
TEST(Names, OnlyMatricesDecay) {
  for (auto [type, config] : {std::pair{"gpt2", gpt2}, std::pair{"llama", llama}}) {
    Built built(type, config);
    for (train::VariableOp variable : train::variablesOf(*built.module, train::Role::Parameter))
      EXPECT_EQ(*variable.getDecay(), mlir::cast<mlir::RankedTensorType>(variable.getType()).getRank() == 2)
          << variable.getSymName().str();
  }
}

TEST(Names, ResidualProjectionsOfGpt2StartSmaller) {
  Built built("gpt2", gpt2);
  for (train::VariableOp variable : train::variablesOf(*built.module, train::Role::Parameter)) {
    llvm::StringRef name = variable.getSymName();
    auto normal = variable.getInit()->getAs<mlir::FloatAttr>("normal");
    auto constant = variable.getInit()->getAs<mlir::FloatAttr>("constant");
    if (name.ends_with("c_proj.weight"))
      EXPECT_EQ(normal.getValueAsDouble(), 0.01) << name.str(); // 0.02 / sqrt(2 * 2)
    else if (normal)
      EXPECT_EQ(normal.getValueAsDouble(), 0.02) << name.str();
    else
      EXPECT_EQ(constant.getValueAsDouble(), name.ends_with(".weight") ? 1.0 : 0.0) << name.str();
  }
}

} // namespace
