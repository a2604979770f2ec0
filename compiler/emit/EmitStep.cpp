#include "compiler/emit/EmitStep.h"
#include "compiler/Pipeline.h"
#include "compiler/Version.h"
#include "compiler/emit/Program.h"
#include "compiler/frontend/Describe.h"
#include "dialects/train/NumericsVersion.h"
#include "dialects/train/Shapes.h"
#include "dialects/train/Train.h"
#include "runtime/abi/Container.h"
#include "runtime/abi/kernel_abi.h"
#include <nlohmann/json.hpp>

using namespace mlir;

namespace recipe::emit {

static void emitWeightFiles(const models::WeightFiles &files, abi::WeightFiles &out) {
  out.set_architecture(files.architecture);
  out.set_base_prefix(files.basePrefix);
  out.mutable_not_weights()->Assign(files.notWeights.begin(), files.notWeights.end());
  out.mutable_meaning_keys()->Assign(files.meaningKeys.begin(), files.meaningKeys.end());
  for (const auto &[name, tensor] : files.tied) {
    abi::WeightFiles::Alias &alias = *out.add_tied();
    alias.set_name(name);
    alias.set_tensor(tensor);
  }
}

// The config as other programs look for it: they find the model's class by `architectures`.
static std::string completeConfig(const std::string &json, const std::string &type, const std::string &architecture) {
  nlohmann::json config = nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!config.is_object())
    return json;
  config["model_type"] = type;
  config["architectures"] = {architecture};
  return config.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string emitStep(Compilation &compilation) {
  abi::Step &step = compilation.step;
  frontend::describeRecipe(compilation.recipe, step);
  abi::Manifest &manifest = *step.mutable_manifest();
  manifest.set_producer(producer());
  manifest.set_abi_version(RCP_ABI_VERSION);
  manifest.set_numerics_version(train::NumericsVersion);
  manifest.set_bf16_order(compilation.bf16Order);
  manifest.set_vocab_size(compilation.vocabSize);
  manifest.set_flops_per_token(compilation.flopsPerToken);
  manifest.set_parameter_count(compilation.parameterCount);
  manifest.set_model_config(
      completeConfig(manifest.model_config(), manifest.model_type(), compilation.weightFiles.architecture));
  emitWeightFiles(compilation.weightFiles, *step.mutable_weight_files());
  emitProgram(*compilation.module, step);

  const step::TargetInfo &target = compilation.options.target;
  abi::NativeObject &object = *step.add_objects();
  object.set_triple(target.triple);
  object.set_cpu(target.cpu);
  for (const std::string &feature : target.features)
    object.add_features(feature);
  object.set_data(compilation.object);
  step.set_semantic(compilation.semantic);

  std::string problem;
  abi::serializeStep(step, compilation.bytes, problem);
  return problem;
}

static train::GraphOp trainGraph(ModuleOp module) { return module.lookupSymbol<train::GraphOp>("train"); }

double flopsPerToken(ModuleOp module, const train::StepFacts &facts) {
  double flops = 0;
  trainGraph(module).walk([&](train::CostOpInterface op) { flops += op.getFlops(); });
  return flops / double(facts.batchSize * facts.seqLength);
}

std::string bf16Order(ModuleOp module) {
  std::string order;
  module.walk([&](train::PrecisionOpInterface op) {
    auto isOrder = [](StringAttr name) { return name == "bf16_order"; };
    if (!llvm::any_of(op->getName().getAttributeNames(), isOrder) || !train::isBF16(op->getOperand(0)))
      return;
    auto attribute = op->getAttrOfType<train::BF16OrderAttr>("bf16_order");
    order = train::stringifyBF16Order(attribute ? attribute.getValue() : train::BF16Order::Pairs);
  });
  return order;
}

int64_t vocabSize(ModuleOp module) {
  int64_t size = 0;
  trainGraph(module).walk([&](train::LinearCrossEntropyGradOp op) {
    size = std::max(size, cast<RankedTensorType>(op.getWeight().getType()).getDimSize(0));
  });
  return size;
}

} // namespace recipe::emit
