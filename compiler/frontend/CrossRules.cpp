// The rules that tie several keys together. Each message names the keys and the values.
#include "compiler/frontend/Resolve.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <initializer_list>
#include <numeric>

namespace recipe::frontend {
namespace {

class CrossRules {
public:
  CrossRules(Draft &draft, Diagnostics &diagnostics) : draft(draft), diagnostics(diagnostics) {}

  void check() {
    checkWorld();
    checkBatch();
    checkWarmup();
    checkEvaluation();
    checkPrecision();
  }

private:
  bool usable(std::initializer_list<const char *> keys) const {
    return llvm::all_of(keys, [&](const char *key) { return !draft.refused.count(key); });
  }

  // At the first of the keys that the user wrote.
  void error(std::initializer_list<const char *> keys, const std::string &message) {
    for (const char *key : keys) {
      auto place = draft.valuePlace.find(key);
      if (place != draft.valuePlace.end())
        return diagnostics.error(place->second, message);
    }
    diagnostics.error(Place{}, message);
  }

  // The sizes that are not built yet take part, so that a hybrid layout is not blamed for its product as well.
  void checkWorld() {
    const Distributed &d = draft.recipe.distributed();
    if (!usable({"distributed.world_size", "distributed.data_parallel_size"}))
      return;
    int64_t product = d.data_parallel_size();
    std::string rule = "data_parallel_size", values = std::to_string(product);
    auto times = [&](bool has, const char *name, int64_t size) {
      if (!has || size == 1)
        return;
      product *= size;
      rule += std::string(" * ") + name;
      values += " * " + std::to_string(size);
    };
    times(d.has_tensor_parallel_size(), "tensor_parallel_size", d.tensor_parallel_size());
    times(d.has_pipeline_parallel_size(), "pipeline_parallel_size", d.pipeline_parallel_size());
    times(d.has_context_parallel_size(), "context_parallel_size", d.context_parallel_size());
    if (d.world_size() != product)
      error({"distributed.world_size", "distributed.data_parallel_size"},
            "'distributed.world_size' must equal " + rule + ", got " + std::to_string(d.world_size()) + " and " +
                values);
  }

  // The canonical order of the sums over tokens (docs/numerics.md) asks for whole segments per rank and whole
  // micro-batches per segment, or whole segments per micro-batch.
  void checkBatch() {
    if (!usable({"data.batch_size", "distributed.world_size", "distributed.data_parallel_size",
                 "optim.grad_accum_steps", "numerics.batch_segments"}) ||
        !draft.recipe.data().has_batch_size())
      return;
    int64_t batch = draft.recipe.data().batch_size(), ranks = draft.recipe.distributed().data_parallel_size();
    int64_t accumulation = draft.recipe.optim().grad_accum_steps();
    int64_t global = batch * ranks * accumulation;
    int64_t segments = std::gcd(global, draft.recipe.numerics().batch_segments());
    int64_t perSegment = global / segments;
    std::string origin = " (the global batch of " + std::to_string(global) + " = data.batch_size " +
                         std::to_string(batch) + " * data_parallel_size " + std::to_string(ranks) +
                         " * grad_accum_steps " + std::to_string(accumulation) + " has gcd(" + std::to_string(global) +
                         ", numerics.batch_segments " + std::to_string(draft.recipe.numerics().batch_segments()) +
                         ") = " + std::to_string(segments) + " segments)";
    if (segments % ranks)
      error({"distributed.data_parallel_size", "distributed.world_size", "data.batch_size"},
            "'distributed.data_parallel_size' must divide the number of batch segments, got " + std::to_string(ranks) +
                " and " + std::to_string(segments) + origin);
    else if (perSegment % batch && batch % perSegment)
      error({"data.batch_size"}, "'data.batch_size' must divide the samples of a batch segment or be a multiple of "
                                 "them, got " +
                                     std::to_string(batch) + " and " + std::to_string(perSegment) + origin);
  }

  void checkWarmup() {
    const Optim &optim = draft.recipe.optim();
    if (usable({"optim.warmup_steps", "optim.max_steps"}) && optim.has_warmup_steps() && optim.has_max_steps() &&
        optim.warmup_steps() >= optim.max_steps())
      error({"optim.warmup_steps", "optim.max_steps"}, "'optim.warmup_steps' must be < optim.max_steps, got " +
                                                           std::to_string(optim.warmup_steps()) + " and " +
                                                           std::to_string(optim.max_steps()));
  }

  void checkEvaluation() {
    const Data &data = draft.recipe.data();
    if (!usable({"data.eval_path", "data.eval_fraction"}) || data.has_eval_path() || data.eval_fraction() > 0)
      return;
    needEvaluation("logging.eval_interval", draft.recipe.logging().eval_interval());
    needEvaluation("logging.eval_steps", draft.recipe.logging().eval_steps());
  }
  void needEvaluation(const char *key, int64_t value) {
    if (value > 0 && usable({key}))
      error({key}, "'" + std::string(key) + "' needs 'data.eval_path' or 'data.eval_fraction' > 0, got " +
                       std::to_string(value) + " and neither");
  }

  void checkPrecision() {
    Precision::Compute compute = draft.recipe.precision().compute(), other = draft.recipe.model().precision();
    if (!usable({"precision.compute", "model.precision"}))
      return;
    if (compute != other)
      error({"precision.compute"}, "'precision.compute' must equal model.precision, got " +
                                       Precision::Compute_Name(compute) + " and " + Precision::Compute_Name(other));
    else if (usable({"precision.keep_fp32"}) && draft.recipe.precision().keep_fp32_size() > 0 &&
             compute == Precision::fp32)
      error({"precision.keep_fp32"}, "'precision.keep_fp32' needs precision.compute: bf16, got fp32");
  }

  Draft &draft;
  Diagnostics &diagnostics;
};

} // namespace

void checkCrossRules(Draft &draft, Diagnostics &diagnostics) { CrossRules(draft, diagnostics).check(); }

} // namespace recipe::frontend
