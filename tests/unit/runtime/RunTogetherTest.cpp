// Which instructions of a program may run together: decided from what the step says of them.
#include "runtime/executor/Program.h"
#include <gtest/gtest.h>

namespace recipe::test {

namespace {

/// Buffers of 64 bytes one behind the other in the transient region, and instructions on them.
class Steps {
public:
  explicit Steps(int buffers) {
    for (int i = 0; i < buffers; ++i) {
      abi::Buffer &buffer = *step.add_buffers();
      buffer.set_region(abi::TRANSIENT);
      buffer.set_offset(uint64_t(i) * 64);
      buffer.set_bytes(64);
    }
  }
  abi::Instruction &add(const std::vector<uint32_t> &reads, const std::vector<uint32_t> &writes) {
    abi::Instruction &instruction = *program.add_instructions();
    instruction.set_workgroups(2);
    instruction.set_beside(true);
    for (bool written : {false, true})
      for (uint32_t buffer : written ? writes : reads) {
        abi::KernelArgument &argument = *instruction.add_arguments();
        argument.set_buffer(buffer);
        argument.set_written(written);
      }
    return instruction;
  }
  /// How many run together, one range after the other.
  std::vector<size_t> together() const {
    std::vector<size_t> counts;
    size_t next = 0;
    for (rt::TogetherRange range : rt::runTogether(step, program)) {
      EXPECT_EQ(range.first, next);
      next += range.count;
      counts.push_back(range.count);
    }
    EXPECT_EQ(next, size_t(program.instructions_size()));
    return counts;
  }
  abi::Step step;
  abi::SubProgram program;
};

using Counts = std::vector<size_t>;

} // namespace

TEST(RunTogether, WhatHasNothingToDoWithEachOther) {
  Steps s(6);
  s.add({0, 1}, {2}), s.add({0}, {3}), s.add({1}, {4, 5});
  EXPECT_EQ(s.together(), Counts{3});
}

TEST(RunTogether, NoneReadsWhatAnotherWrites) {
  Steps s(4);
  s.add({0}, {1}), s.add({1}, {2}); // reads a result
  EXPECT_EQ(s.together(), (Counts{1, 1}));
  Steps overwrites(4);
  overwrites.add({0}, {1}), overwrites.add({2}, {0});
  EXPECT_EQ(overwrites.together(), (Counts{1, 1}));
  Steps same(4);
  same.add({0}, {1}), same.add({2}, {1});
  EXPECT_EQ(same.together(), (Counts{1, 1}));
  Steps first(5); // with one that is not its neighbour
  first.add({0}, {1}), first.add({2}, {3}), first.add({1}, {4});
  EXPECT_EQ(first.together(), (Counts{2, 1}));
}

TEST(RunTogether, BuffersInTheSamePlaceAreTheSame) {
  Steps s(4);
  s.step.mutable_buffers(3)->set_offset(64 + 60); // the end of buffer 1, and what follows
  s.add({0}, {1}), s.add({2}, {3});
  EXPECT_EQ(s.together(), (Counts{1, 1}));
  s.step.mutable_buffers(3)->set_region(abi::STATE);
  EXPECT_EQ(s.together(), Counts{2});
  Steps parts(3); // of one buffer, whose ends are not known
  parts.add({0}, {2}), parts.add({1}, {2}).mutable_arguments(1)->set_offset(32);
  EXPECT_EQ(parts.together(), (Counts{1, 1}));
}

TEST(RunTogether, BothSlotsOfAnInput) {
  Steps s(3);
  s.step.mutable_buffers(2)->set_slot_stride(4096);
  s.step.mutable_buffers(1)->set_offset(4096 + 128);
  s.add({0}, {1}), s.add({2}, {});
  EXPECT_EQ(s.together(), (Counts{1, 1}));
}

TEST(RunTogether, OnlyWhoeverMayAndAlwaysRunsWithThem) {
  Steps s(8);
  s.add({0}, {1}), s.add({0}, {2}).set_beside(false), s.add({0}, {3}), s.add({0}, {4});
  EXPECT_EQ(s.together(), (Counts{1, 1, 2}));
  s.program.mutable_instructions(3)->set_predicate(abi::FIRST_MICROBATCH);
  EXPECT_EQ(s.together(), (Counts{1, 1, 1, 1}));
}

TEST(RunTogether, CollectivesKeepTheirPlace) {
  Steps s(8);
  s.add({0}, {1}), s.add({0}, {2}).mutable_collective()->set_elements(16), s.add({0}, {3}), s.add({0}, {4});
  EXPECT_EQ(s.together(), (Counts{1, 1, 2}));
  s.program.mutable_instructions(3)->add_waits(7); // would hold back the one before it
  EXPECT_EQ(s.together(), (Counts{1, 1, 1, 1}));
  s.program.mutable_instructions(3)->clear_waits();
  s.program.mutable_instructions(2)->add_waits(7);
  EXPECT_EQ(s.together(), (Counts{1, 1, 2}));
}

TEST(RunTogether, NotTooMany) {
  Steps s(41);
  for (uint32_t i = 1; i <= 40; ++i)
    s.add({0}, {i});
  EXPECT_EQ(s.together(), (Counts{16, 16, 8}));
}

} // namespace recipe::test
