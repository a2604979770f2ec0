// Damaged steps with a valid checksum: the loader must answer each with ok or one clear refusal, never crash.
#include "runtime/loader/ElfCheck.h"
#include "runtime/loader/Loader.h"
#include "tests/abi/HandWrittenStep.h"
#include "tests/abi/MessageMutator.h"
#include <gtest/gtest.h>

namespace recipe::test {

TEST(Fuzz, MutatedFields) {
  const abi::Step original = makeLineStep();
  MessageMutator mutator(1);
  int accepted = 0, refused = 0;
  for (int round = 0; round < 6000; ++round) {
    abi::Step step = original;
    for (uint64_t changes = 1 + mutator.below(3); changes > 0; --changes)
      mutator.mutate(step);
    absl::StatusOr<rt::LoadedStep> loaded = rt::loadStep(bytesOf(step), {});
    loaded.ok() ? ++accepted : ++refused;
    if (!loaded.ok())
      ASSERT_FALSE(loaded.status().message().empty());
  }
  // Both must happen a lot, or the mutations are too wild or too tame to test anything.
  EXPECT_GT(accepted, 600);
  EXPECT_GT(refused, 600);
}

TEST(Fuzz, MutatedBytes) {
  abi::Step step = makeLineStep();
  const std::string payload = step.SerializeAsString();
  // The object makes up nearly all of the payload and comes last; aim at what lies before it.
  size_t head = payload.size() - step.objects(0).data().size();
  MessageMutator mutator(2);
  for (int round = 0; round < 8000; ++round) {
    std::string bad = payload;
    for (uint64_t changes = 1 + mutator.below(4); changes > 0; --changes)
      bad[mutator.below(head)] = char(mutator.below(256));
    absl::StatusOr<rt::LoadedStep> loaded = rt::loadStep(container(bad), {});
    if (!loaded.ok())
      ASSERT_FALSE(loaded.status().message().empty());
  }
}

/// What the check accepts must survive the dynamic loader in this process.
TEST(Fuzz, MutatedObject) {
  const std::string &object = kernelObject();
  MessageMutator mutator(3);
  int accepted = 0, refused = 0;
  for (int round = 0; round < 15000; ++round) {
    std::string bad = object;
    // Headers, dynamic section, symbols and relocations are what the loader reads: concentrate on non-code.
    for (uint64_t changes = 1 + mutator.below(2); changes > 0; --changes) {
      size_t place = mutator.below(3) == 0 ? mutator.below(1024) : mutator.below(bad.size());
      place = std::min(place, bad.size() - 8) & ~size_t(7);
      uint64_t choice = mutator.below(3);
      if (choice == 0)
        bad[place + mutator.below(8)] = char(mutator.below(256));
      else
        for (int i = 0; i < (choice == 1 ? 4 : 8); ++i)
          bad[place + size_t(i)] = char(uint64_t(mutator.number()) >> (8 * i));
    }
    absl::StatusOr<std::unique_ptr<rt::NativeLibrary>> library = rt::NativeLibrary::load(bad);
    library.ok() ? ++accepted : ++refused;
    if (!library.ok())
      continue;
    for (const char *symbol : {"line_init", "line_residual", "nothing"})
      (void)(*library)->kernel(symbol).ok();
  }
  EXPECT_GT(accepted, 300);
  EXPECT_GT(refused, 300);
}

} // namespace recipe::test
