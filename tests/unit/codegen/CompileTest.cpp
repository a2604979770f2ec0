// compiler/target/cpu: objects that depend on kernels and target only, and import nothing.
#include "compiler/target/cpu/Compile.h"
#include "compiler/target/cpu/Target.h"
#include "dialects/step/Step.h"
#include "dialects/train/Formulas.h"
#include "dialects/train/Policies.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "tests/numerics/LoadedObject.h"
#include "llvm/Object/ELFObjectFile.h"
#include <gtest/gtest.h>
#include <set>

using namespace mlir;
using namespace recipe;

namespace {

class Compile : public testing::Test {
protected:
  Compile()
      : builder((context.loadDialect<step::StepDialect>(), &context)),
        module(ModuleOp::create(builder.getUnknownLoc())) {
    builder.setInsertionPointToEnd(module->getBody());
  }

  NamedAttribute number(StringRef name, int64_t value) {
    return builder.getNamedAttr(name, builder.getI64IntegerAttr(value));
  }

  step::KernelOp kernel(StringRef symbol, StringRef family, ArrayRef<NamedAttribute> spec) {
    return step::KernelOp::create(builder, builder.getUnknownLoc(), symbol, family, builder.getDictionaryAttr(spec));
  }

  DictionaryAttr lineOf(StringRef op, ArrayRef<int64_t> operands) {
    return builder.getDictionaryAttr({builder.getNamedAttr("op", builder.getStringAttr(op)),
                                      builder.getNamedAttr("operands", builder.getDenseI64ArrayAttr(operands)),
                                      builder.getNamedAttr("attributes", builder.getDictionaryAttr({}))});
  }

  // x + bias by channel, then gelu, added to x: a region of several ops.
  step::KernelOp fused(StringRef symbol) {
    return kernel(symbol, "elementwise",
                  {builder.getNamedAttr("inputs", builder.getDenseI64ArrayAttr({0, 1})),
                   builder.getNamedAttr("program",
                                        builder.getArrayAttr({lineOf("train.bias_add", {0, 1}),
                                                              lineOf("train.gelu", {2}), lineOf("train.add", {0, 3})})),
                   builder.getNamedAttr("results", builder.getDenseI64ArrayAttr({3, 4}))});
  }

  SmallVector<step::KernelOp> several() {
    SmallVector<step::KernelOp> kernels = {fused("fused")};
    for (int64_t channels : {16, 33, 48, 96, 512})
      kernels.push_back(kernel("norm" + std::to_string(channels), "norm",
                               {number("channels", channels), number("centered", 0), number("grain", 7),
                                builder.getNamedAttr("eps", builder.getF64FloatAttr(1e-5))}));
    return kernels;
  }

  std::string compiled(ArrayRef<step::KernelOp> kernels, const char *arch, unsigned threads) {
    llvm::Expected<step::TargetInfo> target = cpu::resolveTarget(arch, 16);
    EXPECT_TRUE(bool(target));
    llvm::Expected<std::string> object = cpu::compileKernels(kernels, *target, threads);
    EXPECT_TRUE(bool(object)) << llvm::toString(object.takeError());
    return *object;
  }

  MLIRContext context;
  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
};

TEST_F(Compile, BytesDoNotDependOnThreads) {
  SmallVector<step::KernelOp> kernels = several();
  std::string one = compiled(kernels, "x86-64-v3", 1);
  EXPECT_EQ(one, compiled(kernels, "x86-64-v3", 1));
  EXPECT_EQ(one, compiled(kernels, "x86-64-v3", 2));
  EXPECT_EQ(one, compiled(kernels, "x86-64-v3", 13));
  EXPECT_NE(one, compiled(kernels, "x86-64-v4", 2));
}

TEST_F(Compile, ExportsKernelsAndImportsNothing) {
  for (const char *arch : {"x86-64-v3", "x86-64-v4"}) {
    std::string bytes = compiled(several(), arch, 2);
    auto file = llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(bytes, "kernels"));
    ASSERT_TRUE(bool(file)) << llvm::toString(file.takeError());
    auto *elf = llvm::cast<llvm::object::ELFObjectFileBase>(file->get());
    std::set<std::string> exported;
    for (const llvm::object::ELFSymbolRef &symbol : elf->getDynamicSymbolIterators()) {
      EXPECT_FALSE(llvm::cantFail(symbol.getFlags()) & llvm::object::SymbolRef::SF_Undefined)
          << llvm::cantFail(symbol.getName()).str();
      exported.insert(llvm::cantFail(symbol.getName()).str());
    }
    EXPECT_EQ(exported, (std::set<std::string>{"fused", "norm16", "norm33", "norm48", "norm96", "norm512"}));
    auto *elf64 = llvm::cast<llvm::object::ELF64LEObjectFile>(elf);
    for (const auto &entry : llvm::cantFail(elf64->getELFFile().dynamicEntries()))
      EXPECT_NE(entry.d_tag, llvm::ELF::DT_NEEDED);
  }
}

TEST_F(Compile, UnknownFamilyIsAnErrorAndTheNextCompileWorks) {
  llvm::Expected<step::TargetInfo> target = cpu::resolveTarget("x86-64-v3", 16);
  ASSERT_TRUE(bool(target));
  llvm::Expected<std::string> object = cpu::compileKernels({kernel("k", "no_such_family", {})}, *target, 2);
  ASSERT_FALSE(bool(object));
  EXPECT_EQ(llvm::toString(object.takeError()), "kernel families are those of passes/codegen, got 'no_such_family'");
  EXPECT_FALSE(compiled({fused("fused")}, "x86-64-v3", 2).empty());
}

TEST_F(Compile, TwoKernelsOfOneNameAreALinkErrorAndTheNextCompileWorks) {
  llvm::Expected<step::TargetInfo> target = cpu::resolveTarget("x86-64-v3", 16);
  ASSERT_TRUE(bool(target));
  llvm::Expected<std::string> object = cpu::compileKernels({fused("same"), fused("same")}, *target, 2);
  ASSERT_FALSE(bool(object));
  EXPECT_NE(llvm::toString(object.takeError()).find("duplicate symbol: same"), std::string::npos);
  EXPECT_FALSE(compiled({fused("fused")}, "x86-64-v3", 2).empty());
}

// Bytes of instructions in an ELF object.
int64_t codeBytes(const std::string &object) {
  auto file = llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(object, "kernels"));
  EXPECT_TRUE(bool(file)) << llvm::toString(file.takeError());
  int64_t bytes = 0;
  for (const llvm::object::SectionRef &section : (*file)->sections())
    if (section.isText())
      bytes += int64_t(section.getSize());
  return bytes;
}

// The tree over batch nodes is a loop. Unrolled, 64 nodes took minutes to compile.
TEST_F(Compile, CodeDoesNotGrowWithBatchNodes) {
  auto numbers = [&](StringRef name, ArrayRef<int64_t> values) {
    return builder.getNamedAttr(name, builder.getDenseI64ArrayAttr(values));
  };
  auto withNodes = [&](int64_t nodes) {
    SmallVector<step::KernelOp> kernels = {
        kernel("embedding_grad" + std::to_string(nodes), "embedding_grad",
               {number("channels", 100), number("nodes", nodes), number("accumulate", 0), number("rows", 8),
                number("block", 128), number("strip", 4)})};
    for (StringRef kind : {"bias", "rms_norm", "layer_norm"})
      kernels.push_back(kernel(
          kind.str() + std::to_string(nodes), "column_sum",
          {builder.getNamedAttr("kind", builder.getStringAttr(kind)), number("samples", 64), number("positions", 40),
           number("channels", 100), number("nodes", nodes), number("block", 256), number("strip", 4),
           numbers("accumulate", kind == "layer_norm" ? ArrayRef<int64_t>{0, 0} : ArrayRef<int64_t>{0})}));
    return codeBytes(compiled(kernels, "x86-64-v3", 1));
  };
  int64_t two = withNodes(2);
  EXPECT_GT(two, 1000);
  EXPECT_LT(withNodes(64), two + two / 20);
}

TEST_F(Compile, ElementwiseOpsOfOneRegionPassValuesInRegisters) {
  constexpr int64_t rows = 5, channels = 37;
  std::vector<float> x, bias, activated(rows * channels), sum(rows * channels);
  for (int64_t i = 0; i < rows * channels; ++i)
    x.push_back(float(i % 41) / 8 - 2.5f);
  for (int64_t c = 0; c < channels; ++c)
    bias.push_back(float(c) / 64 - 0.2f);
  test::LoadedObject object(compiled({fused("fused")}, "native", 1));
  std::vector<void *> buffers = {x.data(), bias.data(), activated.data(), sum.data()};
  std::vector<int64_t> scalars = {rows, channels, 2}; // two rows for each workgroup
  rcp_step_params_v1 params{};
  rcp_launch_v1 launch{buffers.data(), scalars.data(), &params, nullptr};
  train::FlushDenormals flush;
  for (int64_t w = 0; w < 3; ++w)
    object.kernel("fused")(&launch, w, nullptr);
  train::ExactPolicy p;
  for (int64_t i = 0; i < rows * channels; ++i) {
    float expected = train::geluOf(p, x[i] + bias[i % channels]);
    ASSERT_EQ(activated[i], expected) << i;
    ASSERT_EQ(sum[i], x[i] + expected) << i;
  }
}

// What arrives from another rank is added in place, from an address that is a multiple of 4 only, and nothing more.
TEST_F(Compile, CombineAddsWhatArrives) {
  constexpr int64_t elements = 16384 + 16 + 5;
  std::vector<float> own(elements + 1), arrived(elements + 2), expected;
  for (int64_t i = 0; i <= elements; ++i) {
    own[i] = float(i % 97) / 7 - 5;
    arrived[i + 1] = float(i % 61) / 11 - 2;
    expected.push_back(i < elements ? own[i] + arrived[i + 1] : own[i]);
  }
  test::LoadedObject object(compiled({kernel("combine", "combine", {number("grain", 16384)})}, "native", 1));
  train::FlushDenormals flush;
  for (int64_t arrivedIsLeft : {0, 1}) {
    std::vector<float> sum = own;
    std::vector<void *> buffers = {sum.data(), arrived.data() + 1};
    std::vector<int64_t> scalars = {elements, arrivedIsLeft};
    rcp_launch_v1 launch{buffers.data(), scalars.data(), nullptr, nullptr}; // as the communication thread calls it
    for (int64_t w : {1, 0})
      object.kernel("combine")(&launch, w, nullptr);
    EXPECT_EQ(sum, expected) << arrivedIsLeft;
  }
}

} // namespace
