// Attention at odd sizes: groups of query heads, rows that end inside tiles and blocks, head sizes that are no multiple
// of a vector.
#include "tests/numerics/KernelTables.h"

using namespace recipe;

namespace recipe::test {

namespace {
using Shape = AttentionShape;

// With 70 positions and one head the draw of row 2, key 64 has the counter 2^32.
constexpr Shape kBeyond32Bits{"DropoutBeyond32Bits", 1, 70, 1, 1, 8, 0.4, 639132};

std::string tensor(int64_t a, int64_t b, int64_t c, const std::string &type) {
  return std::to_string(a) + "x" + std::to_string(b) + "x" + std::to_string(c) + "x" + type;
}

std::string attributes(const Shape &s) {
  return "heads = " + std::to_string(s.heads) + " : i64, kv_heads = " + std::to_string(s.kvHeads) +
         " : i64, scale = 0.31 : f64, dropout = " + std::to_string(s.dropout) +
         " : f64, dropout_id = " + (s.dropout != 0 ? "3000000019" : "0") + " : i64";
}

auto stepScalars(uint64_t firstSample) {
  return [firstSample](rcp_step_params_v1 &params) {
    params.seed = 0x123456789abcdefull;
    params.step = 77;
    params.first_sample = firstSample;
  };
}

} // namespace

void addAttention(std::vector<KernelCase> &cases, const AttentionShape &s, const std::string &type,
                  const std::string &more) {
  auto heads = [&](int64_t count, const std::string &type) {
    return tensor(s.samples, s.positions, count * s.size, type);
  };
  std::string q = heads(s.heads, type), kv = heads(s.kvHeads, type),
              row = tensor(s.samples, s.heads, s.positions, "f32");
  std::string queries = heads(s.heads, "f32"), keys = heads(s.kvHeads, "f32");
  cases.push_back({std::string("Attention") + s.name,
                   "train.attention",
                   attributes(s) + more,
                   {{q, normal(2)}, {kv, normal(2)}, {kv}},
                   {queries, row, row},
                   stepScalars(s.firstSample)});
  cases.push_back({std::string("AttentionGrad") + s.name,
                   "train.attention_grad",
                   attributes(s) + more,
                   {{q}, {q, normal(2)}, {kv, normal(2)}, {kv}, {q}, {row, uniform(2, 6)}, {row, uniform(1, 40)}},
                   {queries, keys, keys},
                   stepScalars(s.firstSample)});
}

std::vector<KernelCase> attentionCases() {
  const Shape shapes[] = {
      {"OnePosition", 1, 1, 1, 1, 1, 0},
      {"TwoPositions", 1, 2, 2, 1, 3, 0},
      {"OddSizes", 2, 7, 3, 3, 5, 0},
      {"BlockEdge", 1, 24, 2, 2, 16, 0},
      {"BeyondBlock", 1, 25, 2, 2, 16, 0},
      {"TileEdge", 1, 49, 1, 1, 33, 0},
      {"GroupOfTwo", 2, 31, 4, 2, 8, 0},
      {"GroupOfThree", 1, 19, 3, 1, 6, 0},
      {"GroupOfFive", 1, 13, 5, 1, 4, 0},
      {"GroupOfSix", 1, 50, 12, 2, 10, 0},
      {"HeadOf64", 1, 97, 2, 2, 64, 0},
      {"HeadOf128", 1, 65, 2, 1, 128, 0},
      {"Dropout", 2, 37, 4, 2, 12, 0.1},
      {"DropoutHeavy", 1, 70, 2, 2, 20, 0.75},
      {"LongRow", 1, 301, 1, 1, 7, 0},
      {"LargeTiles", 1, 523, 1, 1, 9, 0},
      {"ChunksOfKeys", 1, 211, 3, 1, 128, 0},
      {"ChunksOfKeysDropout", 1, 230, 2, 2, 124, 0.3},
      kBeyond32Bits,
  };
  std::vector<KernelCase> cases;
  for (const Shape &s : shapes)
    addAttention(cases, s, "f32", "");
  return cases;
}

static constexpr Shape kBF16Shapes[] = {
    {"TwoPositions", 1, 2, 2, 1, 2, 0},
    {"OddHalves", 2, 14, 3, 3, 10, 0},
    {"BlockEdge", 1, 32, 2, 2, 32, 0},
    {"BeyondBlock", 1, 34, 2, 2, 16, 0},
    {"TileEdge", 1, 50, 1, 1, 34, 0},
    {"GroupOfThree", 1, 66, 3, 1, 6, 0},
    {"HeadOf64", 1, 98, 2, 2, 64, 0},
    {"HeadOf128", 1, 130, 2, 1, 128, 0},
    {"Dropout", 2, 38, 4, 2, 12, 0.1},
    {"LongRow", 1, 302, 1, 1, 40, 0.2},
    {"LargeTiles", 1, 526, 1, 1, 8, 0},
    {"ChunksOfKeys", 1, 218, 2, 1, 128, 0.2},
    {"SmallTile", 1, 6, 1, 1, 80, 0.3},
    {"InsideBlock", 2, 30, 2, 2, 2, 0},
    {"HeadOf80", 1, 46, 4, 2, 80, 0},
    {"GroupOfFour", 1, 100, 4, 1, 34, 0.1},
    {"LargeTilesDropout", 1, 560, 2, 1, 64, 0.1},
    kBeyond32Bits,
};

std::vector<KernelCase> bf16AttentionCases() {
  std::vector<KernelCase> cases;
  for (const Shape &s : kBF16Shapes)
    addAttention(cases, s, "bf16", "");
  return cases;
}

std::vector<KernelCase> attentionChunkCases() {
  const Shape shapes[] = {{"OfKeys", 1, 526, 2, 1, 32, 0}, {"OfKeysDropout", 1, 910, 1, 1, 20, 0.3}};
  std::vector<KernelCase> cases;
  for (const Shape &s : shapes)
    for (std::string type : {"f32", "bf16"}) {
      addAttention(cases, s, type, "");
      cases.back().name += type == "f32" ? "F32" : "BF16";
      cases.erase(cases.end() - 2); // forward has no chunks
    }
  return cases;
}

// Blocks that end within the last one, several chunks of backward, groups.
std::vector<KernelCase> blocksAttentionCases() {
  std::vector<KernelCase> cases;
  for (const Shape &s : kBF16Shapes)
    addAttention(cases, s, "bf16", ", bf16_order = #train<bf16_order blocks>");
  for (const Shape &s : {Shape{"GroupOfFive", 1, 14, 5, 1, 4, 0.2}, Shape{"GroupOfSix", 2, 162, 12, 2, 34, 0},
                         Shape{"WholeChunks", 1, 256, 1, 1, 64, 0.1}})
    addAttention(cases, s, "bf16", ", bf16_order = #train<bf16_order blocks>");
  return cases;
}

} // namespace recipe::test
