// What a wrong config is answered with.
#include "tests/unit/models/Build.h"

using namespace recipe;
using namespace recipe::models;

namespace {

struct BadConfig {
  const char *name, *type, *config;
  std::vector<std::string> problems; // "key: text"
};

#define GPT2 R"("vocab_size": 101, "n_positions": 16, "n_embd": 24, "n_layer": 2, "n_head": 4)"
#define LLAMA                                                                                                            \
  R"("vocab_size": 101, "hidden_size": 24, "intermediate_size": 40, "num_hidden_layers": 2, "num_attention_heads": 4, )" \
  R"("max_position_embeddings": 64)"

const BadConfig badConfigs[] = {
    {"unknownFamily", "gpt3", "{}", {": the model type must be 'gpt2' or 'llama', got 'gpt3'"}},
    {"notJson", "gpt2", "{\"n_embd\": }", {": not valid JSON: [1:12, byte=12]: Invalid JSON value"}},
    {"notAnObject", "gpt2", "[1]", {": a model configuration must be a JSON object"}},
    {"missingKeys",
     "gpt2",
     R"({"vocab_size": 101, "n_positions": 16, "n_head": 1})",
     {"n_embd: 'n_embd' is missing", "n_layer: 'n_layer' is missing"}},
    {"misspelt",
     "gpt2",
     "{" GPT2 R"(, "n_heads": 4})",
     {"n_heads: 'n_heads' is not a key of this configuration; did you mean 'n_head'?"}},
    {"otherFamilysName",
     "gpt2",
     "{" GPT2 R"(, "num_hidden_layers": 4})",
     {"num_hidden_layers: 'num_hidden_layers' is not a key of this configuration; did you mean 'n_layer'?"}},
    {"nothingNear",
     "llama",
     "{" LLAMA R"(, "mixture_of_experts_router": 4})",
     {"mixture_of_experts_router: 'mixture_of_experts_router' is not a key of this configuration"}},
    {"headsDoNotDivide", "gpt2", "{" GPT2 R"(, "n_head": 5})", {"n_head: 'n_head' must divide n_embd, got 5 and 24"}},
    {"notAnInteger",
     "gpt2",
     "{" GPT2 R"(, "n_layer": 2.5})",
     {"n_layer: 'n_layer' must be an integer from 1 to 4096, got 2.5"}},
    {"text",
     "gpt2",
     "{" GPT2 R"(, "n_layer": "2"})",
     {"n_layer: 'n_layer' must be an integer from 1 to 4096, got \"2\""}},
    {"zero",
     "llama",
     "{" LLAMA R"(, "vocab_size": 0})",
     {"vocab_size: 'vocab_size' must be an integer from 1 to 2147483647, got 0"}},
    {"activation",
     "gpt2",
     "{" GPT2 R"(, "activation_function": "relu"})",
     {"activation_function: 'activation_function' must be \"gelu_new\", got \"relu\""}},
    {"inverseLayerScale",
     "gpt2",
     "{" GPT2 R"(, "scale_attn_by_inverse_layer_idx": true})",
     {"scale_attn_by_inverse_layer_idx: 'scale_attn_by_inverse_layer_idx' must be false or null, got true"}},
    {"upcast",
     "gpt2",
     "{" GPT2 R"(, "reorder_and_upcast_attn": true})",
     {"reorder_and_upcast_attn: 'reorder_and_upcast_attn' must be false or null, got true"}},
    {"crossAttention",
     "gpt2",
     "{" GPT2 R"(, "add_cross_attention": true})",
     {"add_cross_attention: 'add_cross_attention' must be false or null, got true"}},
    {"otherHead",
     "gpt2",
     "{" GPT2 R"(, "architectures": ["GPT2ForSequenceClassification"]})",
     {"architectures: 'architectures' must be [\"GPT2LMHeadModel\"] or null, got [\"GPT2ForSequenceClassification\"]"}},
    {"otherFamily",
     "llama",
     "{" LLAMA R"(, "model_type": "mistral"})",
     {"model_type: 'model_type' must be \"llama\" or null, got \"mistral\""}},
    {"contextDiffers", "gpt2", "{" GPT2 R"(, "n_ctx": 8})", {"n_ctx: 'n_ctx' must equal n_positions, got 8 and 16"}},
    {"dropoutOfOne",
     "gpt2",
     "{" GPT2 R"(, "attn_pdrop": 1.0})",
     {"attn_pdrop: 'attn_pdrop' must be a number from 0 to 0.9999, got 1"}},
    {"negativeEpsilon",
     "gpt2",
     "{" GPT2 R"(, "layer_norm_epsilon": -1e-5})",
     {"layer_norm_epsilon: 'layer_norm_epsilon' must be a number from 1e-20 to 1, got -1e-05"}},
    {"epsilonBelowFp32",
     "llama",
     "{" LLAMA R"(, "rms_norm_eps": 1e-300})",
     {"rms_norm_eps: 'rms_norm_eps' must be a number from 1e-20 to 1, got 1e-300"}},
    {"weightsBeyondFp32",
     "gpt2",
     "{" GPT2 R"(, "initializer_range": 1e30})",
     {"initializer_range: 'initializer_range' must be a number from 1e-15 to 10000, got 1e+30"}},
    {"epsilonAsText",
     "llama",
     "{" LLAMA R"(, "rms_norm_eps": "1e-5"})",
     {"rms_norm_eps: 'rms_norm_eps' must be a number from 1e-20 to 1, got \"1e-5\""}},
    {"flag",
     "llama",
     "{" LLAMA R"(, "attention_bias": 1})",
     {"attention_bias: 'attention_bias' must be true or false, got 1"}},
    {"sampleTooLong",
     "gpt2",
     R"({"vocab_size": 101, "n_positions": 11, "n_embd": 24, "n_layer": 2, "n_head": 4})",
     {"n_positions: 'n_positions' must be at least the recipe's seq_length, got 11 and 12"}},
    {"sampleTooLongForLlama",
     "llama",
     "{" LLAMA R"(, "max_position_embeddings": 8})",
     {"max_position_embeddings: 'max_position_embeddings' must be at least the recipe's seq_length, got 8 and 12"}},
    {"llamaActivation",
     "llama",
     "{" LLAMA R"(, "hidden_act": "gelu"})",
     {"hidden_act: 'hidden_act' must be \"silu\", got \"gelu\""}},
    {"pretrainingTp",
     "llama",
     "{" LLAMA R"(, "pretraining_tp": 2})",
     {"pretraining_tp: 'pretraining_tp' must be 1 or null, got 2"}},
    {"window",
     "llama",
     "{" LLAMA R"(, "sliding_window": 4096})",
     {"sliding_window: 'sliding_window' must be null, got 4096"}},
    {"quantized",
     "llama",
     "{" LLAMA R"(, "quantization_config": {"bits": 4}})",
     {"quantization_config: 'quantization_config' must be null, got {\"bits\":4}"}},
    {"kvHeads",
     "llama",
     "{" LLAMA R"(, "num_key_value_heads": 3})",
     {"num_key_value_heads: 'num_key_value_heads' must divide num_attention_heads, got 3 and 4"}},
    {"oddHead",
     "llama",
     "{" LLAMA R"(, "head_dim": 5})",
     {"head_dim: 'head_dim' must be even for rotary positions, got 5"}},
    {"oddHeadByDivision",
     "llama",
     "{" LLAMA R"(, "hidden_size": 20})",
     {"hidden_size: 'hidden_size' must give heads of an even size for rotary positions, got 20 / 4"}},
    {"ropeType",
     "llama",
     "{" LLAMA R"(, "rope_scaling": {"rope_type": "yarn", "factor": 4}})",
     {"rope_scaling.rope_type: 'rope_scaling.rope_type' must be \"default\", \"linear\" or \"llama3\", got \"yarn\""}},
    {"ropeNotAnObject",
     "llama",
     "{" LLAMA R"(, "rope_scaling": "linear"})",
     {"rope_scaling: 'rope_scaling' must be an object or null, got \"linear\""}},
    {"ropeFactorMissing",
     "llama",
     "{" LLAMA R"(, "rope_scaling": {"type": "linear"}})",
     {"rope_scaling.factor: 'rope_scaling.factor' is missing"}},
    {"ropeFactorSmall",
     "llama",
     "{" LLAMA R"(, "rope_scaling": {"type": "linear", "factor": 0.5}})",
     {"rope_scaling.factor: 'rope_scaling.factor' must be a number from 1 to 1e+06, got 0.5"}},
    {"ropeKeyOfAnotherType",
     "llama",
     "{" LLAMA R"(, "rope_scaling": {"type": "linear", "factor": 2, "low_freq_factor": 1}})",
     {"rope_scaling.low_freq_factor: 'rope_scaling.low_freq_factor' does not apply to 'rope_scaling.type' \"linear\""}},
    {"ropeBounds",
     "llama",
     "{" LLAMA R"(, "rope_scaling": {"rope_type": "llama3", "factor": 8, "low_freq_factor": 4, "high_freq_factor": 1,
       "original_max_position_embeddings": 32}})",
     {"rope_scaling.low_freq_factor: 'rope_scaling.low_freq_factor' must be less than high_freq_factor, got 4 and 1"}},
    {"ropeUnknownKey",
     "llama",
     "{" LLAMA R"(, "rope_scaling": {"rope_type": "linear", "factors": 8}})",
     {"rope_scaling.factors: 'rope_scaling.factors' is not a key of this configuration; did you mean "
      "'rope_scaling.factor'?",
      "rope_scaling.factor: 'rope_scaling.factor' is missing"}},
    {"ropeTwice",
     "llama",
     "{" LLAMA R"(, "rope_scaling": {"rope_type": "default"}, "rope_parameters": {"rope_type": "default"}})",
     {"rope_parameters: 'rope_parameters' must not be given together with 'rope_scaling'"}},
    {"ropeThetaTwice",
     "llama",
     "{" LLAMA R"(, "rope_theta": 10000, "rope_parameters": {"rope_theta": 20000}})",
     {"rope_theta: 'rope_theta' must not be given together with 'rope_parameters'"}},
    {"tooManyLayers",
     "gpt2",
     "{" GPT2 R"(, "n_layer": 4097})",
     {"n_layer: 'n_layer' must be an integer from 1 to 4096, got 4097"}},
    {"headsTooWide",
     "llama",
     "{" LLAMA R"(, "head_dim": 8388608})",
     {"head_dim: 'head_dim' times num_attention_heads must be at most 16777216, got 8388608 and 4"}},
    {"tooManyParameters",
     "llama",
     R"({"vocab_size": 2147483647, "hidden_size": 16777216, "intermediate_size": 4, "num_hidden_layers": 1,
       "num_attention_heads": 4, "head_dim": 2, "max_position_embeddings": 64})",
     {": a model must have fewer than 2^50 parameters, got 7.205759479290266e+16"}},
    {"severalAtOnce",
     "llama",
     "{" LLAMA R"(, "hidden_act": "gelu", "num_key_value_heads": 3, "rms_norm_eps": 0})",
     {"hidden_act: 'hidden_act' must be \"silu\", got \"gelu\"",
      "rms_norm_eps: 'rms_norm_eps' must be a number from 1e-20 to 1, got 0",
      "num_key_value_heads: 'num_key_value_heads' must divide num_attention_heads, got 3 and 4"}},
};

class BadConfigs : public testing::TestWithParam<BadConfig> {};

TEST_P(BadConfigs, AreRefusedWithTheReason) {
  Built built(GetParam().type, GetParam().config);
  EXPECT_FALSE(built.module);
  EXPECT_EQ(built.problemTexts(), GetParam().problems);
}

// What stands in for a bad value must not show up in further messages.
TEST(BadSizes, ZeroIsTheOnlyProblem) {
  const std::pair<const char *, std::vector<const char *>> families[] = {
      {"gpt2", {"vocab_size", "n_positions", "n_embd", "n_layer", "n_head", "n_inner", "n_ctx"}},
      {"llama",
       {"vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads",
        "num_key_value_heads", "head_dim", "max_position_embeddings"}}};
  for (const auto &[type, keys] : families)
    for (const char *key : keys) {
      std::string base = type == std::string("gpt2") ? GPT2 : LLAMA;
      Built built(type, "{" + base + ", \"" + key + "\": 0}");
      std::vector<std::string> problems = built.problemTexts();
      ASSERT_EQ(problems.size(), 1u) << key << ": " << problems.back();
      EXPECT_EQ(problems[0].find(std::string(key) + ": '" + key + "' must be an integer from 1 to "), 0u)
          << problems[0];
    }
}

TEST(BadSizes, AMissingSizeIsTheOnlyProblem) {
  Built gpt2("gpt2", R"({"vocab_size": 101, "n_embd": 24, "n_layer": 2, "n_head": 4, "n_ctx": 8})");
  EXPECT_EQ(gpt2.problemTexts(), std::vector<std::string>({"n_positions: 'n_positions' is missing"}));
  Built llama("llama", R"({"vocab_size": 101, "intermediate_size": 40, "num_hidden_layers": 2,
                           "num_attention_heads": 5, "max_position_embeddings": 64})");
  EXPECT_EQ(llama.problemTexts(), std::vector<std::string>({"hidden_size: 'hidden_size' is missing"}));
}

TEST(BadSizes, AnActivationThatIsTooLarge) {
  train::StepFacts facts;
  facts.batchSize = facts.globalBatch = int64_t(1) << 24;
  facts.seqLength = 64;
  Built built("llama", "{" LLAMA R"(, "hidden_size": 2048})", facts);
  EXPECT_FALSE(built.module);
  EXPECT_EQ(built.problemTexts(),
            std::vector<std::string>(
                {": an activation of a micro-batch must have fewer than 2^40 elements, got 16777216 x 64 x 2048"}));
}

INSTANTIATE_TEST_SUITE_P(All, BadConfigs, testing::ValuesIn(badConfigs),
                         [](const auto &info) { return info.param.name; });

} // namespace
