// Builds models from config text for tests.
#ifndef TESTS_UNIT_MODELS_BUILD_H
#define TESTS_UNIT_MODELS_BUILD_H

#include "dialects/train/Train.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "models/Models.h"
#include "gtest/gtest.h"
#include <fstream>
#include <sstream>

namespace recipe::models {

struct Built {
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<ConfigProblem> problems;

  explicit Built(llvm::StringRef type, llvm::StringRef config, train::StepFacts facts = smallFacts()) {
    context.loadDialect<train::TrainDialect>();
    module = buildModel(context, type, config, facts, problems);
  }

  static train::StepFacts smallFacts() {
    train::StepFacts facts;
    facts.batchSize = 2;
    facts.seqLength = 12;
    facts.globalBatch = 8;
    return facts;
  }

  std::string print() const {
    std::string text;
    llvm::raw_string_ostream out(text);
    module.get()->print(out, mlir::OpPrintingFlags().enableDebugInfo());
    return text;
  }

  // "key: text" of each problem.
  std::vector<std::string> problemTexts() const {
    std::vector<std::string> texts;
    for (const ConfigProblem &problem : problems)
      texts.push_back(problem.key + ": " + problem.text);
    return texts;
  }
};

inline std::string readText(const std::string &path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_TRUE(file.good() && !text.str().empty()) << path;
  return text.str();
}

} // namespace recipe::models
#endif
