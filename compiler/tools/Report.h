// What recipec prints of a step.
#ifndef COMPILER_TOOLS_REPORT_H
#define COMPILER_TOOLS_REPORT_H

#include "absl/status/status.h"
#include "runtime/abi/step.pb.h"
#include "llvm/Support/raw_ostream.h"

namespace recipe {

// An error line on stderr for what the user can mend; returns the exit code.
int complain(const absl::Status &problem);

// The lines of a text of which others wrote a part, each ended; nothing in them controls a terminal.
std::string printableLines(llvm::StringRef text);

// "1,234,567"
std::string grouped(int64_t number);

// The certificate: one line for each legal number of ranks, then the categories at the peak.
void printCertificate(llvm::raw_ostream &out, const abi::Certificate &certificate);

// Parameters, work per token.
void printModel(llvm::raw_ostream &out, const abi::Manifest &manifest);

} // namespace recipe
#endif
