// The pipeline as a whole: what comes out, that it is the same every time, and what it refuses.
#include "TinyRecipe.h"
#include "compiler/PhaseRunner.h"
#include "dialects/step/Step.h"
#include "dialects/train/NumericsVersion.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/FileSystem.h"
#include <gtest/gtest.h>

using namespace recipe::test;

using recipe::Outcome;

TEST(Pipeline, CompilesBothFamilies) {
  for (const char *text : {kTinyLlama, kTinyGpt2}) {
    std::unique_ptr<Compiled> compiled = compileText(text);
    ASSERT_EQ(compiled->outcome, Outcome::Done) << compiled->messages;
    const recipe::abi::Step &step = compiled->compilation->step;
    std::vector<std::string> programs;
    for (const recipe::abi::SubProgram &program : step.programs())
      programs.push_back(program.name());
    EXPECT_EQ(programs, (std::vector<std::string>{"prologue", "forward", "backward", "update", "init", "eval"}));
    EXPECT_EQ(step.manifest().vocab_size(), 67);
    EXPECT_FALSE(step.semantic().empty());
    EXPECT_GT(step.manifest().flops_per_token(), 6.0 * 1000);
  }
}

TEST(Pipeline, NumericsAreInTheStep) {
  const std::string kept = "precision.keep_fp32=[matmul, attention, loss]";
  struct Row {
    std::vector<std::string> sets;
    const char *order;
  };
  for (const Row &row : {Row{{}, ""},
                         {{"precision.compute=bf16", "target.arch=x86-64-v3"}, "pairs"},
                         {{"precision.compute=bf16", "target.arch=cooperlake"}, "pairs"},
                         {{"precision.compute=bf16", "target.arch=sapphirerapids"}, "blocks"},
                         {{"precision.f32_products=bf16x6", "target.arch=sapphirerapids"}, ""},
                         {{"precision.compute=bf16", "target.arch=sapphirerapids", kept}, ""}}) {
    std::unique_ptr<Compiled> compiled = compileText(kTinyLlama, "", row.sets);
    ASSERT_EQ(compiled->outcome, Outcome::Done) << compiled->messages;
    const recipe::abi::Manifest &manifest = compiled->compilation->step.manifest();
    EXPECT_EQ(manifest.numerics_version(), recipe::train::NumericsVersion);
    EXPECT_EQ(manifest.bf16_order(), row.order) << testing::PrintToString(row.sets);
  }
}

// Of weights that contractions read, two bytes an element, written in the update and from whatever `init` or a file
// gave.
TEST(Pipeline, WorkingCopiesAreState) {
  std::unique_ptr<Compiled> compiled = compileText(kTinyLlama, "", {"precision.compute=bf16"});
  ASSERT_EQ(compiled->outcome, Outcome::Done) << compiled->messages;
  const recipe::abi::Step &step = compiled->compilation->step;
  std::vector<std::string> programs;
  for (const recipe::abi::SubProgram &program : step.programs())
    programs.push_back(program.name());
  EXPECT_EQ(programs,
            (std::vector<std::string>{"prologue", "forward", "backward", "update", "init", "refresh", "eval"}));
  std::map<uint32_t, std::string> copies;
  for (int i = 0; i < step.buffers_size(); ++i) {
    const recipe::abi::Buffer &buffer = step.buffers(i);
    int64_t elements = 1;
    for (int64_t size : buffer.shape())
      elements *= size;
    if (buffer.type() == recipe::abi::BF16)
      EXPECT_EQ(buffer.bytes(), uint64_t(2 * elements)) << buffer.name();
    if (!llvm::StringRef(buffer.name()).starts_with("working:"))
      continue;
    EXPECT_EQ(buffer.type(), recipe::abi::BF16);
    EXPECT_EQ(buffer.region(), recipe::abi::STATE);
    EXPECT_EQ(buffer.category(), "parameters");
    copies[uint32_t(i)] = buffer.name();
  }
  EXPECT_EQ(copies.size(), 14u); // seven matrices in each of two layers
  for (const recipe::abi::SubProgram &program : step.programs()) {
    size_t named = 0;
    for (const recipe::abi::Instruction &instruction : program.instructions())
      for (const recipe::abi::KernelArgument &argument : instruction.arguments())
        named += copies.count(argument.buffer());
    if (program.name() == "refresh" || program.name() == "update" || program.name() == "eval")
      EXPECT_EQ(named, copies.size()) << program.name();
    else if (program.name() == "init" || program.name() == "prologue")
      EXPECT_EQ(named, 0u) << program.name();
  }
}

TEST(Pipeline, SameRecipeSameBytes) {
  for (const char *text : {kTinyLlama, kTinyGpt2}) {
    std::unique_ptr<Compiled> once = compileText(text), again = compileText(text, "", {}, 3);
    ASSERT_EQ(once->outcome, Outcome::Done) << once->messages;
    ASSERT_EQ(again->outcome, Outcome::Done) << again->messages;
    EXPECT_TRUE(once->compilation->bytes == again->compilation->bytes);
  }
}

TEST(Pipeline, InstructionIdsAreUniqueAndStayWhenDepthChanges) {
  auto idsOf = [](const recipe::abi::Step &step) {
    std::map<uint64_t, std::string> ids;
    for (const recipe::abi::SubProgram &program : step.programs())
      for (const recipe::abi::Instruction &instruction : program.instructions())
        EXPECT_TRUE(ids.insert({instruction.id(), program.name() + "/" + instruction.name()}).second)
            << instruction.name();
    // Which sums go together depends on all of their sizes.
    for (const recipe::abi::SubProgram &program : step.programs())
      for (const recipe::abi::Instruction &instruction : program.instructions())
        if (instruction.has_collective())
          ids.erase(instruction.id());
    return ids;
  };
  std::unique_ptr<Compiled> two = compileText(kTinyLlama);
  std::string deeper = kTinyLlama;
  deeper.replace(deeper.find("num_hidden_layers: 2"), 20, "num_hidden_layers: 3");
  std::unique_ptr<Compiled> three = compileText(deeper);
  ASSERT_EQ(three->outcome, Outcome::Done) << three->messages;
  auto before = idsOf(two->compilation->step), after = idsOf(three->compilation->step);
  for (const auto &[id, name] : before) {
    ASSERT_TRUE(after.count(id)) << name;
    EXPECT_EQ(after[id], name);
  }
}

TEST(Pipeline, DistinctKernelsDoNotGrowWithDepth) {
  std::string deeper = kTinyLlama;
  deeper.replace(deeper.find("num_hidden_layers: 2"), 20, "num_hidden_layers: 5");
  std::unique_ptr<Compiled> two = compileText(kTinyLlama, "plan-arena"), five = compileText(deeper, "plan-arena");
  ASSERT_EQ(five->outcome, Outcome::Done) << five->messages;
  auto kernels = [](Compiled &compiled) {
    llvm::StringSet<> names;
    for (auto kernel : compiled.compilation->module->getOps<recipe::step::KernelOp>())
      names.insert(kernel.getSymName());
    return names;
  };
  llvm::StringSet<> few = kernels(*two), many = kernels(*five);
  // The norm of all gradients takes a different number of launches, never different kernels.
  EXPECT_EQ(few.size(), many.size());
  for (const auto &name : few)
    EXPECT_TRUE(many.contains(name.getKey())) << name.getKey().str();
}

TEST(Pipeline, CertificateAddsUpAndShrinksWithRanks) {
  std::unique_ptr<Compiled> compiled = compileText(kTinyLlama);
  ASSERT_EQ(compiled->outcome, Outcome::Done) << compiled->messages;
  const recipe::abi::Step &step = compiled->compilation->step;
  const recipe::abi::Certificate &certificate = step.certificate();
  ASSERT_EQ(certificate.rows_size(), 4); // 1, 2, 4 and 8 ranks
  uint64_t previous = ~uint64_t(0);
  for (int i = 0; i < certificate.rows_size(); ++i) {
    const recipe::abi::Certificate::Row &row = certificate.rows(i);
    EXPECT_EQ(row.ranks(), 1 << i);
    EXPECT_EQ(row.accumulation(), 16 >> i);
    EXPECT_EQ(step.manifest().legal_ranks(i), row.ranks());
    uint64_t sum = 0, communication = 0;
    for (const recipe::abi::Certificate::Category &category : row.categories()) {
      sum += category.bytes();
      if (category.name() == "communication")
        communication = category.bytes();
    }
    EXPECT_EQ(sum, row.total_bytes());
    EXPECT_EQ(row.state_bytes() + row.input_bytes() + row.transient_bytes(), row.total_bytes());
    EXPECT_EQ(communication, i == 0 ? 0 : certificate.communication_bytes());
    EXPECT_LT(row.total_bytes() - communication, previous); // fewer pending copies of gradients
    previous = row.total_bytes() - communication;
  }
}

TEST(Pipeline, BudgetDropsRowsAndRefusesWithTheNeed) {
  // So large that a copy of the gradients is more than what arrives from other ranks.
  std::string large = kTinyLlama;
  large.replace(large.find("vocab_size: 67"), 14, "vocab_size: 60000");
  std::unique_ptr<Compiled> free = compileText(large, "budget");
  ASSERT_EQ(free->outcome, Outcome::Done) << free->messages;
  auto rowsOf = [](Compiled &compiled) {
    auto arena = *compiled.compilation->module->getOps<recipe::step::ArenaOp>().begin();
    return llvm::to_vector(arena.getRows().getAsRange<recipe::step::RowAttr>());
  };
  auto rows = rowsOf(*free);
  // Enough for 2 ranks and more, not for one.
  std::string budget = "memory.budget=" + std::to_string(rows[1].total());
  std::unique_ptr<Compiled> four =
      compileText(large, "budget",
                  {budget, "distributed.world_size=4", "distributed.data_parallel_size=4", "optim.grad_accum_steps=4"});
  ASSERT_EQ(four->outcome, Outcome::Done) << four->messages;
  auto kept = rowsOf(*four);
  ASSERT_EQ(kept.size(), 3u);
  EXPECT_EQ(kept[0].getRanks(), 2);

  std::unique_ptr<Compiled> one = compileText(large, "budget", {budget, "memory.recompute=none"});
  EXPECT_EQ(one->outcome, Outcome::UserError);
  EXPECT_NE(one->messages.find("memory.budget must hold the arena of one rank, got"), std::string::npos)
      << one->messages;
  EXPECT_NE(one->messages.find("gradients"), std::string::npos) << one->messages;
  EXPECT_NE(one->messages.find("; memory.recompute: auto may need less"), std::string::npos) << one->messages;
}

TEST(Pipeline, StopsAfterAPhase) {
  std::unique_ptr<Compiled> compiled = compileText(kTinyLlama, "fuse");
  ASSERT_EQ(compiled->outcome, Outcome::Done);
  EXPECT_EQ(compiled->compilation->seconds.back().first, "fuse");
  EXPECT_TRUE(compiled->compilation->bytes.empty());
}

TEST(Pipeline, OurMistakeLeavesAReproducer) {
  using recipe::Compilation;
  llvm::CrashRecoveryContext::Enable();
  const recipe::Phase broken[] = {
      {"fuse", "", [](Compilation &) { return Outcome::Bug; }, nullptr},
      {"fuse", "",
       [](Compilation &c) {
         c.module = nullptr; // whatever a crash leaves behind
         abort();
         return Outcome::Done;
       },
       nullptr},
      {"fuse", "", [](Compilation &) { return Outcome::Done; },
       [](mlir::ModuleOp module) -> llvm::LogicalResult { return module.emitError("not as promised"); }},
  };
  std::unique_ptr<Compiled> upToShard = compileText(kTinyLlama, "shard");
  for (const recipe::Phase &phase : broken) {
    std::unique_ptr<Compiled> compiled = compileText(kTinyLlama, "shard");
    ASSERT_EQ(runPhase(*compiled->compilation, phase), Outcome::Bug);
    std::string path = compiled->compilation->reproducer;
    ASSERT_FALSE(path.empty());
    mlir::OwningOpRef<mlir::ModuleOp> input = mlir::parseSourceFile<mlir::ModuleOp>(path, &compiled->context);
    EXPECT_FALSE(llvm::sys::fs::remove(path));
    ASSERT_TRUE(input);
    // It is what the phase was given.
    auto text = [](mlir::ModuleOp module) {
      std::string result;
      llvm::raw_string_ostream stream(result);
      module.print(stream);
      return result;
    };
    EXPECT_TRUE(text(*input) == text(*upToShard->compilation->module));
  }
}

TEST(Pipeline, ConfigProblemsAreTheUsersAndComeTogether) {
  std::string bad = kTinyLlama;
  bad.replace(bad.find("num_attention_heads: 4"), 22, "num_attention_heads: 5");
  bad.replace(bad.find("vocab_size: 67"), 14, "vocab_size: -1");
  std::unique_ptr<Compiled> compiled = compileText(bad);
  EXPECT_EQ(compiled->outcome, Outcome::UserError);
  EXPECT_NE(compiled->messages.find("num_attention_heads"), std::string::npos) << compiled->messages;
  EXPECT_NE(compiled->messages.find("vocab_size"), std::string::npos) << compiled->messages;
}
