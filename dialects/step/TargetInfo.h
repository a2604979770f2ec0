// What passes may know about the machine they compile for. A value; filled by compiler/target.
#ifndef DIALECTS_STEP_TARGETINFO_H
#define DIALECTS_STEP_TARGETINFO_H
#include <cstdint>
#include <string>
#include <vector>

namespace recipe::step {
struct TargetInfo {
  std::string triple;                // x86_64-unknown-linux-gnu
  std::string cpu;                   // LLVM's CPU name: znver3, x86-64-v4, ...
  std::vector<std::string> features; // LLVM feature names without sign that the code will require, sorted
  int64_t vectorBits = 256;          // widest vector register
  int64_t vectorRegisters = 16;      // architectural vector registers of that width
  bool dotsBF16 = false;             // vdpbf16ps, and it does two multiply-adds in the time of one fma
  bool tilesBF16 = false;            // tdpbf16ps: bf16 sums run in blocks, not in pairs
  int64_t l1Bytes = 32 << 10;
  int64_t l2Bytes = 512 << 10;
  // Of an L3 that a core may count on, where it answers so soon (50 cycles) that chains can read packed panels from it;
  // else 0.
  int64_t nearL3Bytes = 0;
  int64_t maxThreads = 16; // target.max_threads
};
} // namespace recipe::step
#endif
