#include "compiler/target/cpu/Compile.h"
#include "compiler/target/cpu/Link.h"
#include "passes/codegen/KernelFamily.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include <atomic>
#include <thread>

using namespace llvm;

namespace recipe::cpu {

static Expected<std::unique_ptr<TargetMachine>> createMachine(const step::TargetInfo &target) {
  static std::once_flag registered;
  std::call_once(registered, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
  });
  Triple triple(target.triple);
  std::string message;
  const Target *found = TargetRegistry::lookupTarget(triple, message);
  if (!found)
    return createStringError(message);
  TargetOptions options;
  options.AllowFPOpFusion = FPOpFusion::Strict;
  // Instruction sets come from the functions' attributes.
  return std::unique_ptr<TargetMachine>(found->createTargetMachine(triple, "x86-64", "", options, Reloc::PIC_,
                                                                   CodeModel::Small, CodeGenOptLevel::Default));
}

// What hand-written IR still gains from: the emitter leaves address arithmetic and constants to be shared and hoisted,
// and loops already in their final shape. No vectoriser, unroller or idiom recognition.
static void optimize(Module &module, TargetMachine &machine) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager callGraph;
  ModuleAnalysisManager modules;
  PassBuilder passes(&machine);
  passes.registerModuleAnalyses(modules);
  passes.registerCGSCCAnalyses(callGraph);
  passes.registerFunctionAnalyses(functions);
  passes.registerLoopAnalyses(loops);
  passes.crossRegisterProxies(loops, functions, callGraph, modules);

  FunctionPassManager pipeline;
  pipeline.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  pipeline.addPass(InstCombinePass());
  pipeline.addPass(SimplifyCFGPass());
  pipeline.addPass(createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()), /*UseMemorySSA=*/true));
  pipeline.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  pipeline.addPass(ADCEPass());
  for (Function &function : module)
    if (!function.isDeclaration())
      pipeline.run(function, functions);
}

static Error emitInto(Module &module, step::KernelOp kernel, const step::TargetInfo &target, TargetMachine &machine) {
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  module.setPICLevel(PICLevel::BigPIC);
  Expected<Function *> function = codegen::emitKernel(kernel, target, module);
  if (!function)
    return function.takeError();
  std::string problem;
  raw_string_ostream stream(problem);
  if (verifyModule(module, &stream))
    return createStringError("kernel '" + kernel.getSymName().str() + "' is not valid LLVM IR: " + problem);
  return Error::success();
}

static Expected<SmallVector<char, 0>> compileKernel(step::KernelOp kernel, const step::TargetInfo &target,
                                                    TargetMachine &machine) {
  LLVMContext context;
  Module module("kernel", context);
  if (Error failed = emitInto(module, kernel, target, machine))
    return failed;
  optimize(module, machine);
  SmallVector<char, 0> object;
  raw_svector_ostream out(object);
  legacy::PassManager emit;
  if (machine.addPassesToEmitFile(emit, out, nullptr, CodeGenFileType::ObjectFile, /*DisableVerify=*/true))
    return createStringError("the target emits no object files");
  emit.run(module);
  return object;
}

Expected<std::string> compileKernels(ArrayRef<step::KernelOp> kernels, const step::TargetInfo &target,
                                     unsigned threads) {
  // One module for each kernel: the result cannot depend on how they are spread over threads.
  std::vector<SmallVector<char, 0>> objects(kernels.size());
  std::vector<std::string> errors(kernels.size());
  std::atomic<size_t> next{0};
  auto work = [&] {
    Expected<std::unique_ptr<TargetMachine>> machine = createMachine(target);
    std::string noMachine = machine ? "" : toString(machine.takeError());
    for (size_t index; (index = next.fetch_add(1)) < kernels.size();) {
      if (!noMachine.empty()) {
        errors[index] = noMachine;
        continue;
      }
      step::KernelOp kernel = kernels[index];
      auto compileOne = [&] {
        Expected<SmallVector<char, 0>> object = compileKernel(kernel, target, **machine);
        if (object)
          objects[index] = std::move(*object);
        else
          errors[index] = toString(object.takeError());
      };
      // Takes effect where the tool has enabled crash recovery; it works per thread.
      if (!CrashRecoveryContext().RunSafely(compileOne))
        errors[index] = "code generation crashed for kernel '" + kernel.getSymName().str() + "'";
    }
  };
  std::vector<std::thread> helpers;
  for (unsigned i = 1; i < std::min<size_t>(threads, kernels.size()); ++i)
    helpers.emplace_back(work);
  work();
  for (std::thread &helper : helpers)
    helper.join();
  for (const std::string &error : errors)
    if (!error.empty())
      return createStringError(error);
  return linkShared(objects);
}

Expected<std::string> printKernel(step::KernelOp kernel, const step::TargetInfo &target, bool optimized) {
  Expected<std::unique_ptr<TargetMachine>> machine = createMachine(target);
  if (!machine)
    return machine.takeError();
  LLVMContext context;
  Module module("kernel", context);
  if (Error failed = emitInto(module, kernel, target, **machine))
    return failed;
  if (optimized)
    optimize(module, **machine);
  std::string text;
  raw_string_ostream out(text);
  module.print(out, nullptr);
  return text;
}

} // namespace recipe::cpu
