// A step.bin that somebody changed and sealed again: whatever it says, those who read it end in an answer or in one
// clear refusal. In this process, where a crash, an abort or a failed check of protobuf ends the test.
#include "compiler/tools/Inspect.h"
#include "runtime/loader/Loader.h"
#include "runtime/tools/TrainingRun.h"
#include "tests/abi/HandWrittenStep.h"
#include "tests/abi/MessageMutator.h"
#include "tests/e2e/Workspace.h"
#include <gtest/gtest.h>

namespace recipe::test {

namespace {

struct ForgedStepTest : testing::Test {
  static void SetUpTestSuite() {
    space = std::make_unique<Workspace>();
    space->must("recipec compile gpt2.recipe -o step.bin --set data.batch_size=1 --set optim.grad_accum_steps=16");
    whole = std::make_unique<abi::Step>(space->step("step.bin"));
    // What only fills the file is not worth sealing thousands of times.
    light = std::make_unique<abi::Step>(*whole);
    light->mutable_objects(0)->set_data(light->objects(0).data().substr(0, 64));
    light->clear_semantic();
  }
  static void TearDownTestSuite() {
    space.reset();
    whole.reset();
    light.reset();
  }

  /// All readers on these bytes; `what` says how they were made.
  void read(const std::string &bytes, const std::string &what) {
    std::string path = space->files().write("forged.bin", bytes), text;
    llvm::raw_string_ostream out(text);
    absl::Status inspected = inspectStep(path, /*instructions=*/true, out);
    absl::Status printed = rt::printManifest(path, null);
    EXPECT_EQ(inspected, printed) << what;
    inspected.ok() ? ++accepted : ++refused;
    if (!inspected.ok()) {
      EXPECT_EQ(inspected.message().find(path + ": "), 0u) << what << ": " << inspected;
      EXPECT_EQ(text, "") << what << ": printed before it was refused";
    }
    // Beyond what the others check, the loader looks at the machine and the code.
    absl::StatusOr<rt::LoadedStep> loaded = rt::loadStep(bytes, {});
    if (loaded.ok())
      EXPECT_TRUE(inspected.ok()) << what << ": " << inspected;
    else
      EXPECT_FALSE(loaded.status().message().empty()) << what;
  }

  /// The programs themselves.
  void run(const std::string &bytes, const std::string &what) {
    space->files().write("forged.bin", bytes);
    for (const char *command : {"recipec inspect forged.bin --instructions", "recipec interpret forged.bin",
                                "reciperun forged.bin --print-manifest"}) {
      Outcome outcome = space->run(command);
      EXPECT_TRUE(outcome.code == 0 || outcome.code == 1) << what << ": " << command << " ended in " << outcome.code;
      if (outcome.code == 1)
        EXPECT_NE(outcome.err.find(": error: "), std::string::npos) << what << ": " << outcome.err;
    }
  }

  FILE *null = std::fopen("/dev/null", "w");
  ~ForgedStepTest() override { std::fclose(null); }
  int accepted = 0, refused = 0;

  static std::unique_ptr<Workspace> space;
  static std::unique_ptr<abi::Step> whole, light;
};

std::unique_ptr<Workspace> ForgedStepTest::space;
std::unique_ptr<abi::Step> ForgedStepTest::whole, ForgedStepTest::light;

} // namespace

TEST_F(ForgedStepTest, UnchangedIsAccepted) {
  read(bytesOf(*whole), "unchanged");
  read(bytesOf(*light), "light");
  EXPECT_EQ(accepted, 2);
}

TEST_F(ForgedStepTest, EachNumberAtItsEdges) {
  forEachNumber(*light, {-1, 1 << 20, INT64_MIN, INT64_MAX}, [&](const std::string &name, int64_t value) {
    read(bytesOf(*light), name + " = " + std::to_string(value));
  });
  EXPECT_GT(accepted, 100);
  EXPECT_GT(refused, 250);
}

TEST_F(ForgedStepTest, EachIndexOutOfRange) {
  int indices = 0;
  auto one = [&](const std::string &name, int64_t value) {
    for (const char *field : {"kernel", "buffer", "buffers[0]", "location", "slice_dim", "slot"})
      if (llvm::StringRef(name).ends_with(std::string(".") + field)) {
        ++indices;
        int before = refused;
        read(bytesOf(*light), name + " = " + std::to_string(value));
        EXPECT_EQ(refused, before + 1) << name << " = " << value << " is accepted";
      }
  };
  int64_t most = std::max({light->kernels_size(), light->buffers_size(), light->locations_size(), RCP_RUN_VALUES});
  forEachNumber(*light, {most, INT32_MAX, INT32_MIN}, one);
  EXPECT_GT(indices, 40);
}

TEST_F(ForgedStepTest, RandomChanges) {
  MessageMutator mutator(1);
  for (int round = 0; round < 600; ++round) {
    abi::Step step = *light;
    for (uint64_t changes = 1 + mutator.below(3); changes > 0; --changes)
      mutator.mutate(step);
    read(bytesOf(step), "round " + std::to_string(round));
  }
  EXPECT_GT(accepted, 60);
  EXPECT_GT(refused, 60);
}

TEST_F(ForgedStepTest, CutAndOverwrittenBytes) {
  const std::string payload = light->SerializeAsString();
  for (size_t cut = 0; cut < 60; ++cut)
    read(container(payload.substr(0, payload.size() * cut / 60)), "cut " + std::to_string(cut));
  MessageMutator mutator(2);
  for (int round = 0; round < 400; ++round) {
    std::string bad = payload;
    for (uint64_t changes = 1 + mutator.below(4); changes > 0; --changes)
      bad[mutator.below(bad.size())] = char(mutator.below(256));
    read(container(bad), "bytes, round " + std::to_string(round));
  }
  EXPECT_GT(refused, 300);
}

TEST_F(ForgedStepTest, AbsurdSizes) {
  const std::string payload = light->SerializeAsString();
  // Fields of Step that claim more bytes than there are: up to 2^31 - 1, 2^32, 2^64 - 1.
  for (int field = 1; field <= 13; ++field)
    for (const char *length :
         {"\xff\xff\xff\xff\x07", "\xff\xff\xff\xff\x0f", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"})
      read(container(payload + char(field << 3 | 2) + length), "length of field " + std::to_string(field));
  EXPECT_EQ(accepted, 0);

  abi::Step step = *light;
  for (int i = 0; i < 100000; ++i)
    step.mutable_buffers(0)->add_shape(INT64_MAX);
  read(bytesOf(step), "a shape of 100000 dimensions");
  step = *light;
  for (int i = 0; i < 100000; ++i)
    step.mutable_manifest()->add_legal_ranks(i + 2);
  read(bytesOf(step), "100000 numbers of ranks");
  step = *light;
  step.mutable_manifest()->clear_legal_ranks();
  read(bytesOf(step), "no number of ranks");
  step = *light;
  for (int i = 0; i < 20000; ++i)
    step.mutable_programs(0)->add_instructions();
  read(bytesOf(step), "20000 empty instructions");
  EXPECT_EQ(accepted, 0);
  step = *light;
  step.mutable_manifest()->set_name(std::string(1 << 20, '\x1b'));
  read(bytesOf(step), "a name of a million escape characters");
  EXPECT_EQ(accepted, 1);
}

TEST_F(ForgedStepTest, ThePrograms) {
  abi::Step step = *whole;
  step.mutable_programs(1)->mutable_instructions(0)->set_kernel(uint32_t(step.kernels_size()));
  run(bytesOf(step), "kernel");
  step = *whole;
  step.mutable_programs(1)->mutable_instructions(0)->mutable_arguments(0)->set_buffer(UINT32_MAX);
  run(bytesOf(step), "buffer");
  step = *whole;
  step.mutable_manifest()->set_batch_size(INT64_MAX);
  run(bytesOf(step), "batch size");
  step = *whole;
  step.mutable_semantic()->resize(step.semantic().size() / 2);
  run(bytesOf(step), "semantic");
  MessageMutator mutator(3);
  for (int round = 0; round < 8; ++round) {
    step = *whole;
    mutator.mutate(step);
    run(bytesOf(step), "round " + std::to_string(round));
  }
}

} // namespace recipe::test
