// Llama: RMSNorm before each block, rotary positions, grouped queries, SwiGLU, optional biases.
// Names and layouts are those of transformers' LlamaForCausalLM; its Linear weights are [out, in], hence form nt.
#include "models/Llama.h"
#include "models/GraphBuilder.h"
#include "models/Rope.h"
#include <cmath>

using namespace mlir;
using namespace recipe;
using namespace recipe::models;
using train::ContractForm;

static const ConfigKey keys[] = {
    {"architectures", KeyUse::Fixed, "the causal language model", "[[\"LlamaForCausalLM\"], null]"},
    {"attention_bias", KeyUse::Used, "biases in q, k, v and o; false"},
    {"attention_dropout", KeyUse::Used, "dropout on attention weights; 0", nullptr, "attn_pdrop", kDropoutRange},
    {"head_dim", KeyUse::Used, "channels of a head; hidden_size / num_attention_heads", nullptr, "head_size"},
    {"hidden_act", KeyUse::Fixed, "the activation that is built", "[\"silu\"]", "activation_function"},
    {"hidden_size", KeyUse::Used, "channels", nullptr, "n_embd"},
    {"initializer_range", KeyUse::Used, "standard deviation of initial weights; 0.02", nullptr, nullptr,
     kDeviationRange},
    {"intermediate_size", KeyUse::Used, "channels inside the feed-forward block", nullptr, "n_inner"},
    {"max_position_embeddings", KeyUse::Limit, "at least the recipe's seq_length", nullptr, "n_positions"},
    {"mlp_bias", KeyUse::Used, "biases in gate, up and down; false"},
    {"model_type", KeyUse::Fixed, "the family", "[\"llama\", null]"},
    {"num_attention_heads", KeyUse::Used, "query heads", nullptr, "n_head"},
    {"num_hidden_layers", KeyUse::Used, "blocks", nullptr, "n_layer"},
    {"num_key_value_heads", KeyUse::Used, "key and value heads; num_attention_heads"},
    {"partial_rotary_factor", KeyUse::Fixed, "whole heads are rotated", "[1, null]"},
    {"pretraining_tp", KeyUse::Fixed, "another order of summation", "[1, null]"},
    {"rms_norm_eps", KeyUse::Used, "added to mean squares; 1e-6", nullptr, nullptr, kEpsilonRange},
    {"rope_parameters", KeyUse::Used, "rotary positions, see below; newer than rope_theta and rope_scaling"},
    {"rope_scaling", KeyUse::Used, "stretched rotary positions, see below; null"},
    {"rope_theta", KeyUse::Used, "base of the rotary frequencies; 10000", nullptr, nullptr, kThetaRange},
    {"sliding_window", KeyUse::Fixed, "attention reaches back over the whole sample", "[null]"},
    {"tie_word_embeddings", KeyUse::Used, "whether the head shares the token embedding; false"},
    {"vocab_size", KeyUse::Used, "tokens"},
};

namespace {

class Llama : public Model {
public:
  Llama(const llvm::json::Object &config, const train::StepFacts &facts, std::vector<ConfigProblem> &problems);
  void build(GraphBuilder &graph) const override;

private:
  struct Linear {
    std::string name;
    int64_t in, out;
    bool bias;
    train::SegmentList inSegments, outSegments;
  };
  struct Rotary {
    std::pair<Value, Value> table;
    Value positions;
  };
  Init normal() const { return {Init::Normal, initializerRange}; }
  Value norm(GraphBuilder &graph, const std::string &name, Value x) const;
  Value linear(GraphBuilder &graph, const Linear &shape, Value x) const;
  Value attention(GraphBuilder &graph, const std::string &layer, const Rotary &rotary, Value x) const;
  Value feedForward(GraphBuilder &graph, const std::string &layer, Value x) const;
  void checkHeads(ConfigReader &config) const;

  int64_t vocab, channels, inner, layers, heads, kvHeads, headSize;
  double epsilon, initializerRange, attentionDropout;
  bool attentionBias, mlpBias, tied;
  RopeConfig rope;
};

} // namespace

Llama::Llama(const llvm::json::Object &object, const train::StepFacts &facts, std::vector<ConfigProblem> &problems) {
  ConfigReader config(object, {keys, commonKeys()}, "", problems);
  vocab = config.size("vocab_size", std::nullopt, kMostIds);
  channels = config.size("hidden_size");
  inner = config.size("intermediate_size");
  layers = config.size("num_hidden_layers", std::nullopt, kMostLayers);
  heads = config.size("num_attention_heads");
  kvHeads = config.size("num_key_value_heads", heads);
  headSize = config.size("head_dim", std::max<int64_t>(1, channels / heads));
  epsilon = config.number("rms_norm_eps", 1e-6);
  initializerRange = config.number("initializer_range", 0.02);
  attentionDropout = config.number("attention_dropout", 0);
  attentionBias = config.flag("attention_bias", false);
  mlpBias = config.flag("mlp_bias", false);
  tied = config.flag("tie_word_embeddings", false);
  rope = readRope(config, problems);
  int64_t positions = config.size("max_position_embeddings", std::nullopt, kMostIds);
  if (config.sound({"max_position_embeddings"}) && positions < facts.seqLength)
    config.problem("max_position_embeddings", "must be at least the recipe's seq_length, got " + Twine(positions) +
                                                  " and " + Twine(facts.seqLength));
  checkHeads(config);
}

void Llama::checkHeads(ConfigReader &config) const {
  // With head_dim the heads need not fill hidden_size.
  if (config.has("head_dim")) {
    if (config.sound({"head_dim"}) && headSize % 2 != 0)
      config.problem("head_dim", "must be even for rotary positions, got " + Twine(headSize));
    if (config.sound({"head_dim", "num_attention_heads"}) && heads * headSize > kMostChannels)
      config.problem("head_dim", "times num_attention_heads must be at most " + Twine(kMostChannels) + ", got " +
                                     Twine(headSize) + " and " + Twine(heads));
  } else if (config.sound({"hidden_size", "num_attention_heads"})) {
    if (channels % heads != 0)
      config.problem("num_attention_heads", "must divide hidden_size, got " + Twine(heads) + " and " + Twine(channels));
    else if (headSize % 2 != 0)
      config.problem("hidden_size", "must give heads of an even size for rotary positions, got " + Twine(channels) +
                                        " / " + Twine(heads));
  }
  if (config.has("num_key_value_heads") && config.sound({"num_key_value_heads", "num_attention_heads"}) &&
      heads % kvHeads != 0)
    config.problem("num_key_value_heads",
                   "must divide num_attention_heads, got " + Twine(kvHeads) + " and " + Twine(heads));
}

Value Llama::norm(GraphBuilder &graph, const std::string &name, Value x) const {
  return graph.rmsNorm(name, x, graph.parameter(name + ".weight", {channels}, {Init::Constant, 1}), epsilon);
}

Value Llama::linear(GraphBuilder &graph, const Linear &shape, Value x) const {
  Value weight = graph.parameter(shape.name + ".weight", {shape.out, shape.in}, normal());
  Value y = graph.contract(shape.name, x, weight, ContractForm::NT, shape.inSegments, shape.outSegments);
  if (!shape.bias)
    return y;
  return graph.biasAdd(shape.name + ".bias_add", y,
                       graph.parameter(shape.name + ".bias", {shape.out}, {Init::Constant, 0}));
}

Value Llama::attention(GraphBuilder &graph, const std::string &layer, const Rotary &rotary, Value x) const {
  std::string attn = layer + ".self_attn";
  int64_t queries = heads * headSize, keys = kvHeads * headSize, count = graph.facts().segments;
  train::SegmentList whole = train::oneSegment(channels), qSegments = train::headSegments(heads, headSize, count),
                     kvSegments = train::kvHeadSegments(kvHeads, heads, headSize, count);
  Value h = norm(graph, layer + ".input_layernorm", x);
  Value q = linear(graph, {attn + ".q_proj", channels, queries, attentionBias, whole, qSegments}, h);
  Value k = linear(graph, {attn + ".k_proj", channels, keys, attentionBias, whole, kvSegments}, h);
  Value v = linear(graph, {attn + ".v_proj", channels, keys, attentionBias, whole, kvSegments}, h);
  q = graph.rope(attn + ".q_rope", q, rotary.table, rotary.positions, heads);
  k = graph.rope(attn + ".k_rope", k, rotary.table, rotary.positions, kvHeads);
  Value o =
      graph.attention(attn + ".attention", q, k, v, heads, kvHeads, 1 / std::sqrt(double(headSize)), attentionDropout);
  Value y = linear(graph, {attn + ".o_proj", queries, channels, attentionBias, qSegments, whole}, o);
  return graph.add(attn + ".residual", x, y);
}

Value Llama::feedForward(GraphBuilder &graph, const std::string &layer, Value x) const {
  std::string mlp = layer + ".mlp";
  train::SegmentList whole = train::oneSegment(channels),
                     segments = train::paddedSegments(inner, graph.facts().segments);
  Value h = norm(graph, layer + ".post_attention_layernorm", x);
  Value gate = linear(graph, {mlp + ".gate_proj", channels, inner, mlpBias, whole, segments}, h);
  Value up = linear(graph, {mlp + ".up_proj", channels, inner, mlpBias, whole, segments}, h);
  Value y = graph.swiglu(mlp + ".act_fn", gate, up);
  y = linear(graph, {mlp + ".down_proj", inner, channels, mlpBias, segments, whole}, y);
  return graph.add(mlp + ".residual", x, y);
}

void Llama::build(GraphBuilder &graph) const {
  const std::string root = "model";
  Value table = graph.parameter(root + ".embed_tokens.weight", {vocab, channels}, normal());
  Value x = graph.embedding(root + ".embed_tokens", graph.input("tokens"), table);
  Rotary rotary{graph.ropeTable(root + ".rotary_emb", inverseFrequencies(rope, headSize), 1.0),
                graph.input("positions")};
  for (int64_t i = 0; i < layers; ++i) {
    std::string layer = root + ".layers." + std::to_string(i);
    x = attention(graph, layer, rotary, x);
    x = feedForward(graph, layer, x);
  }
  x = norm(graph, root + ".norm", x);
  Value head = tied ? table : graph.parameter("lm_head.weight", {vocab, channels}, normal());
  graph.loss("lm_head", x, head, graph.input("labels"));
}

ModelFamily recipe::models::llamaFamily() {
  return {"llama", "Llama: RMSNorm, rotary positions, grouped queries, SwiGLU (transformers' LlamaForCausalLM).",
          [] { return std::vector<KeySection>{{"", keys}, {"rope_scaling or rope_parameters", ropeKeys()}}; },
          [](const llvm::json::Object &config, const train::StepFacts &facts, std::vector<ConfigProblem> &problems)
              -> std::unique_ptr<Model> { return std::make_unique<Llama>(config, facts, problems); }};
}
