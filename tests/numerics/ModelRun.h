// Small whole models for tests: built, differentiated, run by the reference interpreter on random samples.
#ifndef TESTS_NUMERICS_MODELRUN_H
#define TESTS_NUMERICS_MODELRUN_H

#include "mlir/IR/MLIRContext.h"
#include "models/Models.h"
#include "tests/numerics/OpGraph.h"

namespace recipe::test {

struct SmallModel {
  const char *name, *type, *config;
};

// Two layers each: gpt2 with tied weights and dropout; llama with grouped queries, biases, odd sizes, tied or not.
llvm::ArrayRef<SmallModel> smallModels();

class ModelRun {
public:
  enum Precision { FP32, BF16, BF16Blocks, BF16X6 }; // the last: f32 multiplied by parts in bf16
  // `frozen`: parameters that contain this text are not trainable.
  ModelRun(const SmallModel &model, const train::StepFacts &facts, ReferenceMode mode, llvm::StringRef frozen = "",
           Precision precision = FP32);

  mlir::ModuleOp module() { return *owner; }
  interp::Interpreter &interpreter() { return *runner; }
  llvm::SmallVector<train::VariableOp> parameters();

  // Every parameter at random, the same for every instance: larger than at the start of training, so that gradients are
  // felt everywhere.
  void drawParameters();
  // The samples of one global batch; every fifth label does not count, and one sample has no label at all.
  void drawSamples(uint64_t seed);
  void setSamples(HostTensor newTokens, HostTensor newLabels) { tokens = newTokens, labels = newLabels; }
  // Makes `microbatch` the input.
  void load(int64_t microbatch);
  // Runs whole steps 0..steps-1, each on samples of its own.
  void runSteps(int64_t steps);
  // Runs step `step` on the samples that were drawn or set. Parameters may have been set before step 0.
  void runStep(int64_t step);

  // Of the last run of @train, over all tokens.
  double lossSum();
  // Of the last run of @train: position sums and uses added.
  HostTensor gradient(train::VariableOp parameter);
  HostTensor value(llvm::StringRef variable) { return *runner->variable(variable); }

private:
  train::StepFacts facts;
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> owner;
  std::unique_ptr<interp::Interpreter> runner;
  HostTensor tokens, labels;
};

} // namespace recipe::test
#endif
