// The model families: a Hugging Face config.json in, a module with @forward and @eval out.
#ifndef MODELS_MODELS_H
#define MODELS_MODELS_H

#include "dialects/train/StepFacts.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "models/ConfigReader.h"

namespace recipe::models {

class GraphBuilder;

// A config that was read without problems, ready to be built.
class Model {
public:
  virtual ~Model() = default;
  // Adds the forward pass to the open graph.
  virtual void build(GraphBuilder &graph) const = 0;
};

struct KeySection {
  const char *prefix; // "" or the key that holds the object
  llvm::ArrayRef<ConfigKey> keys;
};

struct ModelFamily {
  const char *type; // model.type, and model_type of the config
  const char *text; // for docs/models.md
  std::vector<KeySection> (*keys)();
  // Adds to `problems` what is wrong with the config; the result is only meaningful without problems.
  std::unique_ptr<Model> (*read)(const llvm::json::Object &config, const train::StepFacts &facts,
                                 std::vector<ConfigProblem> &problems);
};

// In the order of the documentation.
llvm::ArrayRef<ModelFamily> modelFamilies();

// Adds to `problems` what is wrong with the config; null if there is anything. Of `facts` only the sequence length
// counts; 0: not known.
std::unique_ptr<Model> readModel(llvm::StringRef type, llvm::StringRef configJson, const train::StepFacts &facts,
                                 std::vector<ConfigProblem> &problems);

// Null when there are problems, which are then all in `problems`. `facts` must be valid; the context must have the
// train dialect loaded.
mlir::OwningOpRef<mlir::ModuleOp> buildModel(mlir::MLIRContext &context, llvm::StringRef type,
                                             llvm::StringRef configJson, const train::StepFacts &facts,
                                             std::vector<ConfigProblem> &problems);

// Elements of all parameters, shared ones once.
int64_t parameterCount(mlir::ModuleOp module);

// docs/models.md.
std::string modelsDocument();

} // namespace recipe::models
#endif
