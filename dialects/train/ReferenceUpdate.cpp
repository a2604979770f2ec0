// Reference meaning of initial values, accumulation and the update.
#include "dialects/train/ReferenceTensors.h"
#include "dialects/train/RunValues.h"

using namespace mlir;
using namespace recipe::train;

// f32 values in both modes: the initial parameters of a run do not depend on how it is interpreted.
LogicalResult InitNormalOp::evaluate(ReferenceContext &context, Operands operands, Results results) {
  if (failed(expectParams(*this, context)))
    return failure();
  return inMode(context, [&](auto p) {
    auto *y = allocate<decltype(p)>(results[0], getResult());
    FlushDenormals flush;
    ExactPolicy exact;
    auto key = initKey(exact, wordsOf<ExactPolicy>(context.params->seed), uint32_t(getKey()));
    float stddev = exact.constant(getStddev().convertToDouble());
    for (int64_t e = 0, n = results[0].size(); e < n; ++e)
      y[e] = normalOf(exact, threefry2x32(exact, key, wordsOf<ExactPolicy>(uint64_t(e))), stddev);
  });
}

LogicalResult TreeMergeOp::evaluate(ReferenceContext &context, Operands operands, Results results) {
  if (failed(expectParams(*this, context)))
    return failure();
  uint64_t node = context.params->node, count = context.params->node_count;
  int64_t levels = shapeOf(getPending())[0];
  if (node >= count || count > uint64_t(1) << levels)
    return emitOpError("a node lies inside the tree and the tree inside the pending levels, got: ")
           << node << ", " << count << " and " << levels;
  return inMode(context, [&](auto p) {
    using P = decltype(p);
    auto *in = valuesOf<P>(operands[0]), *pendingIn = valuesOf<P>(operands[1]);
    auto *value = allocate<P>(results[0], getResult()), *pending = allocate<P>(results[1], getPendingResult());
    int64_t n = results[0].size(), level = 0;
    std::copy_n(in, n, value);
    std::copy_n(pendingIn, results[1].size(), pending);
    for (; node >> level & 1; ++level)
      for (int64_t i = 0; i < n; ++i)
        value[i] = p.add(pending[level * n + i], value[i]);
    if (node != count - 1)
      std::copy_n(value, n, pending + level * n);
  });
}

LogicalResult StepLossOp::evaluate(ReferenceContext &context, Operands operands, Results results) {
  if (failed(expectParams(*this, context)))
    return failure();
  return inMode(context, [&](auto p) {
    using P = decltype(p);
    context.params->loss_sum = treeSum(p, valuesOf<P>(operands[0]), kPositionSegments);
    context.params->valid_tokens = int64_t(treeSum(p, valuesOf<P>(operands[1]), kPositionSegments));
  });
}

LogicalResult EvalLossOp::evaluate(ReferenceContext &context, Operands operands, Results results) {
  if (failed(expectParams(*this, context)))
    return failure();
  return inMode(context, [&](auto p) {
    using P = decltype(p);
    const auto *losses = valuesOf<P>(operands[0]), *counts = valuesOf<P>(operands[1]);
    Fp64Policy wide;
    double loss = 0, count = 0;
    for (int64_t token = 0, n = operands[0]->size(); token < n; ++token) {
      loss += std::is_same_v<typename P::F, double> ? double(losses[token]) : evalTerm(wide, double(losses[token]));
      count += double(counts[token]);
    }
    context.params->loss_sum = loss;
    context.params->valid_tokens = int64_t(count);
  });
}

namespace {

// The largest |x|, NaN when there is one: compared as bit patterns, so that no order of comparisons enters.
double largestMagnitude(double x, double largest) {
  auto bits = [](double value) {
    uint64_t word;
    std::memcpy(&word, &value, sizeof word);
    return word;
  };
  double magnitude = std::fabs(x);
  return bits(magnitude) > bits(largest) ? magnitude : largest;
}

// The sum of squares of all gradients; `largest` is the largest magnitude, positive and finite.
template <class P> double sumOfSquares(Operands gradients, double largest) {
  double constants[kNormBins], bins[kNormBins] = {};
  double square = largest * largest;
  uint64_t bits;
  std::memcpy(&bits, &square, sizeof bits);
  for (int k = 0; k < kNormBins; ++k) {
    uint64_t constant = binConstantBits(bits >> 52, k);
    std::memcpy(&constants[k], &constant, sizeof constant);
  }
  Fp64Policy wide;
  for (const HostTensor *gradient : gradients)
    for (int64_t i = 0, n = gradient->size(); i < n; ++i) {
      double g = valuesOf<P>(gradient)[i];
      addToBins(wide, g * g, constants, bins);
    }
  return (bins[2] + bins[1]) + bins[0];
}

} // namespace

LogicalResult GradNormOp::evaluate(ReferenceContext &context, Operands operands, Results results) {
  if (failed(expectParams(*this, context)))
    return failure();
  double clip = getClip().convertToDouble();
  return inMode(context, [&](auto p) {
    using P = decltype(p);
    double largest = 0;
    for (const HostTensor *gradient : operands)
      for (int64_t i = 0, n = gradient->size(); i < n; ++i)
        largest = largestMagnitude(valuesOf<P>(gradient)[i], largest);
    double total = largest; // 0, infinite or NaN
    if (largest > 0 && std::isfinite(largest))
      total = sumOfSquares<P>(operands, largest);
    rcp_step_params_v1 &params = *context.params;
    double valid = double(params.valid_tokens);
    params.norm_max = largest;
    params.grad_norm = std::sqrt(total) / valid;
    double ratio = clip / (params.grad_norm + 1e-6);
    params.grad_scale = (clip > 0 && ratio < 1 ? ratio : 1.0) / valid;
    bool usable = std::isfinite(total) && std::isfinite(params.loss_sum) && params.valid_tokens > 0;
    params.skip_update = usable ? 0 : 1;
  });
}

LogicalResult AdamwOp::evaluate(ReferenceContext &context, Operands operands, Results results) {
  if (failed(expectParams(*this, context)))
    return failure();
  const rcp_step_params_v1 &params = *context.params;
  double beta1 = getBeta1().convertToDouble(), beta2 = getBeta2().convertToDouble(),
         decay = getWeightDecay().convertToDouble();
  return inMode(context, [&](auto p) {
    using P = decltype(p);
    AdamwScalars<P> scalars{p.constant(params.grad_scale),
                            p.constant(params.learning_rate),
                            p.constant(1.0 / params.bias_correction1),
                            p.constant(1.0 / params.bias_correction2),
                            p.constant(beta1),
                            p.constant(beta2),
                            p.constant(1.0 - beta1),
                            p.constant(1.0 - beta2),
                            p.constant(getEps().convertToDouble()),
                            p.constant(decay),
                            decay != 0};
    auto *parameter = valuesOf<P>(operands[0]), *m = valuesOf<P>(operands[1]), *v = valuesOf<P>(operands[2]);
    auto *gradient = valuesOf<P>(operands[3]);
    auto *parameterOut = allocate<P>(results[0], getParameterResult());
    auto *mOut = allocate<P>(results[1], getMResult()), *vOut = allocate<P>(results[2], getVResult());
    for (int64_t i = 0, n = results[0].size(); i < n; ++i) {
      AdamwResults<P> updated{parameter[i], m[i], v[i]};
      if (!params.skip_update)
        updated = adamwOf(p, scalars, parameter[i], m[i], v[i], gradient[i]);
      parameterOut[i] = updated.parameter;
      mOut[i] = updated.m;
      vOut[i] = updated.v;
    }
  });
}

LogicalResult ScheduleOp::evaluate(ReferenceContext &context, Operands operands, Results results) {
  if (failed(expectParams(*this, context)))
    return failure();
  return inMode(context, [&](auto) { // fp64 in both modes
    rcp_step_params_v1 &params = *context.params;
    Fp64Policy p;
    ScheduleInputs<Fp64Policy> inputs{
        double(params.step),          params.run_values[LearningRate], params.run_values[MinLrRatio],
        params.run_values[Scheduler], params.run_values[WarmupSteps],  params.run_values[WarmupRatio],
        params.run_values[MaxSteps],  getBeta1().convertToDouble(),    getBeta2().convertToDouble()};
    ScheduleResults<Fp64Policy> values = scheduleOf(p, inputs);
    params.learning_rate = values.learningRate;
    params.bias_correction1 = values.biasCorrection1;
    params.bias_correction2 = values.biasCorrection2;
  });
}
