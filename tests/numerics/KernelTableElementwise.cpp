#include "tests/numerics/KernelTables.h"
#include <cstring>

namespace recipe::test {

static void someStep(rcp_step_params_v1 &params) {
  params.seed = 0x123456789abcdef0u;
  params.step = 77;
  params.first_sample = 3;
}

static void someUpdate(rcp_step_params_v1 &params) {
  params.learning_rate = 3e-4;
  params.bias_correction1 = 0.271;
  params.bias_correction2 = 0.142625;
  params.grad_scale = 1.0 / 1537;
}

static std::vector<KernelCase> adamwCases() {
  std::vector<KernelCase> cases;
  auto add = [&](const char *name, const char *decay, std::function<void(rcp_step_params_v1 &)> params, Fill gradient) {
    std::string attributes =
        "beta1 = 0.9 : f64, beta2 = 0.95 : f64, eps = 1.0e-8 : f64, weight_decay = " + std::string(decay) + " : f64";
    cases.push_back({name,
                     "train.adamw",
                     attributes,
                     {{"37x1003xf32"}, {"37x1003xf32"}, {"37x1003xf32", uniform(0, 1)}, {"37x1003xf32", gradient}},
                     {"37x1003xf32", "37x1003xf32", "37x1003xf32"},
                     params});
  };
  add("AdamwDecay", "0.1", someUpdate, normal(100));
  add("AdamwNoDecay", "0.0", someUpdate, normal(100));
  auto skipped = [](rcp_step_params_v1 &params) {
    someUpdate(params);
    params.skip_update = 1;
  };
  add("AdamwSkipped", "0.1", skipped, constant(std::numeric_limits<double>::quiet_NaN()));
  return cases;
}

static std::vector<KernelCase> mergeCases() {
  std::vector<KernelCase> cases;
  for (int64_t count : {1, 2, 4, 8})
    for (int64_t node = 0; node < count; ++node)
      cases.push_back({"TreeMerge" + std::to_string(node) + "Of" + std::to_string(count),
                       "train.tree_merge",
                       "",
                       {{"19x1001xf32"}, {"3x19x1001xf32"}},
                       {"19x1001xf32", "3x19x1001xf32"},
                       [=](rcp_step_params_v1 &params) {
                         params.node = node;
                         params.node_count = count;
                       }});
  return cases;
}

// Every exponent, ties, NaN and infinities.
static void anyBits(train::HostTensor &tensor, Random &random) {
  for (float &value : tensor.f32) {
    uint32_t bits = uint32_t(random()), low = random() % 4 == 0 ? 0x8000u : bits & 0xffffu;
    bits = (bits & 0xffff0000u) | low;
    std::memcpy(&value, &bits, sizeof value);
  }
}

static std::vector<KernelCase> castCases() {
  std::vector<KernelCase> cases;
  for (std::string shape : {"1", "15", "3x5", "2x4x32", "3x7x1999"}) {
    cases.push_back({"Narrow" + shape, "train.cast", "", {{shape + "xf32", anyBits}}, {shape + "xbf16"}});
    cases.push_back({"Widen" + shape, "train.cast", "", {{shape + "xbf16", anyBits}}, {shape + "xf32"}});
  }
  return cases;
}

std::vector<KernelCase> elementwiseCases() {
  std::vector<KernelCase> cases;
  // One element, a tail only, whole vectors, several workgroups with a tail.
  for (std::string shape : {"1x1x1xf32", "1x3x5xf32", "2x4x32xf32", "3x7x1999xf32"}) {
    std::string suffix = shape.substr(0, shape.find("xf32"));
    auto add = [&](const char *name, const char *op, size_t operands, size_t results, Fill fill,
                   std::string attributes = "") {
      cases.push_back({name + suffix, op, attributes, std::vector<KernelOperand>(operands, {shape, fill}),
                       std::vector<std::string>(results, shape), someStep});
    };
    add("Add", "train.add", 2, 1, normal(3));
    add("Gelu", "train.gelu", 1, 1, normal(5));
    add("GeluWide", "train.gelu", 1, 1, normal(200));
    add("GeluGrad", "train.gelu_grad", 2, 1, normal(5));
    auto half = [&](const char *name, const char *op, std::vector<std::string> types, size_t results) {
      std::vector<KernelOperand> operands;
      for (const std::string &type : types)
        operands.push_back({suffix + "x" + type, normal(5)});
      cases.push_back({name + suffix, op, "", operands, std::vector<std::string>(results, shape), someStep});
    };
    half("GeluBF16", "train.gelu", {"bf16"}, 1);
    half("GeluGradBF16", "train.gelu_grad", {"f32", "bf16"}, 1);
    half("SwigluBF16", "train.swiglu", {"bf16", "bf16"}, 1);
    half("SwigluGradBF16", "train.swiglu_grad", {"f32", "bf16", "bf16"}, 2);
    add("Swiglu", "train.swiglu", 2, 1, normal(8));
    add("SwigluGrad", "train.swiglu_grad", 3, 2, normal(8));
    add("Fill", "train.fill", 0, 1, normal(), "value = -0.37 : f64");
    add("InitNormal", "train.init_normal", 0, 1, normal(), "stddev = 0.02 : f64, key = 3735928559 : i64");
    add("Dropout", "train.dropout", 1, 1, normal(), "p = 0.1 : f64, dropout_id = 4042322160 : i64");
    cases.push_back(
        {"BiasAdd" + suffix, "train.bias_add", "", {{shape}, {shape.substr(shape.find('x', 2) + 1)}}, {shape}});
  }
  // The 64-bit element counter starts above 32 bits, and carries out of its low word inside the tensor.
  cases.push_back({"DropoutCarry",
                   "train.dropout",
                   "p = 0.5 : f64, dropout_id = 1 : i64",
                   {{"1x16x32xf32"}},
                   {"1x16x32xf32"},
                   [](rcp_step_params_v1 &params) {
                     someStep(params);
                     params.first_sample = (int64_t(1) << 32) / 512 * 3;
                   }});
  cases.push_back({"DropoutCarryInside",
                   "train.dropout",
                   "p = 0.5 : f64, dropout_id = 1 : i64",
                   {{"1x31x33xf32"}},
                   {"1x31x33xf32"},
                   [](rcp_step_params_v1 &params) {
                     someStep(params);
                     params.first_sample = (int64_t(1) << 32) / (31 * 33);
                   }});
  for (auto &more : {adamwCases(), castCases(), mergeCases()})
    cases.insert(cases.end(), more.begin(), more.end());
  return cases;
}

} // namespace recipe::test
