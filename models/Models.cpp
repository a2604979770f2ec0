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

OwningOpRef<ModuleOp> recipe::models::buildModel(MLIRContext &context, StringRef type, StringRef configJson,
                                                 const train::StepFacts &facts, std::vector<ConfigProblem> &problems) {
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
  if (problems.size() != before)
    return nullptr;
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  GraphBuilder graph(*module, facts);
  graph.beginGraph("forward", /*training=*/true);
  model->build(graph);
  graph.beginGraph("eval", /*training=*/false);
  model->build(graph);
  return module;
}

int64_t recipe::models::parameterCount(ModuleOp module) {
  int64_t count = 0;
  for (auto variable : module.getOps<train::VariableOp>())
    if (variable.getRole() == train::Role::Parameter)
      count += cast<RankedTensorType>(variable.getType()).getNumElements();
  return count;
}
