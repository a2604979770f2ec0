// The loops in which chains run keep their values in registers. Where LLVM puts a tile of C on the stack, a kernel
// takes up to twice the time, and no other test notices.
#include "compiler/target/cpu/Target.h"
#include "tests/numerics/KernelTables.h"
#include "tests/unit/codegen/ChainLoops.h"
#include "llvm/ADT/STLExtras.h"

using namespace recipe;
using namespace recipe::test;
using llvm::StringRef;

namespace {

struct Size {
  int64_t m, n, k, segments = 1;
  std::string name(const std::string &form) const {
    return form + std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k) +
           (segments > 1 ? "s" + std::to_string(segments) : "");
  }
};

// The case's product goes through bias and gelu; what backward needs is kept.
KernelCase withBiasGelu(const KernelCase &plain, int64_t columns) {
  std::vector<std::string> names, types;
  for (const KernelOperand &operand : plain.operands) {
    names.push_back("x" + std::to_string(names.size()));
    types.push_back(operand.type);
  }
  std::string type = plain.results[0], channels = std::to_string(columns) + "xf32",
              bias = "x" + std::to_string(names.size());
  KernelCase fused{plain.name + "BiasGelu", "", "", plain.operands, {type, type}};
  fused.operands.push_back({channels});
  fused.body = regionOp("%y", "contract", names, plain.attributes, types, {type}) +
               regionOp("%biased", "bias_add", {"y", bias}, "", {type, channels}, {type}) +
               regionOp("%gelu", "gelu", {"biased"}, "", {type}, {type});
  fused.yields = {"biased", "gelu"};
  return fused;
}

// Short chains, long ones, rows of the left operand that share cache sets, and what steps of GPT-2 124M and Llama 110M
// run, the products of their loss among it.
std::vector<KernelCase> products(Terms terms) {
  std::vector<KernelCase> cases;
  auto add = [&](const std::string &name, Contraction contraction) -> const KernelCase & {
    contraction.terms = terms;
    cases.push_back(caseOf(name, contraction));
    return cases.back();
  };
  for (std::string form : {"nn", "nt"}) {
    for (const Size &s : {Size{64, 64, 512},
                          {64, 64, 512, 8},
                          {64, 512, 64},
                          {64, 512, 64, 8},
                          {512, 768, 1024},
                          {512, 768, 3072, 8}}) {
      bool loops = terms == Terms::F32 || terms == Terms::Pairs || s.k / s.segments > 32; // else one block of terms
      if (loops)
        add(s.name(form), {form, {s.m}, 0, s.n, {s.k}, {train::paddedSegments(s.k, s.segments)}});
    }
    KernelCase linear = add(Size{4096, 768, 768}.name(form), {form, {4096}, 0, 768, {768}, {train::oneSegment(768)}});
    cases.push_back(withBiasGelu(linear, 768));
    train::SegmentList q = train::headSegments(12, 64, 8), kv = train::kvHeadSegments(4, 12, 64, 8);
    add(form + "Heads", {form, {4096}, 0, 768, {768, 768, 768}, {q, q, q}});
    add(form + "GroupedHeads", {form, {4096}, 0, 768, {768, 256, 256}, {q, kv, kv}});
  }
  for (const Size &s : {Size{64, 64, 512}, {64, 512, 64}, {768, 768, 4096}, {256, 768, 4096}, {768, 3072, 4096}})
    add(s.name("tn") + "Accumulate", {"tn", {1, s.k}, s.m, s.n, {}, {train::oneSegment(s.k)}, true});
  for (const Size &s : {Size{64, 64, 512, 4}, {768, 768, 4096, 4}, {256, 768, 4096, 4}})
    add(s.name("tn"), {"tn", {4, s.k / 4}, s.m, s.n, {}, {train::equalSegments(s.k, s.segments)}});
  std::vector<KernelCase> loss;
  addLoss(loss, {4, 1024, 768, 50257, 1, true, 0, terms});
  cases.push_back(loss.back()); // its gradient
  return cases;
}

void addAttentions(std::vector<KernelCase> &cases, Terms terms) {
  addAttention(cases, {"HeadOf64", 4, 1024, 12, 12, 64, 0.1}, terms == Terms::F32 ? "f32" : "bf16",
               terms == Terms::Blocks ? ", bf16_order = #train<bf16_order blocks>" : "");
}

struct Kernels {
  const char *arch;
  Terms terms;
  std::string name() const {
    static constexpr const char *kNames[] = {"f32", "bf16", "bf16 blocks", "bf16x6"};
    return std::string(arch) + ", " + kNames[int(terms)];
  }
};

constexpr Kernels kKernels[] = {{"x86-64-v3", Terms::F32},
                                {"x86-64-v3", Terms::Pairs},
                                {"znver3", Terms::F32},
                                {"znver4", Terms::F32},
                                {"znver4", Terms::Pairs},
                                {"sapphirerapids", Terms::F32},
                                {"sapphirerapids", Terms::Blocks},
                                {"sapphirerapids", Terms::Split}};

// What is known to spill: most instructions that load and store, in one of the kernel's loops. Without an entry none
// may.
struct Known {
  StringRef arch;
  Terms terms;
  StringRef kernel;
  int64_t most;
};
constexpr Known kKnown[] = {{"znver4", Terms::Pairs, "nnGroupedHeads", 12},
                            {"znver4", Terms::Pairs, "ntGroupedHeads", 12}};

// LLVM schedules for Zen 4 so that many loops of 112 multiply-adds spill one to five values of a tile of 28.
int64_t mostOf(const Kernels &kernels, StringRef kernel) {
  for (const Known &known : kKnown)
    if (known.arch == kernels.arch && known.terms == kernels.terms && known.kernel == kernel)
      return known.most;
  return StringRef(kernels.arch) == "znver4" ? 10 : 0;
}

struct Found {
  int64_t loops = 0, most = 0;
};

// By case.
std::map<std::string, Found> spillsOf(llvm::ArrayRef<KernelCase> cases, const step::TargetInfo &target) {
  std::map<std::string, Found> found;
  for (const ChainLoop &loop : chainLoops(compileTogether(cases, target))) {
    Found &all = found[StringRef(loop.kernel).split('.').first.str()];
    ++all.loops, all.most = std::max(all.most, loop.stackLoads + loop.stackStores);
  }
  return found;
}

step::TargetInfo targetOf(const char *arch) {
  llvm::Expected<step::TargetInfo> target = cpu::resolveTarget(arch, 16);
  EXPECT_TRUE(bool(target)) << llvm::toString(target.takeError());
  return *target;
}

TEST(Spills, ChainsStayInRegisters) {
  for (const Kernels &kernels : kKernels) {
    SCOPED_TRACE(kernels.name());
    std::vector<KernelCase> cases = products(kernels.terms);
    if (kernels.terms != Terms::Split)
      addAttentions(cases, kernels.terms);
    std::map<std::string, Found> found = spillsOf(cases, targetOf(kernels.arch));
    for (const KernelCase &each : cases) {
      Found one = found[each.name];
      EXPECT_GT(one.loops, 0) << each.name << " has no loop of multiply-adds";
      EXPECT_LE(one.most, mostOf(kernels, each.name)) << each.name << ": instructions of a loop that spill";
    }
    for (const Known &known : kKnown)
      if (known.arch == kernels.arch && known.terms == kernels.terms)
        EXPECT_GT(found[known.kernel.str()].most, 0) << known.kernel.str() << " does not spill: take it off the list";
  }
}

// The test sees spills: tiles for twice the registers there are.
TEST(Spills, AreFound) {
  step::TargetInfo target = targetOf("x86-64-v3");
  target.vectorRegisters = 32;
  for (const std::string form : {"nn", "nt", "tn"}) {
    KernelCase product = caseOf(form, form == "tn" ? Contraction{form, {64}, 64, 64, {}, {train::oneSegment(64)}}
                                                   : Contraction{form, {64}, 0, 64, {64}, {train::oneSegment(64)}});
    EXPECT_GE(spillsOf({product}, target)[form].most, 24) << form;
  }
}

} // namespace
