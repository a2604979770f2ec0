#include "dialects/train/RunValues.h"
#include "tests/numerics/BinOrder.h"
#include "tests/numerics/KernelTables.h"

namespace recipe::test {

namespace {

void addSchedules(std::vector<KernelCase> &cases) {
  for (int scheduler = 0; scheduler < 3; ++scheduler)
    for (int64_t step : {0, 4, 9, 10, 11, 50, 99, 150})
      for (double warmupSteps : {10.0, -1.0})
        cases.push_back({"Schedule" + std::to_string(scheduler) + "At" + std::to_string(step) +
                             (warmupSteps < 0 ? "ratio" : "steps"),
                         "train.schedule",
                         "beta1 = 0.9 : f64, beta2 = 0.95 : f64",
                         {},
                         {},
                         [=](rcp_step_params_v1 &params) {
                           params.step = step;
                           params.run_values[train::LearningRate] = 3e-4;
                           params.run_values[train::MinLrRatio] = 0.1;
                           params.run_values[train::Scheduler] = scheduler;
                           params.run_values[train::WarmupSteps] = warmupSteps;
                           params.run_values[train::WarmupRatio] = 0.125;
                           params.run_values[train::MaxSteps] = 100;
                         }});
}

void addNorms(std::vector<KernelCase> &cases) {
  auto add = [&](std::string name, std::string clip, Fill fill, std::function<void(rcp_step_params_v1 &)> params = {}) {
    // Several tensors, one of several workgroups, one smaller than a vector.
    cases.push_back(
        {"GradNorm" + name,
         "train.grad_norm",
         "clip = " + clip + " : f64",
         {{"3xf32", fill}, {"197x701xf32", fill}, {"8x16xf32", fill}, {"1xf32", fill}, {"2x3x5x7xf32", fill}},
         {},
         [=](rcp_step_params_v1 &values) {
           values.valid_tokens = 1021;
           values.loss_sum = 4711.25;
           if (params)
             params(values);
         }});
  };
  double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  add("Plain", "1.0", normal(10));
  add("Clipped", "1.0e-3", normal(1000));
  add("NoClip", "0.0", normal(10));
  add("Tiny", "1.0", uniform(1e-30, 1e-20));
  add("Huge", "1.0", uniform(1e30, 3e38));
  add("WideRange", "1.0", [](train::HostTensor &tensor, Random &random) {
    for (float &value : tensor.f32)
      value = float(std::ldexp(double(random() % 1000), int(random() % 120) - 60));
  });
  add("Zero", "1.0", constant(0.0));
  add("Infinite", "1.0", constant(infinity));
  add("NotANumber", "1.0", [=](train::HostTensor &tensor, Random &random) {
    normal(1)(tensor, random);
    tensor.f32.back() = float(nan);
  });
  add("NoTokens", "1.0", normal(1), [](rcp_step_params_v1 &values) { values.valid_tokens = 0; });
  add("BadLoss", "1.0", normal(1), [=](rcp_step_params_v1 &values) { values.loss_sum = nan; });
}

// Any other order of the bins than the reference's gives another norm.
KernelCase binOrderCase() {
  BinOrder order = findBinOrder();
  Fill gradients = [values = order.gradients](train::HostTensor &tensor, Random &) { tensor.f32 = values; };
  return {"GradNormBinOrder",
          "train.grad_norm",
          "clip = 0.0 : f64",
          {{std::to_string(order.gradients.size()) + "xf32", gradients}},
          {},
          [](rcp_step_params_v1 &params) { params.valid_tokens = 1; }};
}

} // namespace

std::vector<KernelCase> updateCases() {
  std::vector<KernelCase> cases;
  addSchedules(cases);
  addNorms(cases);
  cases.push_back(binOrderCase());
  cases.push_back({"StepLoss",
                   "train.step_loss",
                   "",
                   {{"8xf32", uniform(0, 700)},
                    {"8xf32",
                     [](train::HostTensor &tensor, Random &random) {
                       for (float &value : tensor.f32)
                         value = float(random() % 5000);
                     }}},
                   {}});
  for (const char *shape : {"1x1xf32", "3x21xf32", "4x512xf32"})
    cases.push_back({std::string("EvalLoss") + shape,
                     "train.eval_loss",
                     "",
                     {{shape, uniform(0, 30)},
                      {shape,
                       [](train::HostTensor &tensor, Random &random) {
                         for (float &value : tensor.f32)
                           value = float(random() % 2);
                       }}},
                     {}});
  return cases;
}

} // namespace recipe::test
