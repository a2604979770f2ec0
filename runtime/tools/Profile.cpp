#include "runtime/tools/Profile.h"
#include "absl/strings/str_format.h"
#include "runtime/base/Printable.h"
#include <algorithm>
#include <map>
#include <tuple>

using namespace recipe::rt;

namespace {

struct Row {
  std::string program, kernel;
  double nanoseconds = 0, launches = 0, flops = 0, bytes = 0;
};

} // namespace

void recipe::rt::printProfile(const Executor &executor, FILE *out) {
  std::map<std::pair<std::string, uint32_t>, Row> byKernel;
  double total = 0;
  for (const std::unique_ptr<Program> &program : executor.allPrograms())
    for (const Program::Timing &timing : program->timings()) {
      const abi::Kernel &kernel = executor.step().kernels(int(timing.instruction->kernel()));
      Row &row = byKernel[{program->name(), timing.instruction->kernel()}];
      row.program = printable(program->name());
      row.kernel = printable(kernel.description().empty() ? kernel.symbol() : kernel.description());
      row.nanoseconds += double(timing.nanoseconds);
      row.launches += double(timing.runs);
      row.flops += double(timing.runs) * timing.instruction->flops();
      row.bytes += double(timing.runs) * timing.instruction->bytes();
      total += double(timing.nanoseconds);
    }
  std::vector<Row> rows;
  for (auto &[key, row] : byKernel)
    if (row.launches > 0)
      rows.push_back(row);
  std::sort(rows.begin(), rows.end(), [](const Row &a, const Row &b) {
    return std::tie(b.nanoseconds, a.kernel) < std::tie(a.nanoseconds, b.kernel);
  });
  absl::FPrintF(out, "%-9s %12s %7s %9s %9s %8s  %s\n", "program", "ms", "share", "launches", "GFLOP/s", "GB/s",
                "kernel");
  for (const Row &row : rows)
    absl::FPrintF(out, "%-9s %12.3f %6.2f%% %9.0f %9.2f %8.2f  %s\n", row.program, row.nanoseconds * 1e-6,
                  100 * row.nanoseconds / total, row.launches, row.flops / row.nanoseconds, row.bytes / row.nanoseconds,
                  row.kernel);
}
