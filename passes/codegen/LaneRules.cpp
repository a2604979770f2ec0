#include "passes/codegen/LaneRules.h"
#include "passes/codegen/BF16.h"
#include "passes/codegen/Spec.h"

using namespace llvm;
using mlir::DictionaryAttr;
using recipe::train::Words;

namespace recipe::codegen {

static Vals addLanes(const LaneInput &in, ValRange x) { return {in.policy.add(x[0], x[1])}; }
// A bf16 in a lane is the float that it widens to.
static Vals castLanes(const LaneInput &in, ValRange x) {
  return {specInt(in.attributes, "narrows") ? roundToBF16(in.builder, x[0]) : x[0]};
}
static Vals geluLanes(const LaneInput &in, ValRange x) { return {train::geluOf(in.policy, x[0])}; }
static Vals geluGradLanes(const LaneInput &in, ValRange x) { return {train::geluGradOf(in.policy, x[0], x[1])}; }
static Vals swigluLanes(const LaneInput &in, ValRange x) { return {train::swigluOf(in.policy, x[0], x[1])}; }
static Vals swigluGradLanes(const LaneInput &in, ValRange x) {
  auto gradients = train::swigluGradOf(in.policy, x[0], x[1], x[2]);
  return {gradients.dgate, gradients.dup};
}
static Vals fillLanes(const LaneInput &in, ValRange) { return {in.policy.constant(specFloat(in.attributes, "value"))}; }

// The words of element + lane in each lane.
static Words<EmitPolicy> elementWords(const LaneInput &in, Val element) {
  return train::offsetCounter(in.policy, in.policy.words(element), in.builder.laneIndex());
}

// dropout: scalars (dropout_id, elements of a sample) -> key words, global index of the first element.
static Vals prepareDropout(KernelBuilder &b, DictionaryAttr, ValRange scalars) {
  EmitPolicy p = EmitPolicy::scalar(b);
  Val seed = b.param(offsetof(rcp_step_params_v1, seed), b.i64Type());
  Val step = b.param(offsetof(rcp_step_params_v1, step), b.i64Type());
  Val firstSample = b.param(offsetof(rcp_step_params_v1, first_sample), b.i64Type());
  auto key = train::dropoutKey(p, p.words(seed), p.words(scalars[0]).w0, p.words(step).w0);
  return {key.w0, key.w1, b.imul(firstSample, scalars[1])};
}

static Vals dropoutLanes(const LaneInput &in, ValRange x) {
  KernelBuilder &b = in.builder;
  double probability = specFloat(in.attributes, "p");
  Words<EmitPolicy> key{b.splat(in.prepared[0]), b.splat(in.prepared[1])};
  Words<EmitPolicy> element = elementWords(in, b.iadd(in.prepared[2], in.element));
  Val keep = train::dropoutKeep(in.policy, key, element, in.policy.constantInt(train::dropoutThreshold(probability)));
  return {train::applyDropout(in.policy, keep, x[0], in.policy.constant(train::dropoutScale(probability)))};
}

// init_normal: scalar (key) -> key words.
static Vals prepareNormal(KernelBuilder &b, DictionaryAttr, ValRange scalars) {
  EmitPolicy p = EmitPolicy::scalar(b);
  Val seed = b.param(offsetof(rcp_step_params_v1, seed), b.i64Type());
  auto key = train::initKey(p, p.words(seed), p.words(scalars[0]).w0);
  return {key.w0, key.w1};
}

static Vals normalLanes(const LaneInput &in, ValRange) {
  Words<EmitPolicy> key{in.builder.splat(in.prepared[0]), in.builder.splat(in.prepared[1])};
  Words<EmitPolicy> drawn = train::threefry2x32(in.policy, key, elementWords(in, in.element));
  return {train::normalOf(in.policy, drawn, in.policy.constant(specFloat(in.attributes, "stddev")))};
}

// adamw: the scalars of this step, rounded to f32 once, and whether it is skipped.
static Vals prepareAdamw(KernelBuilder &b, DictionaryAttr, ValRange) {
  auto rounded = [&](Val number) { return b.ir().CreateFPTrunc(number, b.f32Type()); };
  auto field = [&](size_t offset) { return b.param(offset, b.f64Type()); };
  auto inverse = [&](size_t offset) { return rounded(b.div(b.f64(1.0), field(offset))); };
  Val skip = b.param(offsetof(rcp_step_params_v1, skip_update), b.i64Type());
  return {rounded(field(offsetof(rcp_step_params_v1, grad_scale))),
          rounded(field(offsetof(rcp_step_params_v1, learning_rate))),
          inverse(offsetof(rcp_step_params_v1, bias_correction1)),
          inverse(offsetof(rcp_step_params_v1, bias_correction2)), b.ir().CreateICmpNE(skip, b.i64(0))};
}

static Vals adamwLanes(const LaneInput &in, ValRange x) {
  EmitPolicy &p = in.policy;
  double beta1 = specFloat(in.attributes, "beta1"), beta2 = specFloat(in.attributes, "beta2");
  double decay = specFloat(in.attributes, "weight_decay");
  train::AdamwScalars<EmitPolicy> scalars{p.broadcast(in.prepared[0]),
                                          p.broadcast(in.prepared[1]),
                                          p.broadcast(in.prepared[2]),
                                          p.broadcast(in.prepared[3]),
                                          p.constant(beta1),
                                          p.constant(beta2),
                                          p.constant(1.0 - beta1),
                                          p.constant(1.0 - beta2),
                                          p.constant(specFloat(in.attributes, "eps")),
                                          p.constant(decay),
                                          decay != 0};
  auto updated = train::adamwOf(p, scalars, x[0], x[1], x[2], x[3]);
  Val skip = in.prepared[4];
  return {in.builder.select(skip, x[0], updated.parameter), in.builder.select(skip, x[1], updated.m),
          in.builder.select(skip, x[2], updated.v)};
}

static constexpr LaneRule rules[] = {
    {"train.add", nullptr, addLanes, 0, true},
    {"train.bias_add", nullptr, addLanes, 0, true},
    {"train.cast", nullptr, castLanes, 0, true},
    {"train.gelu", nullptr, geluLanes},
    {"train.gelu_grad", nullptr, geluGradLanes},
    {"train.swiglu", nullptr, swigluLanes},
    {"train.swiglu_grad", nullptr, swigluGradLanes},
    {"train.dropout", prepareDropout, dropoutLanes, 2},
    {"train.fill", nullptr, fillLanes},
    {"train.init_normal", prepareNormal, normalLanes, 1},
    {"train.adamw", prepareAdamw, adamwLanes},
};

const LaneRule *findLaneRule(StringRef op) {
  for (const LaneRule &rule : rules)
    if (rule.op == op)
      return &rule;
  return nullptr;
}

} // namespace recipe::codegen
