#include "dialects/train/Names.h"
#include "llvm/ADT/Twine.h"

using namespace mlir;
using namespace recipe::train;

StringRef recipe::train::nameOf(Operation *op) {
  if (auto name = op->getLoc()->findInstanceOf<NameLoc>())
    return name.getName().getValue();
  return "";
}

Location recipe::train::namedLoc(MLIRContext *context, const Twine &name) {
  return NameLoc::get(StringAttr::get(context, name));
}

Location recipe::train::derivedLoc(Operation *op, const Twine &what) {
  StringRef name = nameOf(op);
  return name.empty() ? op->getLoc() : namedLoc(op->getContext(), name + "/" + what);
}

uint32_t recipe::train::nameHash(StringRef name) {
  uint32_t hash = 2166136261u;
  for (unsigned char byte : name)
    hash = (hash ^ byte) * 16777619u;
  return hash;
}
