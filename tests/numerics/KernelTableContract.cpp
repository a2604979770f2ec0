// contract in all forms, and the loss, which is made of it.
#include "dialects/train/Segments.h"
#include "tests/numerics/KernelTables.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace recipe::test {

using train::SegmentList;

namespace {

std::string list(llvm::ArrayRef<int64_t> numbers, llvm::StringRef between) {
  std::string text;
  for (size_t i = 0; i < numbers.size(); ++i)
    text += (i ? between.str() : "") + std::to_string(numbers[i]);
  return text;
}

const char *typeOf(Terms terms) { return terms == Terms::Pairs || terms == Terms::Blocks ? "bf16" : "f32"; }

std::string attributeOf(Terms terms) {
  return terms == Terms::Blocks  ? "bf16_order = #train<bf16_order blocks>, "
         : terms == Terms::Split ? "f32_products = #train<f32_products bf16x6>, "
                                 : "";
}

std::string prefixOf(Terms terms) {
  return terms == Terms::Pairs ? "bf16" : terms == Terms::Blocks ? "blocks" : terms == Terms::Split ? "split" : "";
}

} // namespace

KernelCase caseOf(const std::string &name, const Contraction &c) {
  KernelCase result{name, "train.contract", "", {}, {}};
  std::string tokens = list(c.tokens, "x");
  size_t pairs = c.segments.size();
  auto size = [&](auto... dimensions) { return list({dimensions...}, "x") + "x" + typeOf(c.terms); };
  for (size_t i = 0; i < pairs; ++i)
    result.operands.push_back({tokens + "x" + size(c.form == "tn" ? c.rows : c.k[i])});
  for (size_t i = 0; i < pairs; ++i)
    result.operands.push_back({c.form == "tn"   ? tokens + "x" + size(c.columns)
                               : c.form == "nn" ? size(c.k[i], c.columns)
                                                : size(c.columns, c.k[i])});
  result.results = {(c.form == "tn" ? std::to_string(c.rows) : tokens) + "x" + std::to_string(c.columns) + "xf32"};
  if (c.accumulate)
    result.operands.push_back({result.results[0]});
  std::vector<int64_t> ranges;
  for (size_t s = 0; s < c.segments[0].size(); s += 2)
    for (size_t i = 0; i < pairs; ++i)
      ranges.insert(ranges.end(), {c.segments[i][s], c.segments[i][s + 1]});
  std::string count = std::to_string(pairs);
  result.attributes = attributeOf(c.terms);
  result.attributes += "form = #train<form " + c.form + ">, segments = array<i64: " + list(ranges, ", ") +
                       ">, operandSegmentSizes = array<i32: " + count + ", " + count + ", " +
                       (c.accumulate ? "1>" : "0>");
  return result;
}

namespace {

void addProducts(std::vector<KernelCase> &cases, Terms terms) {
  auto add = [&](const std::string &name, Contraction contraction) {
    contraction.terms = terms;
    cases.push_back(caseOf(prefixOf(terms) + name, contraction));
  };
  const int64_t sizes[][3] = {{1, 1, 1},     {1, 33, 5},  {5, 17, 33},   {6, 16, 8},     {7, 50, 101}, {33, 5, 257},
                              {50, 257, 17}, {64, 48, 9}, {13, 31, 600}, {130, 401, 23}, {2, 70, 1000}};
  for (auto [m, n, k] : sizes) {
    std::string name = std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k);
    SegmentList one = train::oneSegment(k), padded = train::paddedSegments(k, 8);
    for (std::string form : {"nn", "nt"}) {
      add(form + name, {form, {1, m}, 0, n, {k}, {one}});
      add(form + name + "Segments", {form, {m}, 0, n, {k}, {padded}});
    }
    add("tn" + name, {"tn", {1, k}, m, n, {}, {one}});
    add("tn" + name + "Accumulate", {"tn", {k}, m, n, {}, {one}, true});
    for (int64_t nodes : {2, 4, 8}) // batch segments
      if (k % nodes == 0)
        add("tn" + name + "Nodes" + std::to_string(nodes), {"tn", {k}, m, n, {}, {train::equalSegments(k, nodes)}});
  }
}

// A left operand of form tn too large for L2 is packed.
void addPacked(std::vector<KernelCase> &cases) {
  SegmentList one = train::oneSegment(1208), nodes = train::equalSegments(1208, 8);
  cases.push_back(caseOf("tnPacked", {"tn", {8, 151}, 133, 21, {}, {one}}));
  cases.push_back(caseOf("tnPackedAccumulate", {"tn", {1208}, 133, 50, {}, {one}, true}));
  cases.push_back(caseOf("tnPackedNodes", {"tn", {8, 151}, 133, 33, {}, {nodes}}));
  cases.push_back(caseOf("tnPackedPairs", {"tn", {1208}, 70, 21, {}, {one, one}, true}));
}

// Left operands whose rows share cache sets take other tiles; few rows of tiles leave the right operand unpacked.
void addTiles(std::vector<KernelCase> &cases) {
  for (std::string form : {"nn", "nt"})
    for (auto [m, n] : {std::pair<int64_t, int64_t>{19, 48}, {9, 70}, {141, 96}, {133, 33}}) {
      std::string name = form + std::to_string(m) + "x" + std::to_string(n) + "x1024";
      cases.push_back(caseOf(name, {form, {m}, 0, n, {1024}, {train::oneSegment(1024)}}));
      cases.push_back(caseOf(name + "Segments", {form, {m}, 0, n, {1024}, {train::paddedSegments(1024, 8)}}));
    }
}

// Gradients of q, k, v; of gate and up; unequal pairs; segments of several K blocks.
void addPairs(std::vector<KernelCase> &cases, Terms terms) {
  auto add = [&](const std::string &name, Contraction contraction) {
    contraction.terms = terms;
    cases.push_back(caseOf(prefixOf(terms) + name, contraction));
  };
  for (std::string form : {"nn", "nt"}) {
    SegmentList q = train::headSegments(4, 17, 8), kv = train::kvHeadSegments(2, 4, 17, 8);
    add(form + "Heads", {form, {2, 9}, 0, 35, {68, 34, 34}, {q, kv, kv}});
    SegmentList ffn = train::paddedSegments(333, 8), shorter = train::paddedSegments(50, 8);
    add(form + "GateUp", {form, {41}, 0, 50, {333, 333}, {ffn, ffn}});
    add(form + "Unequal", {form, {7}, 0, 18, {333, 50}, {ffn, shorter}});
    SegmentList q6 = train::headSegments(6, 5, 4), kv3 = train::kvHeadSegments(3, 6, 5, 4);
    add(form + "SixHeads", {form, {12}, 0, 30, {30, 15, 15}, {q6, kv3, kv3}});
    for (int64_t count : {2, 4, 16})
      add(form + "Equal" + std::to_string(count),
          {form, {20}, 0, 37, {count * 29}, {train::equalSegments(count * 29, count)}});
    add(form + "LongSegments",
        {form, {20}, 0, 37, {2500, 1700}, {train::equalSegments(2500, 4), train::equalSegments(1700, 4)}});
  }
  add("tnNodes64", {"tn", {64, 3}, 20, 40, {}, {train::equalSegments(192, 64)}});
  add("tnPairs", {"tn", {3, 7}, 20, 40, {}, {train::oneSegment(21), train::oneSegment(21)}, true});
}

// The first table in bf16, without what a bf16 contraction does not take: terms in pairs, odd ends, many segments.
void addBF16(std::vector<KernelCase> &cases, Terms terms) {
  auto add = [&](const std::string &name, Contraction contraction) {
    contraction.terms = terms;
    cases.push_back(caseOf(prefixOf(terms) + name, contraction));
  };
  const int64_t sizes[][3] = {{1, 1, 1},     {1, 33, 5},  {5, 17, 33},   {6, 16, 8},     {7, 50, 101}, {33, 5, 257},
                              {50, 257, 17}, {64, 48, 9}, {13, 31, 600}, {130, 401, 23}, {2, 70, 1000}};
  for (auto [m, n, k] : sizes) {
    std::string name = std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k);
    for (std::string form : {"nn", "nt"}) {
      add(form + name, {form, {1, m}, 0, n, {k}, {train::oneSegment(k)}});
      add(form + name + "Segments", {form, {m}, 0, n, {k}, {train::paddedSegments(k, 8)}});
    }
    int64_t positions = k + k % 2;
    add("tn" + name, {"tn", {1, positions}, m, n, {}, {train::oneSegment(positions)}});
    add("tn" + name + "Accumulate", {"tn", {3, positions}, m, n, {}, {train::oneSegment(3 * positions)}, true});
    add("tn" + name + "Nodes", {"tn", {4, positions}, m, n, {}, {train::equalSegments(4 * positions, 4)}});
  }
  for (std::string form : {"nn", "nt"}) {
    SegmentList q = train::headSegments(4, 18, 8), kv = train::kvHeadSegments(2, 4, 18, 8);
    add(form + "Heads", {form, {2, 9}, 0, 35, {72, 36, 36}, {q, kv, kv}});
    SegmentList ffn = train::paddedSegments(333, 8), shorter = train::paddedSegments(50, 8);
    add(form + "Unequal", {form, {7}, 0, 18, {333, 50}, {ffn, shorter}});
    add(form + "LongSegments",
        {form, {20}, 0, 37, {2504, 1704}, {train::equalSegments(2504, 4), train::equalSegments(1704, 4)}});
  }
  add("tnPacked", {"tn", {8, 152}, 266, 21, {}, {train::oneSegment(1216)}});
  add("tnPackedNodes", {"tn", {8, 152}, 266, 33, {}, {train::equalSegments(1216, 8)}});
  add("tnPairs", {"tn", {3, 8}, 20, 40, {}, {train::oneSegment(24), train::oneSegment(24)}, true});
}

// More rows and columns than a block of C has, many groups of steps, samples that end inside a block of terms.
void addBlocks(std::vector<KernelCase> &cases, Terms terms) {
  auto add = [&](const std::string &name, Contraction contraction) {
    contraction.terms = terms;
    cases.push_back(caseOf(prefixOf(terms) + name, contraction));
  };
  for (std::string form : {"nn", "nt"}) {
    add(form + "Whole", {form, {2, 64}, 0, 128, {96}, {train::oneSegment(96)}});
    add(form + "LongChain", {form, {70}, 0, 100, {4000}, {train::oneSegment(4000)}});
    add(form + "LongerSegments", {form, {96}, 0, 64, {6016}, {train::paddedSegments(6016, 8)}});
    add(form + "Large", {form, {4, 130}, 0, 1100, {200}, {train::oneSegment(200)}});
    add(form + "Equal16x32", {form, {33}, 0, 65, {512}, {train::equalSegments(512, 16)}});
    add(form + "Colliding", {form, {64}, 0, 512, {64}, {train::equalSegments(64, 8)}}); // rows of the right operand
    SegmentList q = train::headSegments(4, 18, 8), kv = train::kvHeadSegments(2, 4, 18, 8);
    add(form + "HeadsLarge", {form, {2, 99}, 0, 235, {72, 36, 36}, {q, kv, kv}});
  }
  for (bool accumulate : {false, true}) {
    std::string suffix = accumulate ? "Accumulate" : "";
    add("tnSamples34" + suffix, {"tn", {5, 34}, 65, 40, {}, {train::oneSegment(170)}, accumulate});
    add("tnSamples1030" + suffix, {"tn", {3, 1030}, 64, 96, {}, {train::oneSegment(3090)}, accumulate});
    add("tnSamples64" + suffix, {"tn", {64, 64}, 96, 64, {}, {train::oneSegment(4096)}, accumulate});
    add("tnWide" + suffix, {"tn", {2, 50}, 300, 1100, {}, {train::oneSegment(100)}, accumulate});
  }
  add("tnNodes34", {"tn", {8, 34}, 40, 70, {}, {train::equalSegments(272, 8)}});
  add("tnPairs34", {"tn", {3, 34}, 40, 33, {}, {train::oneSegment(102), train::oneSegment(102)}, true});
}

// Blocks that begin at any number and end with samples of any length, several samples in one chain.
void addOddBlocks(std::vector<KernelCase> &cases) {
  auto add = [&](const std::string &name, Contraction contraction) {
    contraction.terms = Terms::Split;
    cases.push_back(caseOf(prefixOf(Terms::Split) + name, contraction));
  };
  for (std::string form : {"nn", "nt"}) {
    add(form + "OddSegments", {form, {70}, 0, 45, {203}, {{0, 33, 33, 130, 130, 203, 203, 203}}});
    add(form + "OddPairs", {form, {2, 33}, 0, 65, {77, 41}, {{0, 77}, {0, 41}}});
  }
  for (bool accumulate : {false, true}) {
    std::string suffix = accumulate ? "Accumulate" : "";
    for (int64_t positions : {1, 7, 17, 31, 33, 65})
      add("tnSamples" + std::to_string(positions) + suffix,
          {"tn", {9, positions}, 65, 40, {}, {train::oneSegment(9 * positions)}, accumulate});
    add("tnSamples1027" + suffix, {"tn", {3, 1027}, 64, 96, {}, {train::oneSegment(3081)}, accumulate});
  }
  add("tnNodes35", {"tn", {8, 35}, 40, 70, {}, {train::equalSegments(280, 4)}});
  add("tnPairs35", {"tn", {3, 35}, 40, 33, {}, {train::oneSegment(105), train::oneSegment(105)}, true});
}

// Values that are not normal, or have such parts or products; that round to infinity; all bits there are. Few terms, or
// all sums would be NaNs.
void addExtremes(std::vector<KernelCase> &cases) {
  struct Range {
    const char *name;
    uint32_t low, high; // exponent fields of the left side
    uint32_t rightLow, rightHigh;
    int64_t k;
  };
  for (const Range &range : {Range{"NotNormal", 0, 2, 120, 134, 70}, Range{"PartsNotNormal", 1, 30, 110, 140, 70},
                             Range{"ProductsNotNormal", 50, 66, 58, 74, 70}, Range{"Huge", 250, 254, 110, 130, 3},
                             Range{"AnyBits", 0, 255, 0, 255, 3}})
    for (std::string form : {"nn", "nt", "tn"}) {
      Contraction contraction = form == "tn"
                                    ? Contraction{form, {range.k}, 40, 50, {}, {train::oneSegment(range.k)}, true}
                                    : Contraction{form, {40}, 0, 50, {range.k}, {train::oneSegment(range.k)}};
      contraction.terms = Terms::Split;
      KernelCase one = caseOf(prefixOf(Terms::Split) + form + range.name, contraction);
      one.operands[0].fill = exponents(range.low, range.high);
      one.operands[1].fill = exponents(range.rightLow, range.rightHigh);
      if (form == "tn")
        one.operands[2].fill = exponents(0, range.high / 2);
      cases.push_back(one);
    }
}

} // namespace

void addLoss(std::vector<KernelCase> &cases, const LossSize &s) {
  std::string name = list({s.samples, s.positions, s.channels, s.vocabulary}, "x") + "p" + std::to_string(s.nodes) +
                     (s.accumulate ? "acc" : "") + prefixOf(s.terms);
  std::string tokens = list({s.samples, s.positions}, "x"), x = tokens + "x" + std::to_string(s.channels) + "x";
  std::string weight = list({s.vocabulary, s.channels}, "x") + "x";
  std::string attributes =
      attributeOf(s.terms) + "vocab_segments = 8 : i64, batch_nodes = " + std::to_string(s.nodes) + " : i64";
  std::vector<KernelOperand> operands = {
      {x + typeOf(s.terms)}, {weight + typeOf(s.terms)}, {tokens + "xi32", ids(s.vocabulary, s.invalid)}};
  cases.push_back({"Loss" + name, "train.linear_cross_entropy", attributes, operands, {"8xf32", "8xf32"}});
  std::string ofTokens = tokens + "xf32";
  cases.push_back({"LossOfTokens" + name, "train.linear_cross_entropy", attributes, operands, {ofTokens, ofTokens}});
  if (s.accumulate)
    operands.insert(operands.end(), {{"8xf32"}, {"8xf32"}, {weight + "f32"}});
  std::string present = s.accumulate ? "1, 1, 1" : "0, 0, 0";
  cases.push_back({"LossGrad" + name,
                   "train.linear_cross_entropy_grad",
                   attributes + ", operandSegmentSizes = array<i32: 1, 1, 1, " + present + ">",
                   operands,
                   {"8xf32", "8xf32", x + "f32", weight + "f32"}});
}

std::vector<KernelCase> contractCases() {
  std::vector<KernelCase> cases;
  addProducts(cases, Terms::F32);
  addPacked(cases);
  addTiles(cases);
  addPairs(cases, Terms::F32);
  return cases;
}

// Form tn with panels that take turns: tails of tiles and panels, one step and many, several blocks, nodes, pairs.
std::vector<KernelCase> panelTurnCases() {
  std::vector<KernelCase> cases;
  auto add = [&](const std::string &name, Contraction contraction) {
    cases.push_back(caseOf("tnTurns" + name, contraction));
  };
  add("OneStep", {"tn", {120}, 140, 96, {}, {train::oneSegment(120)}});
  add("OneStepTails", {"tn", {3, 37}, 150, 85, {}, {train::oneSegment(111)}, true});
  add("Steps", {"tn", {1000}, 140, 96, {}, {train::oneSegment(1000)}});
  add("StepsTails", {"tn", {7, 101}, 151, 133, {}, {train::oneSegment(707)}});
  add("StepsAccumulate", {"tn", {707}, 151, 117, {}, {train::oneSegment(707)}, true});
  add("Nodes", {"tn", {8, 200}, 140, 101, {}, {train::equalSegments(1600, 8)}});
  add("NodesOfSteps", {"tn", {2, 500}, 131, 101, {}, {train::equalSegments(1000, 2)}});
  add("Pairs", {"tn", {300}, 141, 101, {}, {train::oneSegment(300), train::oneSegment(300)}, true});
  add("Blocks", {"tn", {140}, 421, 805, {}, {train::oneSegment(140)}, true});
  return cases;
}

std::vector<KernelCase> bf16PanelTurnCases() {
  std::vector<KernelCase> cases;
  auto add = [&](const std::string &name, Contraction contraction) {
    contraction.terms = Terms::Pairs;
    cases.push_back(caseOf("tnTurnsBF16" + name, contraction));
  };
  add("OneStep", {"tn", {120}, 140, 96, {}, {train::oneSegment(120)}});
  add("OneStepTails", {"tn", {3, 38}, 150, 85, {}, {train::oneSegment(114)}, true});
  add("Steps", {"tn", {1000}, 140, 96, {}, {train::oneSegment(1000)}});
  add("StepsTails", {"tn", {7, 102}, 151, 133, {}, {train::oneSegment(714)}});
  add("StepsAccumulate", {"tn", {706}, 151, 117, {}, {train::oneSegment(706)}, true});
  add("Nodes", {"tn", {8, 300}, 140, 101, {}, {train::equalSegments(2400, 8)}});
  add("Pairs", {"tn", {300}, 141, 101, {}, {train::oneSegment(300), train::oneSegment(300)}, true});
  add("Blocks", {"tn", {140}, 421, 805, {}, {train::oneSegment(140)}, true});
  return cases;
}

std::vector<KernelCase> bf16ContractCases() {
  std::vector<KernelCase> cases;
  addBF16(cases, Terms::Pairs);
  return cases;
}

std::vector<KernelCase> bf16BlocksCases() {
  std::vector<KernelCase> cases;
  addBF16(cases, Terms::Blocks);
  addBlocks(cases, Terms::Blocks);
  return cases;
}

std::vector<KernelCase> splitCases() {
  std::vector<KernelCase> cases;
  addProducts(cases, Terms::Split);
  addPairs(cases, Terms::Split);
  addBlocks(cases, Terms::Split);
  addOddBlocks(cases);
  addExtremes(cases);
  return cases;
}

std::vector<KernelCase> lossCases() {
  std::vector<KernelCase> cases;
  for (const LossSize &size : std::initializer_list<LossSize>{{1, 1, 1, 1, 1},
                                                              {1, 5, 3, 2, 1, true, 0},
                                                              {2, 9, 17, 101, 1, true},
                                                              {2, 9, 17, 101, 2},
                                                              {4, 7, 33, 257, 4},
                                                              {4, 7, 33, 257, 1, true},
                                                              {8, 3, 16, 130, 8},
                                                              {16, 2, 8, 16, 16},
                                                              {64, 2, 8, 16, 64},
                                                              {1, 12, 5, 513, 1, true, 1},
                                                              // Several chunks: of equal length, with a shorter last
                                                              // one; nodes of several chunks, chunks of several nodes.
                                                              {2, 2500, 3, 5, 1, true},
                                                              {1, 4999, 3, 5, 1},
                                                              {4, 4201, 2, 3, 4},
                                                              // dx in two and four subtrees.
                                                              {1, 9, 5, 17000, 1, true},
                                                              {2, 7, 33, 40000, 2},
                                                              {8, 1000, 2, 3, 8}})
    addLoss(cases, size);
  return cases;
}

static std::vector<KernelCase> lossCasesIn(Terms terms) {
  std::vector<KernelCase> cases;
  for (LossSize size : std::initializer_list<LossSize>{{1, 2, 1, 1, 1},
                                                       {2, 10, 17, 101, 1, true},
                                                       {2, 10, 17, 101, 2},
                                                       {4, 64, 33, 257, 4},
                                                       {3, 34, 40, 130, 1, true},
                                                       {16, 2, 8, 16, 16},
                                                       {1, 12, 5, 513, 1, true, 1},
                                                       // Chunks, as above.
                                                       {2, 2500, 3, 5, 1, true},
                                                       {1, 4998, 3, 5, 1},
                                                       {4, 4202, 2, 3, 4},
                                                       {8, 1000, 2, 3, 8}}) {
    size.terms = terms;
    addLoss(cases, size);
  }
  return cases;
}

std::vector<KernelCase> bf16LossCases() { return lossCasesIn(Terms::Pairs); }
std::vector<KernelCase> blocksLossCases() { return lossCasesIn(Terms::Blocks); }

std::vector<KernelCase> splitLossCases() {
  std::vector<KernelCase> cases = lossCasesIn(Terms::Split);
  // Odd lengths; samples that end inside a block, of which none may lie in two chunks.
  for (LossSize size : std::initializer_list<LossSize>{
           {1, 1, 1, 1, 1}, {2, 9, 17, 101, 1, true}, {4, 7, 33, 257, 2}, {1, 4999, 3, 5, 1}, {4, 4201, 2, 3, 4}}) {
    size.terms = Terms::Split;
    addLoss(cases, size);
  }
  return cases;
}

} // namespace recipe::test
