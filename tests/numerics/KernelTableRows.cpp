#include "tests/numerics/KernelTables.h"

namespace recipe::test {

namespace {

struct Size {
  int64_t samples, positions, channels, nodes;
  bool accumulate;

  std::string tokens() const { return std::to_string(samples) + "x" + std::to_string(positions); }
  std::string activation() const { return tokens() + "x" + std::to_string(channels) + "xf32"; }
  std::string perToken() const { return tokens() + "xf32"; }
  std::string vector() const { return std::to_string(channels) + "xf32"; }
  std::string sums() const { return "8x" + vector(); }
  std::string name() const {
    return tokens() + "x" + std::to_string(channels) + "p" + std::to_string(nodes) + (accumulate ? "acc" : "");
  }
  std::string batchNodes() const { return "batch_nodes = " + std::to_string(nodes) + " : i64"; }
};

// Odd rows, tails, fewer positions than segments, an empty last segment (9 positions: segments of 2), more columns than
// one workgroup's, as many batch nodes as there may be.
const Size sizes[] = {{1, 1, 1, 1, false},     {3, 5, 7, 1, true},    {2, 9, 16, 2, false},   {4, 13, 33, 4, false},
                      {8, 6, 48, 8, false},    {1, 40, 300, 1, true}, {2, 37, 520, 1, false}, {16, 3, 257, 16, false},
                      {64, 2, 100, 32, false}, {64, 3, 65, 64, false}};

// layer_norm_grad with an accumulator of the gain, of the bias, of both or of none.
void addLayerNormGrad(std::vector<KernelCase> &cases, const Size &s, bool gain, bool bias) {
  std::vector<KernelOperand> operands = {
      {s.activation()}, {s.activation()}, {s.vector()}, {s.perToken()}, {s.perToken(), uniform(0.5, 2)}};
  operands.insert(operands.end(), size_t(gain + bias), {s.sums()});
  std::string present = std::string(gain ? ", 1" : ", 0") + (bias ? ", 1>" : ", 0>");
  cases.push_back({"LayerNormGrad" + s.name() + (gain ? "Gain" : "") + (bias ? "Bias" : ""),
                   "train.layer_norm_grad",
                   s.batchNodes() + ", operandSegmentSizes = array<i32: 1, 1, 1, 1, 1" + present,
                   operands,
                   {s.activation(), s.sums(), s.sums()}});
}

void addNorms(std::vector<KernelCase> &cases, const Size &s) {
  Fill positive = uniform(0.5, 2);
  std::string eps = "eps = 1.0e-5 : f64";
  cases.push_back({"LayerNorm" + s.name(),
                   "train.layer_norm",
                   eps,
                   {{s.activation(), uniform(-3, 5)}, {s.vector()}, {s.vector()}},
                   {s.activation(), s.perToken(), s.perToken()}});
  cases.push_back({"RmsNorm" + s.name(),
                   "train.rms_norm",
                   eps,
                   {{s.activation(), uniform(-3, 5)}, {s.vector()}},
                   {s.activation(), s.perToken()}});
  addLayerNormGrad(cases, s, s.accumulate, s.accumulate);
  std::vector<KernelOperand> rms = {{s.activation()}, {s.activation()}, {s.vector()}, {s.perToken(), positive}};
  if (s.accumulate)
    rms.push_back({s.sums()});
  cases.push_back({"RmsNormGrad" + s.name(), "train.rms_norm_grad", s.batchNodes(), rms, {s.activation(), s.sums()}});
}

void addSums(std::vector<KernelCase> &cases, const Size &s) {
  std::vector<KernelOperand> operands = {{s.activation()}};
  if (s.accumulate)
    operands.push_back({s.sums()});
  cases.push_back({"BiasGrad" + s.name(), "train.bias_grad", s.batchNodes(), operands, {s.sums()}});
  cases.push_back({"PositionSum" + s.name(), "train.position_sum", "", {{s.sums()}}, {s.vector()}});
}

// A table of few rows, each used often, and one of many rows, most of them unused.
void addEmbeddings(std::vector<KernelCase> &cases, const Size &s) {
  for (int64_t rows : {3, 1001}) {
    std::string table = std::to_string(rows) + "x" + s.vector(), name = std::to_string(rows) + "from" + s.name();
    KernelOperand tokens{s.tokens() + "xi32", ids(rows)};
    cases.push_back({"Embedding" + name, "train.embedding", "", {tokens, {table}}, {s.activation()}});
    std::vector<KernelOperand> operands = {{s.activation()}, tokens};
    if (s.accumulate)
      operands.push_back({table});
    cases.push_back({"EmbeddingGrad" + name, "train.embedding_grad", s.batchNodes(), operands, {table}});
  }
}

void addRope(std::vector<KernelCase> &cases, int64_t heads, int64_t headSize) {
  for (std::string inverse : {"false", "true"}) {
    std::string x = "2x11x" + std::to_string(heads * headSize) + "xf32",
                table = "29x" + std::to_string(headSize / 2) + "xf32";
    cases.push_back({"Rope" + std::to_string(heads) + "x" + std::to_string(headSize) + inverse,
                     "train.rope",
                     "heads = " + std::to_string(heads) + " : i64, inverse = " + inverse,
                     {{x}, {table, uniform(-1, 1)}, {table, uniform(-1, 1)}, {"2x11xi32", ids(29)}},
                     {x}});
  }
}

} // namespace

std::vector<KernelCase> rowCases() {
  std::vector<KernelCase> cases;
  for (const Size &size : sizes) {
    addNorms(cases, size);
    addSums(cases, size);
    addEmbeddings(cases, size);
  }
  addLayerNormGrad(cases, sizes[1], true, false);
  addLayerNormGrad(cases, sizes[1], false, true);
  addRope(cases, 3, 2);
  addRope(cases, 2, 32);
  addRope(cases, 5, 44);
  addRope(cases, 1, 128);
  return cases;
}

} // namespace recipe::test
