// Runs single passes on IR in text form: mlir-opt with our dialects and passes.
#include "dialects/dist/Dist.h"
#include "dialects/step/Step.h"
#include "dialects/train/Train.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<recipe::train::TrainDialect, recipe::dist::DistDialect, recipe::step::StepDialect>();
  recipe::registerRecipecPasses();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "passes of the recipe compiler\n", registry));
}
