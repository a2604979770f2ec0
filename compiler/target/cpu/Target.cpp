#include "compiler/target/cpu/Target.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/X86TargetParser.h"
#include <sys/syscall.h>
#include <unistd.h>

using namespace llvm;

namespace recipe::cpu {

// Extensions that compiled code may use beyond the x86-64 baseline, sorted. Others (cryptography, system instructions)
// are never enabled, so that step.bin does not ask for them.
static constexpr StringLiteral usable[] = {"avx",   "avx2",  "bmi",    "bmi2", "cx16",   "f16c",   "fma",
                                           "lzcnt", "movbe", "popcnt", "sse3", "sse4.1", "sse4.2", "ssse3"};
// Used only when the first five, the x86-64-v4 set, are all there.
static constexpr StringLiteral wide[] = {"avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"};
static constexpr StringLiteral wideOptional[] = {"avx512bf16"};
// Beside those, both or none.
static constexpr StringLiteral tiles[] = {"amx-bf16", "amx-tile"};

static std::string nearestCpu(StringRef name) {
  SmallVector<StringRef> known;
  X86::fillValidCPUArchList(known, /*Only64Bit=*/true);
  known.push_back("native");
  unsigned best = name.size() / 3 + 1;
  StringRef nearest;
  for (StringRef candidate : known) {
    unsigned distance = name.edit_distance(candidate, true, best);
    if (distance < best || (distance == best && nearest.empty()))
      best = distance, nearest = candidate;
  }
  return nearest.str();
}

// Whether the kernel lets this process use the tile registers, which a process has to ask for.
static bool mayUseTiles() {
  constexpr long kRequestPermission = 0x1023, kTileData = 18; // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

// Every feature of `arch`, or an error.
static Expected<StringMap<bool>> featuresOf(StringRef arch) {
  if (arch == "native") {
    StringMap<bool> features = sys::getHostCPUFeatures();
    if (features.lookup("amx-tile") && !mayUseTiles())
      features["amx-tile"] = false;
    return features;
  }
  if (X86::parseArchX86(arch, /*Only64Bit=*/true) == X86::CK_None) {
    std::string nearest = nearestCpu(arch);
    return createStringError("'target.arch' must be native or a 64-bit x86 CPU, got '" + arch.str() + "'" +
                             (nearest.empty() ? "" : "; did you mean '" + nearest + "'?"));
  }
  SmallVector<StringRef> listed;
  X86::getFeaturesForCPU(arch, listed);
  StringMap<bool> features;
  for (StringRef feature : listed) {
    features[feature] = true;
    X86::updateImpliedFeatures(feature, /*Enabled=*/true, features);
  }
  return features;
}

// The name that the scheduler tunes for. A virtual machine may report a CPU that this LLVM does not know.
static std::string tuningName(StringRef arch) {
  if (arch != "native")
    return arch.str();
  StringRef host = sys::getHostCPUName();
  return X86::parseArchX86(host, /*Only64Bit=*/true) == X86::CK_None ? "x86-64-v3" : host.str();
}

// What the core itself tells, else what CPUs of that name have.
static int64_t l2BytesOf(StringRef arch, bool wide) {
  if (arch == "native")
    if (long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE); bytes > 0)
      return std::clamp<int64_t>(bytes, 256 << 10, 2 << 20);
  for (StringRef intel : {"sapphirerapids", "emeraldrapids", "graniterapids", "graniterapids-d", "diamondrapids"})
    if (arch == intel)
      return 2 << 20;
  return wide ? 1 << 20 : 512 << 10;
}

Expected<step::TargetInfo> resolveTarget(StringRef arch, int64_t maxThreads) {
  Expected<StringMap<bool>> features = featuresOf(arch);
  if (!features)
    return features.takeError();
  auto has = [&](StringRef feature) { return features->lookup(feature); };
  std::string missing;
  for (StringRef needed : {"avx2", "fma"})
    if (!has(needed))
      missing += (missing.empty() ? "" : " and ") + needed.str();
  if (!missing.empty())
    return createStringError("'target.arch' must have AVX2 and FMA, got '" + arch.str() + "' without " + missing);

  step::TargetInfo target;
  target.triple = "x86_64-unknown-linux-gnu";
  target.cpu = tuningName(arch);
  target.maxThreads = maxThreads;
  for (StringRef feature : usable)
    if (has(feature))
      target.features.push_back(feature.str());
  if (all_of(wide, has)) {
    target.features.insert(target.features.end(), std::begin(wide), std::end(wide));
    for (StringRef feature : wideOptional)
      if (has(feature))
        target.features.push_back(feature.str());
    if (all_of(tiles, has)) {
      target.features.insert(target.features.end(), std::begin(tiles), std::end(tiles));
      target.tilesBF16 = true;
    }
    target.vectorBits = 512;
    target.vectorRegisters = 32;
  }
  // Intel's cores spend as long on vdpbf16ps as on four fmas, which do the same work on widened values twice as fast.
  target.dotsBF16 = is_contained(target.features, "avx512bf16") && StringRef(target.cpu).starts_with("znver");
  target.l2Bytes = l2BytesOf(arch, target.vectorBits == 512);
  if (target.vectorBits == 512 && StringRef(target.cpu).starts_with("znver"))
    target.nearL3Bytes = 7 << 19; // of 32 MiB for eight cores
  llvm::sort(target.features);
  return target;
}

} // namespace recipe::cpu
