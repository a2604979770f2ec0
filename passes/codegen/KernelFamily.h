// What codegen asks of each kernel family: the body of one kernel function, as LLVM IR.
#ifndef PASSES_CODEGEN_KERNELFAMILY_H
#define PASSES_CODEGEN_KERNELFAMILY_H

#include "dialects/step/Step.h"
#include "dialects/step/TargetInfo.h"
#include "llvm/Support/Error.h"

namespace llvm {
class Function;
class Module;
} // namespace llvm

namespace recipe::codegen {
class KernelBuilder;

// Emits the body of one kernel into the builder's open function: the code of one workgroup. Deterministic. `body` is
// the fused region of families that are generated from it, else empty.
using EmitRule = llvm::Error (*)(KernelBuilder &builder, mlir::DictionaryAttr spec, mlir::Region &body);

struct NamedEmitRule {
  llvm::StringRef family;
  EmitRule rule;
};
llvm::ArrayRef<NamedEmitRule> elementwiseFamilies();
llvm::ArrayRef<NamedEmitRule> rowFamilies();
llvm::ArrayRef<NamedEmitRule> gemmFamilies();
llvm::ArrayRef<NamedEmitRule> gemmAmxFamilies();
llvm::ArrayRef<NamedEmitRule> attentionFamilies();
llvm::ArrayRef<NamedEmitRule> attentionAmxFamilies();
llvm::ArrayRef<NamedEmitRule> lossFamilies();
llvm::ArrayRef<NamedEmitRule> updateFamilies();

// Whether kernels of the family may write the step's scalars; emitKernel refuses others that do.
bool writesStepScalars(llvm::StringRef family);

// Adds the function of `kernel` (its symbol name, ABI of runtime/abi/kernel_abi.h) to `module`. Thread-safe for
// different modules.
llvm::Expected<llvm::Function *> emitKernel(step::KernelOp kernel, const step::TargetInfo &target,
                                            llvm::Module &module);

} // namespace recipe::codegen
#endif
