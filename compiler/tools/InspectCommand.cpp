#include "compiler/tools/Commands.h"
#include "compiler/tools/Inspect.h"
#include "compiler/tools/Report.h"
#include "runtime/base/Printable.h"
#include "runtime/checkpoint/NumericsIdentity.h"
#include "runtime/loader/Loader.h"
#include "llvm/Support/FormatVariadic.h"

namespace recipe {

using rt::printable;

static void printInstruction(llvm::raw_ostream &out, const abi::Step &step, const abi::Instruction &instruction) {
  out << llvm::formatv("    {0:x-16} {1} {2}", instruction.id(), printable(instruction.name()),
                       step.kernels(int(instruction.kernel())).symbol());
  if (instruction.has_collective())
    out << llvm::formatv(" over={0} elements={1} signal={2:x-16}", printable(instruction.collective().axis()),
                         instruction.collective().elements(), instruction.signal());
  else
    out << " workgroups=" << instruction.workgroups();
  for (uint64_t signal : instruction.waits())
    out << llvm::formatv(" wait={0:x-16}", signal);
  if (instruction.predicate() != abi::ALWAYS)
    out << " when=" << abi::Predicate_Name(instruction.predicate());
  for (const abi::KernelArgument &argument : instruction.arguments())
    out << " " << printable(step.buffers(int(argument.buffer())).name())
        << (argument.offset() ? "+" + std::to_string(argument.offset()) : "");
  out << "\n";
}

static void printPrograms(llvm::raw_ostream &out, const abi::Step &step, bool instructions) {
  out << "programs\n";
  for (const abi::SubProgram &program : step.programs()) {
    double flops = 0, bytes = 0;
    for (const abi::Instruction &instruction : program.instructions()) {
      flops += instruction.flops();
      bytes += instruction.bytes();
    }
    out << llvm::formatv("  {0,-10} {1,6} launches {2,12:f3} GFLOP {3,10:f3} GB\n", printable(program.name()),
                         program.instructions_size(), flops * 1e-9, bytes * 1e-9);
    if (instructions)
      for (const abi::Instruction &instruction : program.instructions())
        printInstruction(out, step, instruction);
  }
}

static void printCode(llvm::raw_ostream &out, const abi::Step &step) {
  out << "kernels\n";
  for (const abi::Kernel &kernel : step.kernels())
    out << "  " << kernel.symbol() << "  " << printable(kernel.description()) << "\n";
  for (const abi::NativeObject &object : step.objects()) {
    out << "code for " << printable(object.triple()) << ", " << printable(object.cpu()) << ", " << object.data().size()
        << " bytes, needs";
    for (const std::string &feature : object.features())
      out << " " << printable(feature);
    out << "\n";
  }
}

absl::Status inspectStep(const std::string &path, bool instructions, llvm::raw_ostream &out) {
  // Everything below relies on the indices that this has checked.
  absl::StatusOr<std::unique_ptr<abi::Step>> read = rt::readStepFile(path);
  if (!read.ok())
    return read.status();
  const abi::Step &step = **read;
  const abi::Manifest &manifest = step.manifest();
  out << "name            " << printable(manifest.name()) << "\n"
      << "made by         " << printable(manifest.producer()) << ", kernel ABI " << manifest.abi_version() << "\n"
      << "batch           " << manifest.global_batch() << " samples of " << manifest.seq_length() << " tokens, "
      << manifest.batch_size() << " per micro-batch\n"
      << "numerics        " << printable(rt::describeNumerics(rt::numericsOf(manifest))) << "\n";
  printModel(out, manifest);
  printCertificate(out, step.certificate());
  printPrograms(out, step, instructions);
  printCode(out, step);
  out << "recipe\n";
  for (const abi::ResolvedRecipe::Entry &entry : step.recipe().entries())
    out << "  " << printable(entry.key()) << ": " << printable(entry.value()) << "  # " << printable(entry.origin())
        << (entry.run_time() ? ", run-time" : "") << "\n";
  return absl::OkStatus();
}

int inspectCommand(const InspectRequest &request) {
  absl::Status status = inspectStep(request.step, request.instructions, llvm::outs());
  return status.ok() ? 0 : complain(status);
}

} // namespace recipe
