// Which instruction set extensions this machine has, by LLVM's names.
#ifndef RUNTIME_LOADER_CPUFEATURES_H
#define RUNTIME_LOADER_CPUFEATURES_H
#include <string>
#include <vector>

namespace recipe::rt {

/// The processor has the feature and the operating system saves its registers. False for a name that is not known.
/// Asking for an extension of AMX (amx-tile, ...) asks the kernel for this process's permission to use it.
bool hasCpuFeature(const std::string &name);

/// Those of `names` that this machine lacks, in order.
std::vector<std::string> missingCpuFeatures(const std::vector<std::string> &names);

} // namespace recipe::rt
#endif
