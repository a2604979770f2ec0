#include "compiler/tools/Report.h"
#include "compiler/tools/Commands.h"
#include "runtime/base/Printable.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace recipe {

int complain(const absl::Status &problem) {
  for (llvm::StringRef line : llvm::split(llvm::StringRef(problem.message().data(), problem.message().size()), '\n'))
    llvm::errs() << "recipec: error: " << rt::printable(line.str()) << "\n";
  return kUserError;
}

std::string printableLines(llvm::StringRef text) {
  std::string lines;
  for (llvm::StringRef line : llvm::split(text.rtrim('\n'), '\n'))
    lines += rt::printable(line.str()) + "\n";
  return lines;
}

std::string grouped(int64_t number) {
  std::string text = std::to_string(number);
  for (size_t i = text.size(); i > 3; i -= 3)
    text.insert(i - 3, ",");
  return text;
}

static std::string mebibytes(uint64_t bytes) { return llvm::formatv("{0:f2}", double(bytes) / 1048576.0).str(); }

void printCertificate(llvm::raw_ostream &out, const abi::Certificate &certificate) {
  out << "memory of one rank, MiB\n";
  out << llvm::formatv("  {0,5} {1,12} {2,12} {3,12} {4,12} {5,12}\n", "ranks", "accumulation", "state", "inputs",
                       "transient", "total");
  for (const abi::Certificate::Row &row : certificate.rows())
    out << llvm::formatv("  {0,5} {1,12} {2,12} {3,12} {4,12} {5,12}\n", row.ranks(), row.accumulation(),
                         mebibytes(row.state_bytes()), mebibytes(row.input_bytes()), mebibytes(row.transient_bytes()),
                         mebibytes(row.total_bytes()));
  out << "at its peak, MiB\n  " << llvm::formatv("{0,5}", "ranks");
  if (certificate.rows().empty())
    return;
  for (const abi::Certificate::Category &category : certificate.rows(0).categories())
    out << llvm::formatv(" {0,12}", rt::printable(category.name()));
  out << "\n";
  for (const abi::Certificate::Row &row : certificate.rows()) {
    out << llvm::formatv("  {0,5}", row.ranks());
    for (const abi::Certificate::Category &category : row.categories())
      out << llvm::formatv(" {0,12}", mebibytes(category.bytes()));
    out << "\n";
  }
}

void printModel(llvm::raw_ostream &out, const abi::Manifest &manifest) {
  out << "parameters      " << grouped(manifest.parameter_count()) << "\n"
      << "work per token  "
      << llvm::formatv("{0:f3} MFLOP, {1:f2} per parameter\n", manifest.flops_per_token() / 1e6,
                       manifest.flops_per_token() / double(manifest.parameter_count()));
}

} // namespace recipe
