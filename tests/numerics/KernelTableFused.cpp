// Regions of several ops: elementwise chains, and what follows matrix products and norms.
#include "dialects/train/Segments.h"
#include "tests/numerics/KernelTables.h"

namespace recipe::test {
namespace {

using Names = std::vector<std::string>;

// A region under construction; every value has a name and a type.
class Region {
public:
  explicit Region(const std::string &name) {
    kernelCase.name = name;
    kernelCase.params = [](rcp_step_params_v1 &params) {
      params.seed = 0x123456789abcdef0u;
      params.step = 77;
      params.first_sample = 3;
    };
  }
  std::string operand(const std::string &type, Fill fill = normal(2)) {
    std::string name = "x" + std::to_string(kernelCase.operands.size());
    kernelCase.operands.push_back({type, std::move(fill)});
    types[name] = type;
    return name;
  }
  // The first of `resultTypes.size()` results; the others are NAME#1, NAME#2, ...
  std::string op(const std::string &op, const Names &operands, const Names &resultTypes,
                 const std::string &attributes = "") {
    std::string name = "v" + std::to_string(values++);
    Names operandTypes;
    for (const std::string &operand : operands)
      operandTypes.push_back(types.at(operand));
    bool several = resultTypes.size() > 1;
    kernelCase.body += regionOp("%" + name + (several ? ":" + std::to_string(resultTypes.size()) : ""), op, operands,
                                attributes, operandTypes, resultTypes);
    for (size_t i = 0; i < resultTypes.size(); ++i)
      types[name + (several ? "#" + std::to_string(i) : "")] = resultTypes[i];
    return several ? name + "#0" : name;
  }
  KernelCase gives(const Names &names) {
    for (const std::string &name : names) {
      kernelCase.yields.push_back(name);
      kernelCase.results.push_back(types.at(name));
    }
    return kernelCase;
  }

  KernelCase kernelCase;

private:
  std::map<std::string, std::string> types;
  int values = 0;
};

const char kDropout[] = "p = 0.3 : f64, dropout_id = 4042322160 : i64";

std::string rounded(const std::string &type) { return type.substr(0, type.rfind('x')) + "xbf16"; }

void addChains(std::vector<KernelCase> &cases) {
  for (std::string shape : {"1x1x1", "1x3x5", "2x4x32", "3x7x1999"}) {
    std::string type = shape + "xf32", channels = shape.substr(shape.find('x', 2) + 1) + "xf32";
    {
      Region r("SumDropout" + shape); // both are needed elsewhere
      std::string sum = r.op("add", {r.operand(type), r.operand(type)}, {type});
      std::string dropped = r.op("dropout", {sum}, {type}, kDropout);
      cases.push_back(r.gives({sum, dropped}));
    }
    {
      Region r("SumCastSum" + shape); // one operand is bf16, one result is
      std::string sum = r.op("add", {r.operand(type), r.operand(type)}, {type});
      std::string wide = r.op("cast", {r.operand(rounded(type))}, {type});
      std::string narrow = r.op("cast", {sum}, {rounded(type)});
      cases.push_back(r.gives({narrow, r.op("add", {wide, sum}, {type})}));
    }
    {
      Region r("BiasGelu" + shape); // by rows
      std::string biased = r.op("bias_add", {r.operand(type), r.operand(channels)}, {type});
      cases.push_back(r.gives({r.op("gelu", {biased}, {type})}));
    }
    {
      Region r("SwigluGradSum" + shape); // two results of one op, one of them used twice
      std::string x = r.operand(type);
      std::string gate = r.op("swiglu_grad", {r.operand(type), x, r.operand(type)}, {type, type});
      std::string sum = r.op("add", {gate, "v0#1"}, {type});
      cases.push_back(r.gives({r.op("add", {sum, gate}, {type}), "v0#1"}));
    }
  }
}

struct Product {
  std::string name, form;
  std::vector<int64_t> tokens, k; // k of each pair
  int64_t columns;
  std::vector<train::SegmentList> segments;
  bool half = false;   // operands of bf16
  bool blocks = false; // in that order
  bool split = false;  // f32 by parts in bf16
};

std::string listed(const std::vector<int64_t> &numbers, const char *between) {
  std::string text;
  for (int64_t number : numbers)
    text += (text.empty() ? "" : between) + std::to_string(number);
  return text;
}

std::string sized(std::vector<int64_t> sizes) { return listed(sizes, "x") + "xf32"; }

std::string product(Region &r, const Product &p) {
  Names operands;
  auto add = [&](const std::string &type) { operands.push_back(r.operand(p.half ? rounded(type) : type, normal())); };
  for (int64_t k : p.k) {
    std::vector<int64_t> lhs = p.tokens;
    lhs.push_back(k);
    add(sized(lhs));
  }
  for (int64_t k : p.k)
    add(p.form == "nn" ? sized({k, p.columns}) : sized({p.columns, k}));
  std::vector<int64_t> ranges, result = p.tokens;
  for (size_t s = 0; s < p.segments[0].size(); s += 2)
    for (const train::SegmentList &list : p.segments)
      ranges.insert(ranges.end(), {list[s], list[s + 1]});
  result.push_back(p.columns);
  std::string pairs = std::to_string(p.k.size());
  return r.op("contract", operands, {sized(result)},
              std::string(p.blocks  ? "bf16_order = #train<bf16_order blocks>, "
                          : p.split ? "f32_products = #train<f32_products bf16x6>, "
                                    : "") +
                  "form = #train<form " + p.form + ">, segments = array<i64: " + listed(ranges, ", ") +
                  ">, operandSegmentSizes = array<i32: " + pairs + ", " + pairs + ", 0>");
}

// Every epilogue after one product.
void addEpilogues(std::vector<KernelCase> &cases, const Product &p) {
  std::vector<int64_t> shape = p.tokens;
  shape.push_back(p.columns);
  std::string type = sized(shape), channels = std::to_string(p.columns) + "xf32";
  {
    Region r("Gemm" + p.name + "Bias");
    std::string y = product(r, p);
    cases.push_back(r.gives({r.op("bias_add", {y, r.operand(channels)}, {type})}));
  }
  {
    Region r("Gemm" + p.name + "BiasGelu"); // what backward needs is kept
    std::string y = product(r, p), biased = r.op("bias_add", {y, r.operand(channels)}, {type});
    cases.push_back(r.gives({biased, r.op("gelu", {biased}, {type})}));
  }
  {
    Region r("Gemm" + p.name + "BiasGeluCast"); // nobody needs a result in f32
    std::string y = product(r, p), biased = r.op("bias_add", {y, r.operand(channels)}, {type});
    std::string gelu = r.op("gelu", {biased}, {type});
    cases.push_back(r.gives({r.op("cast", {gelu}, {rounded(type)})}));
  }
  {
    Region r("Gemm" + p.name + "SwigluGradCasts");
    std::string y = product(r, p), narrow = listed(shape, "x") + "xbf16";
    std::string gate = r.op("swiglu_grad", {y, r.operand(type), r.operand(type)}, {type, type});
    std::string up = gate.substr(0, gate.find('#')) + "#1";
    cases.push_back(r.gives({r.op("cast", {gate}, {narrow}), r.op("cast", {up}, {narrow})}));
  }
  {
    Region r("Gemm" + p.name + "CastAndBias"); // the second result is f32
    std::string y = product(r, p), narrow = r.op("cast", {y}, {rounded(type)});
    cases.push_back(r.gives({narrow, r.op("bias_add", {y, r.operand(channels)}, {type})}));
  }
  {
    Region r("Gemm" + p.name + "BiasDropoutSum");
    std::string y = product(r, p), biased = r.op("bias_add", {y, r.operand(channels)}, {type});
    std::string dropped = r.op("dropout", {biased}, {type}, kDropout);
    cases.push_back(r.gives({r.op("add", {r.operand(type), dropped}, {type})}));
  }
  {
    Region r("Gemm" + p.name + "Sum");
    std::string y = product(r, p);
    cases.push_back(r.gives({r.op("add", {r.operand(type), y}, {type})}));
  }
  {
    Region r("Gemm" + p.name + "GeluGrad");
    std::string y = product(r, p);
    cases.push_back(r.gives({r.op("gelu_grad", {y, r.operand(type)}, {type})}));
  }
  {
    Region r("Gemm" + p.name + "Swiglu");
    std::string y = product(r, p);
    cases.push_back(r.gives({r.op("swiglu", {r.operand(type), y}, {type}), y}));
  }
  {
    Region r("Gemm" + p.name + "SwigluGrad"); // the product itself is needed by nobody else
    std::string y = product(r, p);
    r.op("swiglu_grad", {y, r.operand(type), r.operand(type)}, {type, type});
    cases.push_back(r.gives({"v1#1", "v1#0"}));
  }
}

void addProducts(std::vector<KernelCase> &cases) {
  auto one = [](int64_t k) { return std::vector{train::oneSegment(k)}; };
  addEpilogues(cases, {"1x1x1",
                       "nn",
                       {
                           1,
                           1,
                       },
                       {1},
                       1,
                       one(1)});
  addEpilogues(cases, {"50x101", "nn", {1, 7}, {101}, 50, one(101)});
  addEpilogues(cases, {"33x16", "nt", {2, 65}, {16}, 33, one(16)});
  addEpilogues(cases, {"64x40", "nt", {3, 16}, {40}, 64, one(40)});
  addEpilogues(cases, {"ManyBlocks", "nn", {2, 205}, {24}, 421, one(24)});
  // Chains rest in the first result between steps of K.
  addEpilogues(cases, {"LongK", "nt", {2, 9}, {1700}, 40, one(1700)});
  addEpilogues(cases, {"Segments", "nn", {1, 33}, {600}, 70, {train::paddedSegments(600, 8)}});
  addEpilogues(cases, {"LongSegments", "nn", {1, 17}, {7000}, 33, {train::paddedSegments(7000, 4)}});
  addEpilogues(cases, {"Half", "nn", {1, 7}, {102}, 50, one(102), true});
  addEpilogues(cases, {"HalfLongK", "nt", {2, 9}, {1700}, 40, one(1700), true});
  train::SegmentList wide = train::paddedSegments(300, 4), narrow = train::paddedSegments(70, 4);
  addEpilogues(cases, {"Pairs", "nt", {2, 13}, {300, 70}, 45, {wide, narrow}});
}

// The product's own operand is added to it: nothing may be stored over what other tiles still read.
void addShared(std::vector<KernelCase> &cases) {
  Region r("GemmAddedToItsOperand");
  std::string y = product(r, {"", "nn", {2, 33}, {48}, 48, {train::oneSegment(48)}});
  cases.push_back(r.gives({r.op("add", {"x0", y}, {"2x33x48xf32"})}));
}

void addRope(std::vector<KernelCase> &cases) {
  for (int64_t size : {2, 6, 32, 46}) {
    std::string type = sized({2, 5, 3 * size}), table = sized({7, size / 2});
    Region r("RopeCast" + std::to_string(size));
    std::string y = r.op("rope", {r.operand(type), r.operand(table), r.operand(table), r.operand("2x5xi32", ids(7))},
                         {type}, "heads = 3 : i64, inverse = " + std::string(size == 6 ? "true" : "false"));
    cases.push_back(r.gives({y, r.op("cast", {y}, {rounded(type)})}));
  }
}

void addAdamw(std::vector<KernelCase> &cases) {
  std::string type = "37x1003xf32";
  Region r("AdamwCast");
  r.kernelCase.params = [](rcp_step_params_v1 &params) {
    params.learning_rate = 3e-4;
    params.bias_correction1 = 0.271;
    params.bias_correction2 = 0.142625;
    params.grad_scale = 1.0 / 1537;
  };
  std::string parameter =
      r.op("adamw", {r.operand(type), r.operand(type), r.operand(type, uniform(0, 1)), r.operand(type, normal(100))},
           {type, type, type}, "beta1 = 0.9 : f64, beta2 = 0.95 : f64, eps = 1.0e-8 : f64, weight_decay = 0.1 : f64");
  cases.push_back(r.gives({parameter, "v0#1", "v0#2", r.op("cast", {parameter}, {rounded(type)})}));
}

void addNormGradients(std::vector<KernelCase> &cases) {
  for (std::vector<int64_t> shape : {std::vector<int64_t>{1, 1, 5}, {2, 9, 33}, {3, 17, 768}}) {
    std::string type = sized(shape), channels = sized({shape[2]}), rows = sized({shape[0], shape[1]});
    std::string sums = sized({8, shape[2]}), name = listed(shape, "x");
    {
      Region r("LayerNormGradSum" + name);
      std::string dx = r.op(
          "layer_norm_grad",
          {r.operand(type), r.operand(type), r.operand(channels), r.operand(rows), r.operand(rows, uniform(0.5, 2))},
          {type, sums, sums}, "batch_nodes = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0>");
      std::string sum = r.op("add", {r.operand(type), dx}, {type});
      std::string dropped = r.op("dropout", {sum}, {type}, kDropout);
      cases.push_back(r.gives({"v0#1", sum, "v0#2", dropped}));
    }
    {
      Region r("RmsNormGradSum" + name);
      std::string dx = r.op("rms_norm_grad",
                            {r.operand(type), r.operand(type), r.operand(channels), r.operand(rows, uniform(0.5, 2))},
                            {type, sums}, "batch_nodes = 1 : i64");
      cases.push_back(r.gives({"v0#1", r.op("add", {r.operand(type), dx}, {type})}));
    }
  }
}

void addNorms(std::vector<KernelCase> &cases) {
  for (std::vector<int64_t> shape : {std::vector<int64_t>{1, 1, 5}, {2, 9, 33}, {3, 17, 768}}) {
    std::string type = sized(shape), channels = sized({shape[2]}), rows = sized({shape[0], shape[1]});
    std::string name = listed(shape, "x"), eps = "eps = 1.0e-5 : f64";
    {
      Region r("LayerNormSum" + name);
      std::string y =
          r.op("layer_norm", {r.operand(type), r.operand(channels), r.operand(channels)}, {type, rows, rows}, eps);
      cases.push_back(r.gives({r.op("add", {y, "x0"}, {type}), "v0#2", "v0#1"}));
    }
    {
      Region r("RmsNormDropout" + name);
      std::string y = r.op("rms_norm", {r.operand(type), r.operand(channels)}, {type, rows}, eps);
      cases.push_back(r.gives({"v0#1", y, r.op("dropout", {y}, {type}, kDropout)}));
    }
    {
      Region r("LayerNormCast" + name);
      std::string y =
          r.op("layer_norm", {r.operand(type), r.operand(channels), r.operand(channels)}, {type, rows, rows}, eps);
      cases.push_back(r.gives({r.op("cast", {y}, {rounded(type)}), "v0#2", "v0#1"}));
    }
  }
}

} // namespace

// What attention gives goes on in bf16; the row statistics leave the kernel beside it.
static void addAttention(const std::string &name, const std::string &element, const std::string &more,
                         std::vector<KernelCase> &cases) {
  for (int64_t size : {10, 64}) {
    std::string type = sized({2, 70, 4 * size}), row = "2x4x70xf32";
    std::string q = "2x70x" + std::to_string(4 * size) + "x" + element;
    std::string kv = "2x70x" + std::to_string(2 * size) + "x" + element;
    Region r(name + std::to_string(size));
    std::string o = r.op("attention", {r.operand(q), r.operand(kv), r.operand(kv)}, {type, row, row},
                         "heads = 4 : i64, kv_heads = 2 : i64, scale = 0.31 : f64, dropout = 0.1 : f64, "
                         "dropout_id = 3000000019 : i64" +
                             more);
    std::string half = r.op("cast", {o}, {rounded(type)});
    cases.push_back(size == 10 ? r.gives({half, "v0#1", "v0#2"}) : r.gives({"v0#1", o, half, "v0#2"}));
  }
}

static void addBlocks(std::vector<KernelCase> &cases, bool half) {
  auto add = [&](Product product) {
    product.half = product.blocks = half, product.split = !half;
    product.name = (half ? "Blocks" : "Split") + product.name;
    addEpilogues(cases, product);
  };
  add({"7x50x102", "nn", {1, 7}, {102}, 50, {train::oneSegment(102)}});
  add({"130x64x40", "nt", {2, 65}, {40}, 64, {train::oneSegment(40)}});
  add({"Whole", "nn", {2, 64}, {96}, 128, {train::oneSegment(96)}});
  add({"Large", "nn", {2, 205}, {24}, 1030, {train::oneSegment(24)}});
  add({"LongK", "nt", {2, 9}, {3000}, 40, {train::oneSegment(3000)}});
  add({"Segments", "nn", {1, 33}, {600}, 70, {train::paddedSegments(600, 8)}});
  train::SegmentList wide = train::paddedSegments(300, 4), narrow = train::paddedSegments(70, 4);
  add({"Pairs", "nt", {2, 13}, {300, 70}, 45, {wide, narrow}});
}

std::vector<KernelCase> fusedSplitCases() {
  std::vector<KernelCase> cases;
  addBlocks(cases, /*half=*/false);
  return cases;
}

std::vector<KernelCase> fusedBlocksCases() {
  std::vector<KernelCase> cases;
  addBlocks(cases, /*half=*/true);
  addAttention("BlocksAttentionCast", "bf16", ", bf16_order = #train<bf16_order blocks>", cases);
  return cases;
}

std::vector<KernelCase> fusedCases() {
  std::vector<KernelCase> cases;
  addChains(cases);
  addProducts(cases);
  addShared(cases);
  addNorms(cases);
  addNormGradients(cases);
  addRope(cases);
  addAdamw(cases);
  addAttention("AttentionCast", "f32", "", cases);
  addAttention("AttentionCastHalf", "bf16", "", cases);
  return cases;
}

} // namespace recipe::test
