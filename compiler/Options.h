// Every knob of a compile as a value. What a recipe says comes through optionsOf(); tools may change the rest.
#ifndef COMPILER_OPTIONS_H
#define COMPILER_OPTIONS_H

#include "dialects/step/TargetInfo.h"
#include "dialects/train/StepFacts.h"
#include "passes/Passes.h"
#include <cstdint>
#include <string>
#include <vector>

namespace recipe {

namespace frontend {
struct Diagnostic;
struct ResolvedRecipe;
} // namespace frontend

struct OptimizerOptions {
  double beta1 = 0.9, beta2 = 0.95, eps = 1e-8, weightDecay = 0.1;
  double clip = 1.0; // 0: no clipping
};

struct PrecisionOptions {
  bool bf16 = false;
  std::vector<std::string> keepFp32; // classes and globs
  bool bf16x6 = false;               // products of f32 operands by parts in bf16; the target has AMX
};

struct Options {
  train::StepFacts facts;
  OptimizerOptions optimizer;
  PrecisionOptions precision;
  step::TargetInfo target;
  bool recompute = true;                // backward computes again what is cheap
  bool recomputeToFit = false;          // and of the rest as much as the budget needs
  int64_t recomputeProducts = 0;        // or so many products in a row
  bool fusion = true;                   // rules join ops in kernels
  std::vector<FusionRules> fusionRules; // of the user
  int64_t ranks = 1;                    // that the recipe names; the step may run on others too
  int64_t budget = 0;                   // bytes of one rank; 0: any
  unsigned threads = 1;                 // of the compiler
  bool evaluatesTables = true;          // else constants have no values, and sizes are all that is known of a step

  std::string stopAfter;              // a phase; empty: all run
  std::string dumpFolder;             // takes the IR after each phase; empty: none
  std::vector<std::string> dumpAfter; // only these phases; empty: all
};

// The options that a recipe asks for; fills `problems` with what the target or the step's sizes make impossible. What
// the recipe leaves to the target is settled in it.
Options optionsOf(frontend::ResolvedRecipe &recipe, std::vector<frontend::Diagnostic> &problems);

} // namespace recipe
#endif
