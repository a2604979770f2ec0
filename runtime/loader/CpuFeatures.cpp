#include "runtime/loader/CpuFeatures.h"
#include <cpuid.h>
#include <cstdint>
#include <sys/syscall.h>
#include <unistd.h>

using namespace recipe::rt;

namespace {

enum Register { EAX, EBX, ECX, EDX };

/// Bits of XCR0 that the operating system must have set.
constexpr uint32_t kNone = 0, kAvx = 0x6, kAvx512 = 0xe6, kAmx = 0x60006;

struct Feature {
  const char *name;
  uint32_t leaf, subleaf;
  Register reg;
  int bit;
  uint32_t xcr0;
};

} // namespace

static const Feature features[] = {
    {"x87", 1, 0, EDX, 0, kNone},
    {"cx8", 1, 0, EDX, 8, kNone},
    {"cmov", 1, 0, EDX, 15, kNone},
    {"mmx", 1, 0, EDX, 23, kNone},
    {"fxsr", 1, 0, EDX, 24, kNone},
    {"sse", 1, 0, EDX, 25, kNone},
    {"sse2", 1, 0, EDX, 26, kNone},
    {"sse3", 1, 0, ECX, 0, kNone},
    {"pclmul", 1, 0, ECX, 1, kNone},
    {"ssse3", 1, 0, ECX, 9, kNone},
    {"fma", 1, 0, ECX, 12, kAvx},
    {"cx16", 1, 0, ECX, 13, kNone},
    {"sse4.1", 1, 0, ECX, 19, kNone},
    {"sse4.2", 1, 0, ECX, 20, kNone},
    {"crc32", 1, 0, ECX, 20, kNone},
    {"movbe", 1, 0, ECX, 22, kNone},
    {"popcnt", 1, 0, ECX, 23, kNone},
    {"aes", 1, 0, ECX, 25, kNone},
    {"xsave", 1, 0, ECX, 27, kNone},
    {"avx", 1, 0, ECX, 28, kAvx},
    {"f16c", 1, 0, ECX, 29, kAvx},
    {"rdrnd", 1, 0, ECX, 30, kNone},
    {"fsgsbase", 7, 0, EBX, 0, kNone},
    {"bmi", 7, 0, EBX, 3, kNone},
    {"avx2", 7, 0, EBX, 5, kAvx},
    {"bmi2", 7, 0, EBX, 8, kNone},
    {"invpcid", 7, 0, EBX, 10, kNone},
    {"avx512f", 7, 0, EBX, 16, kAvx512},
    {"avx512dq", 7, 0, EBX, 17, kAvx512},
    {"rdseed", 7, 0, EBX, 18, kNone},
    {"adx", 7, 0, EBX, 19, kNone},
    {"avx512ifma", 7, 0, EBX, 21, kAvx512},
    {"clflushopt", 7, 0, EBX, 23, kNone},
    {"clwb", 7, 0, EBX, 24, kNone},
    {"avx512cd", 7, 0, EBX, 28, kAvx512},
    {"sha", 7, 0, EBX, 29, kNone},
    {"avx512bw", 7, 0, EBX, 30, kAvx512},
    {"avx512vl", 7, 0, EBX, 31, kAvx512},
    {"avx512vbmi", 7, 0, ECX, 1, kAvx512},
    {"pku", 7, 0, ECX, 4, kNone},
    {"waitpkg", 7, 0, ECX, 5, kNone},
    {"avx512vbmi2", 7, 0, ECX, 6, kAvx512},
    {"shstk", 7, 0, ECX, 7, kNone},
    {"gfni", 7, 0, ECX, 8, kNone},
    {"vaes", 7, 0, ECX, 9, kAvx},
    {"vpclmulqdq", 7, 0, ECX, 10, kAvx},
    {"avx512vnni", 7, 0, ECX, 11, kAvx512},
    {"avx512bitalg", 7, 0, ECX, 12, kAvx512},
    {"avx512vpopcntdq", 7, 0, ECX, 14, kAvx512},
    {"rdpid", 7, 0, ECX, 22, kNone},
    {"cldemote", 7, 0, ECX, 25, kNone},
    {"movdiri", 7, 0, ECX, 27, kNone},
    {"movdir64b", 7, 0, ECX, 28, kNone},
    {"avx512vp2intersect", 7, 0, EDX, 8, kAvx512},
    {"serialize", 7, 0, EDX, 14, kNone},
    {"amx-bf16", 7, 0, EDX, 22, kAmx},
    {"avx512fp16", 7, 0, EDX, 23, kAvx512},
    {"amx-tile", 7, 0, EDX, 24, kAmx},
    {"amx-int8", 7, 0, EDX, 25, kAmx},
    {"avxvnni", 7, 1, EAX, 4, kAvx},
    {"avx512bf16", 7, 1, EAX, 5, kAvx512},
    {"avxifma", 7, 1, EAX, 23, kAvx},
    {"avxvnniint8", 7, 1, EDX, 4, kAvx},
    {"avxneconvert", 7, 1, EDX, 5, kAvx},
    {"prefetchi", 7, 1, EDX, 14, kNone},
    {"xsaveopt", 0xd, 1, EAX, 0, kNone},
    {"xsavec", 0xd, 1, EAX, 1, kNone},
    {"xsaves", 0xd, 1, EAX, 3, kNone},
    {"sahf", 0x80000001, 0, ECX, 0, kNone},
    {"lzcnt", 0x80000001, 0, ECX, 5, kNone},
    {"sse4a", 0x80000001, 0, ECX, 6, kNone},
    {"prfchw", 0x80000001, 0, ECX, 8, kNone},
    {"mwaitx", 0x80000001, 0, ECX, 29, kNone},
    {"64bit", 0x80000001, 0, EDX, 29, kNone},
    {"clzero", 0x80000008, 0, EBX, 0, kNone},
    {"rdpru", 0x80000008, 0, EBX, 4, kNone},
    {"wbnoinvd", 0x80000008, 0, EBX, 9, kNone},
};

/// What the operating system saves at a context switch; 0 if it does not use XSAVE.
static uint32_t readXcr0() {
  uint32_t a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & (1u << 27)))
    return 0;
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

/// The tile registers of AMX are large: Linux saves them only for a process that has asked, all its threads alike.
static bool requestTiles() {
  constexpr long kRequestPermission = 0x1023, kTileData = 18; // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

bool recipe::rt::hasCpuFeature(const std::string &name) {
  for (const Feature &feature : features) {
    if (name != feature.name)
      continue;
    uint32_t r[4] = {};
    if (!__get_cpuid_count(feature.leaf, feature.subleaf, &r[EAX], &r[EBX], &r[ECX], &r[EDX]))
      return false;
    if (!(r[feature.reg] >> feature.bit & 1) || (readXcr0() & feature.xcr0) != feature.xcr0)
      return false;
    return feature.xcr0 != kAmx || requestTiles();
  }
  return false;
}

std::vector<std::string> recipe::rt::missingCpuFeatures(const std::vector<std::string> &names) {
  std::vector<std::string> missing;
  for (const std::string &name : names)
    if (!hasCpuFeature(name))
      missing.push_back(name);
  return missing;
}
