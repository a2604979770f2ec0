#include "compiler/tools/Commands.h"
#include "compiler/tools/Report.h"
#include "runtime/loader/Loader.h"
#include "llvm/Support/FormatVariadic.h"

namespace recipe {

static void printPrograms(const abi::Step &step, bool instructions) {
  llvm::outs() << "programs\n";
  for (const abi::SubProgram &program : step.programs()) {
    double flops = 0, bytes = 0;
    for (const abi::Instruction &instruction : program.instructions()) {
      flops += instruction.flops();
      bytes += instruction.bytes();
    }
    llvm::outs() << llvm::formatv("  {0,-10} {1,6} launches {2,12:f3} GFLOP {3,10:f3} GB\n", program.name(),
                                  program.instructions_size(), flops * 1e-9, bytes * 1e-9);
    if (!instructions)
      continue;
    for (const abi::Instruction &instruction : program.instructions()) {
      llvm::outs() << llvm::formatv("    {0:x-16} {1} {2} workgroups={3}", instruction.id(), instruction.name(),
                                    step.kernels(int(instruction.kernel())).symbol(), instruction.workgroups());
      if (instruction.predicate() != abi::ALWAYS)
        llvm::outs() << " when=" << abi::Predicate_Name(instruction.predicate());
      for (const abi::KernelArgument &argument : instruction.arguments())
        llvm::outs() << " " << step.buffers(int(argument.buffer())).name()
                     << (argument.offset() ? "+" + std::to_string(argument.offset()) : "");
      llvm::outs() << "\n";
    }
  }
}

int inspectCommand(const InspectRequest &request) {
  absl::StatusOr<std::unique_ptr<abi::Step>> read = rt::readStepFile(request.step);
  if (!read.ok()) {
    llvm::errs() << "recipec: error: " << std::string(read.status().message()) << "\n";
    return kUserError;
  }
  const abi::Step &step = **read;
  const abi::Manifest &manifest = step.manifest();
  llvm::outs() << "name            " << manifest.name() << "\n"
               << "made by         " << manifest.producer() << ", kernel ABI " << manifest.abi_version() << "\n"
               << "batch           " << manifest.global_batch() << " samples of " << manifest.seq_length()
               << " tokens, " << manifest.batch_size() << " per micro-batch\n";
  printModel(llvm::outs(), manifest);
  printCertificate(llvm::outs(), step.certificate());
  printPrograms(step, request.instructions);
  llvm::outs() << "kernels\n";
  for (const abi::Kernel &kernel : step.kernels())
    llvm::outs() << "  " << kernel.symbol() << "  " << kernel.description() << "\n";
  for (const abi::NativeObject &object : step.objects()) {
    llvm::outs() << "code for " << object.triple() << ", " << object.cpu() << ", " << object.data().size()
                 << " bytes, needs";
    for (const std::string &feature : object.features())
      llvm::outs() << " " << feature;
    llvm::outs() << "\n";
  }
  llvm::outs() << "recipe\n";
  for (const abi::ResolvedRecipe::Entry &entry : step.recipe().entries())
    llvm::outs() << "  " << entry.key() << ": " << entry.value() << "  # " << entry.origin()
                 << (entry.run_time() ? ", run-time" : "") << "\n";
  return 0;
}

} // namespace recipe
