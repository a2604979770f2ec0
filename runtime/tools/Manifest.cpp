#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "runtime/base/Printable.h"
#include "runtime/checkpoint/NumericsIdentity.h"
#include "runtime/loader/Loader.h"
#include "runtime/monitor/Monitor.h"
#include "runtime/tools/TrainingRun.h"

using namespace recipe::rt;

absl::Status recipe::rt::printManifest(const std::string &stepPath, FILE *out) {
  RCP_ASSIGN_OR_RETURN(std::unique_ptr<abi::Step> step, readStepFile(stepPath));
  const abi::Manifest &m = step->manifest();
  absl::FPrintF(out, "name              %s\nproducer          %s\nkernel ABI        %d\n", printable(m.name()),
                printable(m.producer()), m.abi_version());
  absl::FPrintF(out, "parameters        %d\nvocabulary        %d\nsequence length   %d\nbatch size        %d\n",
                m.parameter_count(), m.vocab_size(), m.seq_length(), m.batch_size());
  absl::FPrintF(out, "global batch      %d in %d segments\nlegal ranks       %s\nthreads           1..%d\n",
                m.global_batch(), m.batch_segments(), absl::StrJoin(m.legal_ranks(), ", "), m.max_threads());
  absl::FPrintF(out, "FLOPs per token   %.4g\nmachine profile   %s\n", m.flops_per_token(),
                printable(m.machine_profile_hash()));
  absl::FPrintF(out, "numerics          %s\n", printable(describeNumerics(numericsOf(m))));
  for (const abi::NativeObject &object : step->objects())
    absl::FPrintF(out, "native object     %s, %s, %d kernels, %s: needs %s\n", printable(object.triple()),
                  printable(object.cpu()), step->kernels_size(), formatBytes(object.data().size()),
                  printable(absl::StrJoin(object.features(), " ")));
  for (const abi::Certificate::Row &row : step->certificate().rows()) {
    absl::FPrintF(out, "memory, %d ranks   %s: state %s, input %s, transient %s\n", row.ranks(),
                  formatBytes(row.total_bytes()), formatBytes(row.state_bytes()), formatBytes(row.input_bytes()),
                  formatBytes(row.transient_bytes()));
    for (const abi::Certificate::Category &category : row.categories())
      absl::FPrintF(out, "  %-16s%14s\n", printable(category.name()), formatBytes(category.bytes()));
  }
  for (const abi::SubProgram &program : step->programs())
    absl::FPrintF(out, "program           %-10s%d instructions\n", printable(program.name()),
                  program.instructions_size());
  absl::FPrintF(out, "recipe (* may be changed by --set)\n");
  for (const abi::ResolvedRecipe::Entry &entry : step->recipe().entries())
    absl::FPrintF(out, "%s %-32s %-28s %s\n", entry.run_time() ? "*" : " ", printable(entry.key()),
                  printable(entry.value()), printable(entry.origin()));
  return absl::OkStatus();
}
