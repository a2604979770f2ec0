#include "models/Models.h"
#include "models/Gpt2.h"
#include "models/GraphBuilder.h"
#include "models/Llama.h"

using namespace mlir;
using namespace recipe;
using namespace recipe::models;

llvm::ArrayRef<ModelFamily> recipe::models::modelFamilies() {
  static const ModelFamily families[] = {gpt2Family(), llamaFamily()};
  return families;
}

// Whatever is added up later, over layers and copies, then fits 64 bits.
static void checkSizes(ModuleOp module, std::vector<ConfigProblem> &problems) {
  constexpr double mostParameters = 0x1p50;
  constexpr int64_t mostElements = int64_t(1) << 40;
  double parameters = 0;
  for (auto variable : module.getOps<train::VariableOp>())
    parameters += double(cast<RankedTensorType>(variable.getType()).getNumElements());
  if (parameters >= mostParameters)
    problems.push_back({"", "a model must have fewer than 2^50 parameters, got " + numberText(parameters)});
  Type tooLarge;
  module.walk([&](train::GradientOpInterface op) {
    for (Type type : op->getResultTypes())
      if (cast<RankedTensorType>(type).getNumElements() >= mostElements)
        tooLarge = type;
  });
  if (!tooLarge)
    return;
  std::string shape;
  for (int64_t size : cast<RankedTensorType>(tooLarge).getShape())
    shape += (shape.empty() ? "" : " x ") + std::to_string(size);
  problems.push_back({"", "an activation of a micro-batch must have fewer than 2^40 elements, got " + shape});
}

std::unique_ptr<Model> recipe::models::readModel(StringRef type, StringRef configJson, const train::StepFacts &facts,
                                                 std::vector<ConfigProblem> &problems) {
  const ModelFamily *family = llvm::find_if(modelFamilies(), [&](const ModelFamily &f) { return type == f.type; });
  if (family == modelFamilies().end()) {
    std::string list;
    for (const ModelFamily &f : modelFamilies())
      list += (list.empty() ? "'" : " or '") + std::string(f.type) + "'";
    problems.push_back({"", "the model type must be " + list + ", got '" + type.str() + "'"});
    return nullptr;
  }
  llvm::Expected<llvm::json::Value> config = llvm::json::parse(configJson);
  if (!config) {
    problems.push_back({"", "not valid JSON: " + llvm::toString(config.takeError())});
    return nullptr;
  }
  const llvm::json::Object *object = config->getAsObject();
  if (!object) {
    problems.push_back({"", "a model configuration must be a JSON object"});
    return nullptr;
  }
  size_t before = problems.size();
  std::unique_ptr<Model> model = family->read(*object, facts, problems);
  return problems.size() == before ? std::move(model) : nullptr;
}

OwningOpRef<ModuleOp> recipe::models::buildModel(MLIRContext &context, StringRef type, StringRef configJson,
                                                 const train::StepFacts &facts, std::vector<ConfigProblem> &problems) {
  size_t before = problems.size();
  std::unique_ptr<Model> model = readModel(type, configJson, facts, problems);
  if (!model)
    return nullptr;
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  GraphBuilder graph(*module, facts);
  graph.beginGraph("forward", /*training=*/true);
  model->build(graph);
  graph.beginGraph("eval", /*training=*/false);
  model->build(graph);
  checkSizes(*module, problems);
  return problems.size() == before ? std::move(module) : nullptr;
}

int64_t recipe::models::parameterCount(ModuleOp module) {
  int64_t count = 0;
  for (auto variable : module.getOps<train::VariableOp>())
    if (variable.getRole() == train::Role::Parameter)
      count += cast<RankedTensorType>(variable.getType()).getNumElements();
  return count;
}
