// The round-trip tests hold every op of our dialects, and a CHECK line for it.
#include "dialects/dist/Dist.h"
#include "dialects/step/Step.h"
#include "dialects/train/Train.h"
#include "gtest/gtest.h"
#include <fstream>

using namespace mlir;
using namespace recipe;

TEST(RoundTrip, ChecksEveryOp) {
  MLIRContext context;
  context.loadDialect<train::TrainDialect, dist::DistDialect, step::StepDialect>();
  std::vector<std::string> checks;
  for (const char *dialect : {"train", "dist", "step"}) {
    std::ifstream file(std::string(RECIPEC_SOURCE_DIR "/tests/dialects/") + dialect + "/RoundTrip.mlir");
    ASSERT_TRUE(file.good()) << dialect;
    for (std::string line; std::getline(file, line);)
      if (StringRef(line).contains("// CHECK"))
        checks.push_back(line);
  }
  int ops = 0;
  for (RegisteredOperationName name : context.getRegisteredOperations()) {
    if (!llvm::is_contained({"train", "dist", "step"}, name.getDialectNamespace()))
      continue;
    ++ops;
    bool checked = llvm::any_of(checks, [&](StringRef line) {
      return (line + " ").str().find(" " + name.getStringRef().str() + " ") != std::string::npos;
    });
    EXPECT_TRUE(checked) << name.getStringRef().str();
  }
  EXPECT_GE(ops, 45);
}
