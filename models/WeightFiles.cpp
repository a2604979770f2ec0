#include "models/WeightFiles.h"
#include "dialects/train/Train.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace recipe;
using namespace recipe::models;

namespace {

struct Family {
  const char *type, *architecture, *basePrefix, *embedding;
  std::vector<std::string> notWeights, meaningKeys;
};

} // namespace

static llvm::ArrayRef<Family> families() {
  static const Family all[] = {
      {"gpt2",
       "GPT2LMHeadModel",
       "transformer.",
       "transformer.wte.weight",
       // Causal masks that were once saved along.
       {".attn.bias", ".attn.masked_bias"},
       {"model_type", "activation_function", "n_head", "layer_norm_epsilon", "scale_attn_weights",
        "scale_attn_by_inverse_layer_idx"}},
      {"llama",
       "LlamaForCausalLM",
       "model.",
       "model.embed_tokens.weight",
       // Frequencies that follow from the config.
       {".rotary_emb.inv_freq"},
       {"model_type", "hidden_act", "num_attention_heads", "num_key_value_heads", "rms_norm_eps", "rope_theta",
        "rope_scaling", "rope_parameters"}},
  };
  return all;
}

WeightFiles recipe::models::weightFiles(StringRef type, ModuleOp module) {
  const Family *family = llvm::find_if(families(), [&](const Family &f) { return type == f.type; });
  assert(family != families().end() && "a module was built for it");
  WeightFiles files{family->architecture, family->basePrefix, family->notWeights, family->meaningKeys, {}};
  const std::string head = "lm_head.weight";
  bool hasHead = llvm::any_of(module.getOps<train::VariableOp>(),
                              [&](train::VariableOp variable) { return variable.getHfName() == head; });
  if (!hasHead)
    files.tied.emplace_back(head, family->embedding);
  return files;
}
