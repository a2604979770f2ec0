// GPT-2: learned positions, LayerNorm with bias before each block, fused c_attn imported as q, k and v, gelu_new.
// Names and layouts are those of transformers' GPT2LMHeadModel; its Conv1D weights are [in, out], hence form nn.
#include "models/Gpt2.h"
#include "models/GraphBuilder.h"
#include <cmath>

using namespace mlir;
using namespace recipe;
using namespace recipe::models;
using train::ContractForm;

static const ConfigKey keys[] = {
    {"activation_function", KeyUse::Fixed, "the activation that is built", "[\"gelu_new\"]", "hidden_act"},
    {"architectures", KeyUse::Fixed, "the causal language model", "[[\"GPT2LMHeadModel\"], null]"},
    {"attn_pdrop", KeyUse::Used, "dropout on attention weights; 0.1", nullptr, "attention_dropout", kDropoutRange},
    {"embd_pdrop", KeyUse::Used, "dropout on embeddings; 0.1", nullptr, nullptr, kDropoutRange},
    {"initializer_range", KeyUse::Used, "standard deviation of initial weights; 0.02", nullptr, nullptr,
     kDeviationRange},
    {"layer_norm_epsilon", KeyUse::Used, "added to variances; 1e-5", nullptr, "layer_norm_eps", kEpsilonRange},
    {"model_type", KeyUse::Fixed, "the family", "[\"gpt2\", null]"},
    {"n_ctx", KeyUse::Limit, "old name of n_positions; must equal it"},
    {"n_embd", KeyUse::Used, "channels", nullptr, "hidden_size"},
    {"n_head", KeyUse::Used, "attention heads", nullptr, "num_attention_heads"},
    {"n_inner", KeyUse::Used, "channels inside the feed-forward block; 4 n_embd", nullptr, "intermediate_size"},
    {"n_layer", KeyUse::Used, "blocks", nullptr, "num_hidden_layers"},
    {"n_positions", KeyUse::Used, "rows of the position embedding; at least the recipe's seq_length", nullptr,
     "max_position_embeddings"},
    {"reorder_and_upcast_attn", KeyUse::Fixed, "another order of rounding", "[false, null]"},
    {"resid_pdrop", KeyUse::Used, "dropout on what a block adds; 0.1", nullptr, nullptr, kDropoutRange},
    {"scale_attn_by_inverse_layer_idx", KeyUse::Fixed, "another scale in each layer", "[false, null]"},
    {"scale_attn_weights", KeyUse::Used, "whether scores are divided by the root of the head size; true"},
    {"summary_activation", KeyUse::Ignored, "classification"},
    {"summary_first_dropout", KeyUse::Ignored, "classification"},
    {"summary_proj_to_labels", KeyUse::Ignored, "classification"},
    {"summary_type", KeyUse::Ignored, "classification"},
    {"summary_use_proj", KeyUse::Ignored, "classification"},
    {"tie_word_embeddings", KeyUse::Used, "whether the head shares the token embedding; true"},
    {"vocab_size", KeyUse::Used, "tokens"},
};

namespace {

class Gpt2 : public Model {
public:
  Gpt2(const llvm::json::Object &config, const train::StepFacts &facts, std::vector<ConfigProblem> &problems);
  void build(GraphBuilder &graph) const override;

private:
  struct Linear {
    std::string name;
    int64_t in, out;
    Init init;
    train::SegmentList inSegments, outSegments;
  };
  Init normal() const { return {Init::Normal, initializerRange}; }
  // Projections onto the residual stream start smaller, since 2 n_layer of them add up.
  Init residual() const { return {Init::Normal, initializerRange / std::sqrt(2.0 * double(layers))}; }
  Value layerNorm(GraphBuilder &graph, const std::string &name, Value x) const;
  Value linear(GraphBuilder &graph, const Linear &shape, Value x) const;
  // One third of c_attn.
  Value projection(GraphBuilder &graph, const std::string &attn, int64_t third, Value x) const;
  Value attention(GraphBuilder &graph, const std::string &block, Value x) const;
  Value feedForward(GraphBuilder &graph, const std::string &block, Value x) const;

  int64_t vocab, positions, channels, layers, heads, inner;
  double epsilon, initializerRange, embeddingDropout, attentionDropout, residualDropout;
  bool scaleWeights, tied;
};

} // namespace

Gpt2::Gpt2(const llvm::json::Object &object, const train::StepFacts &facts, std::vector<ConfigProblem> &problems) {
  ConfigReader config(object, {keys, commonKeys()}, "", problems);
  vocab = config.size("vocab_size", std::nullopt, kMostIds);
  positions = config.size("n_positions");
  channels = config.size("n_embd");
  layers = config.size("n_layer", std::nullopt, kMostLayers);
  heads = config.size("n_head");
  inner = config.size("n_inner", 4 * channels);
  epsilon = config.number("layer_norm_epsilon", 1e-5);
  initializerRange = config.number("initializer_range", 0.02);
  embeddingDropout = config.number("embd_pdrop", 0.1);
  attentionDropout = config.number("attn_pdrop", 0.1);
  residualDropout = config.number("resid_pdrop", 0.1);
  scaleWeights = config.flag("scale_attn_weights", true);
  tied = config.flag("tie_word_embeddings", true);
  int64_t context = config.size("n_ctx", positions);
  if (config.sound({"n_head", "n_embd"}) && channels % heads != 0)
    config.problem("n_head", "must divide n_embd, got " + Twine(heads) + " and " + Twine(channels));
  if (config.sound({"n_positions"}) && positions < facts.seqLength)
    config.problem("n_positions", "must be at least the recipe's seq_length, got " + Twine(positions) + " and " +
                                      Twine(facts.seqLength));
  if (config.sound({"n_ctx", "n_positions"}) && context != positions)
    config.problem("n_ctx", "must equal n_positions, got " + Twine(context) + " and " + Twine(positions));
}

Value Gpt2::layerNorm(GraphBuilder &graph, const std::string &name, Value x) const {
  Value gain = graph.parameter(name + ".weight", {channels}, {Init::Constant, 1});
  Value bias = graph.parameter(name + ".bias", {channels}, {Init::Constant, 0});
  return graph.layerNorm(name, x, gain, bias, epsilon);
}

Value Gpt2::linear(GraphBuilder &graph, const Linear &shape, Value x) const {
  Value weight = graph.parameter(shape.name + ".weight", {shape.in, shape.out}, shape.init);
  Value bias = graph.parameter(shape.name + ".bias", {shape.out}, {Init::Constant, 0});
  Value y = graph.contract(shape.name, x, weight, ContractForm::NN, shape.inSegments, shape.outSegments);
  return graph.biasAdd(shape.name + ".bias_add", y, bias);
}

Value Gpt2::projection(GraphBuilder &graph, const std::string &attn, int64_t third, Value x) const {
  const char *label[] = {"q", "k", "v"};
  Slice columns{label[third], 1, third * channels, {channels, 3 * channels}};
  Slice elements{label[third], 0, third * channels, {3 * channels}};
  std::string name = attn + ".c_attn";
  Value weight = graph.parameter(name + ".weight", {channels, channels}, normal(), &columns);
  Value bias = graph.parameter(name + ".bias", {channels}, {Init::Constant, 0}, &elements);
  name += std::string("[") + label[third] + "]";
  Value y = graph.contract(name, x, weight, ContractForm::NN, train::oneSegment(channels),
                           train::headSegments(heads, channels / heads, graph.facts().segments));
  return graph.biasAdd(name + ".bias_add", y, bias);
}

Value Gpt2::attention(GraphBuilder &graph, const std::string &block, Value x) const {
  std::string attn = block + ".attn";
  Value h = layerNorm(graph, block + ".ln_1", x);
  Value q = projection(graph, attn, 0, h), k = projection(graph, attn, 1, h), v = projection(graph, attn, 2, h);
  int64_t headSize = channels / heads;
  double scale = scaleWeights ? 1 / std::sqrt(double(headSize)) : 1;
  Value o = graph.attention(attn + ".attention", q, k, v, heads, heads, scale, attentionDropout);
  Value y = linear(graph,
                   {attn + ".c_proj", channels, channels, residual(),
                    train::headSegments(heads, headSize, graph.facts().segments), train::oneSegment(channels)},
                   o);
  return graph.add(attn + ".residual", x, graph.dropout(attn + ".resid_dropout", y, residualDropout));
}

Value Gpt2::feedForward(GraphBuilder &graph, const std::string &block, Value x) const {
  std::string mlp = block + ".mlp";
  train::SegmentList segments = train::paddedSegments(inner, graph.facts().segments);
  Value h = layerNorm(graph, block + ".ln_2", x);
  h = linear(graph, {mlp + ".c_fc", channels, inner, normal(), train::oneSegment(channels), segments}, h);
  h = graph.gelu(mlp + ".act", h);
  h = linear(graph, {mlp + ".c_proj", inner, channels, residual(), segments, train::oneSegment(channels)}, h);
  return graph.add(mlp + ".residual", x, graph.dropout(mlp + ".dropout", h, residualDropout));
}

void Gpt2::build(GraphBuilder &graph) const {
  const std::string root = "transformer";
  Value table = graph.parameter(root + ".wte.weight", {vocab, channels}, normal());
  Value x = graph.embedding(root + ".wte", graph.input("tokens"), table);
  Value places = graph.parameter(root + ".wpe.weight", {positions, channels}, normal());
  x = graph.add(root + ".embeddings", x, graph.embedding(root + ".wpe", graph.input("positions"), places));
  x = graph.dropout(root + ".drop", x, embeddingDropout);
  for (int64_t layer = 0; layer < layers; ++layer) {
    std::string block = root + ".h." + std::to_string(layer);
    x = attention(graph, block, x);
    x = feedForward(graph, block, x);
  }
  x = layerNorm(graph, root + ".ln_f", x);
  Value head = tied ? table : graph.parameter("lm_head.weight", {vocab, channels}, normal());
  graph.loss("lm_head", x, head, graph.input("labels"));
}

ModelFamily recipe::models::gpt2Family() {
  return {"gpt2", "GPT-2: learned positions, LayerNorm with bias, GELU (transformers' GPT2LMHeadModel).",
          [] { return std::vector<KeySection>{{"", keys}}; },
          [](const llvm::json::Object &config, const train::StepFacts &facts, std::vector<ConfigProblem> &problems)
              -> std::unique_ptr<Model> { return std::make_unique<Gpt2>(config, facts, problems); }};
}
