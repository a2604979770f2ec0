#include "dialects/step/Step.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace recipe::step;

#include "dialects/step/StepDialect.cpp.inc"
#include "dialects/step/StepEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/step/StepAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/step/StepOps.cpp.inc"

void StepDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/step/StepAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/step/StepOps.cpp.inc"
      >();
}
