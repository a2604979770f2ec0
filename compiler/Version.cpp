#include "compiler/Version.h"
#include "runtime/abi/Container.h"
#include "runtime/abi/kernel_abi.h"
#include "llvm/Config/llvm-config.h"

namespace recipe {

std::string producer() { return "recipec " RECIPEC_VERSION ", LLVM " LLVM_VERSION_STRING; }

std::string versionText() {
  return producer() + "\ntargets: cpu (x86-64 with AVX2 and FMA or better)\nstep format " +
         std::to_string(abi::kStepFormatVersion) + ", kernel ABI " + std::to_string(RCP_ABI_VERSION) + "\n";
}

} // namespace recipe
