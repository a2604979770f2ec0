// THE pipeline: the only place that orders passes.
//
// A compilation goes through a table of phases; each can be stopped after, dumped and timed, and a verifier runs after
// each.
#ifndef COMPILER_PIPELINE_H
#define COMPILER_PIPELINE_H

#include "compiler/Options.h"
#include "compiler/frontend/ResolvedRecipe.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "models/WeightFiles.h"
#include "runtime/abi/step.pb.h"

namespace recipe {

// A recipe on its way to a step. Phases read and fill it in turn.
struct Compilation {
  const frontend::ResolvedRecipe &recipe;
  Options options;
  mlir::MLIRContext &context;

  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string report;   // of the phase that ran last, for its dump
  std::string semantic; // bytecode of the module as the interpreter takes it
  models::WeightFiles weightFiles;
  int64_t parameterCount = 0;
  int64_t vocabSize = 0;
  double flopsPerToken = 0;
  std::string bf16Order; // of the terms of bf16 products; empty: there are none
  std::string object;    // native code of the kernels
  abi::Step step;
  std::string bytes; // of the step.bin

  std::vector<std::string> messages;                   // problems, a line each, for stderr
  std::string reproducer;                              // after Outcome::Bug: file with the IR that the phase was given
  std::vector<std::pair<std::string, double>> seconds; // of each phase that ran
};

enum class Outcome {
  Done,
  UserError, // the recipe, its configuration or the machine
  Bug,       // ours
};

struct Phase {
  llvm::StringRef name;
  llvm::StringRef what; // for people
  Outcome (*run)(Compilation &);
  // What must hold afterwards beside the verifiers of the ops; may be null.
  llvm::LogicalResult (*check)(mlir::ModuleOp);
  // What a dump shows.
  enum class Leaves { Module, Code, File } leaves = Leaves::Module;
};

llvm::ArrayRef<Phase> phases();

// The dialects of every phase.
void loadDialects(mlir::MLIRContext &context);

// Runs the phases up to options.stopAfter. Takes the context's diagnostics into `messages`.
Outcome compile(Compilation &compilation);

} // namespace recipe
#endif
