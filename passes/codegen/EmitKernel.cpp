#include "passes/codegen/KernelBuilder.h"
#include "passes/codegen/KernelFamily.h"

using namespace llvm;

namespace recipe::codegen {

static EmitRule findRule(StringRef family) {
  for (ArrayRef<NamedEmitRule> rules : {elementwiseFamilies(), rowFamilies(), gemmFamilies(), gemmAmxFamilies(),
                                        attentionFamilies(), attentionAmxFamilies(), lossFamilies(), updateFamilies()})
    for (const NamedEmitRule &named : rules)
      if (named.family == family)
        return named.rule;
  return nullptr;
}

bool writesStepScalars(StringRef family) {
  return any_of(updateFamilies(), [&](const NamedEmitRule &named) { return named.family == family; });
}

Expected<Function *> emitKernel(step::KernelOp kernel, const step::TargetInfo &target, Module &module) {
  EmitRule rule = findRule(kernel.getFamily());
  if (!rule)
    return createStringError("kernel families are those of passes/codegen, got '" + kernel.getFamily().str() + "'");
  KernelBuilder builder(module, kernel.getSymName(), target);
  Error failed = rule(builder, kernel.getSpec(), kernel.getBody());
  Function *function = builder.finish();
  if (failed)
    return std::move(failed);
  if (builder.setsParams() && !writesStepScalars(kernel.getFamily()))
    return createStringError("kernels that write the step's scalars must be of an update family, got '" +
                             kernel.getFamily().str() + "'");
  return function;
}

} // namespace recipe::codegen
