// The proof of a plan must fail for every plan that is not sound: a real plan is changed in one place at a time.
#include "TinyRecipe.h"
#include "dialects/step/Step.h"
#include "mlir/IR/Verifier.h"
#include <gtest/gtest.h>

using namespace recipe;
using namespace recipe::test;
using namespace mlir;
using step::Access;
using step::BufferOp;
using step::InstructionOp;
using step::SliceAttr;
using step::Space;

namespace {

class MutatedPlan : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    compiled = compileText(GetParam(), "plan-arena");
    ASSERT_EQ(compiled->outcome, Outcome::Done) << compiled->messages;
    module = *compiled->compilation->module;
    for (auto buffer : module.getOps<BufferOp>())
      buffers[buffer.getSymNameAttr()] = buffer;
    compiled->context.getDiagEngine().registerHandler([](Diagnostic &) { return success(); });
    ASSERT_TRUE(sound());
  }

  bool sound() { return succeeded(verify(module)); }

  BufferOp buffer(SliceAttr slice) { return buffers.lookup(slice.getBuffer().getAttr()); }

  SmallVector<InstructionOp> instructions() {
    SmallVector<InstructionOp> all;
    module.walk([&](InstructionOp op) { all.push_back(op); });
    return all;
  }

  SmallVector<SliceAttr> slices(InstructionOp op) { return llvm::to_vector(op.getArguments().getAsRange<SliceAttr>()); }

  // Replaces argument i, asks, and puts it back.
  bool soundWith(InstructionOp op, size_t i, SliceAttr slice) {
    ArrayAttr before = op.getArguments();
    SmallVector<Attribute> changed(before.begin(), before.end());
    changed[i] = slice;
    op.setArgumentsAttr(ArrayAttr::get(op.getContext(), changed));
    bool result = sound();
    op.setArgumentsAttr(before);
    return result;
  }

  std::unique_ptr<Compiled> compiled;
  ModuleOp module;
  DenseMap<StringAttr, BufferOp> buffers;
};

// The buffers that stand in one storage one after the other.
StringRef storageOf(const DenseMap<StringAttr, BufferOp> &buffers, BufferOp buffer) {
  while (buffer.getSharesAttr())
    buffer = buffers.lookup(buffer.getSharesAttr().getAttr());
  return buffer.getSymName();
}

TEST_P(MutatedPlan, TwoLiveBuffersOnTheSameBytes) {
  int tried = 0;
  for (InstructionOp op : instructions())
    for (SliceAttr a : slices(op))
      for (SliceAttr b : slices(op)) {
        BufferOp moved = buffer(a), other = buffer(b);
        if (moved.getSpace() != Space::Transient || other.getSpace() != Space::Transient ||
            storageOf(buffers, moved) == storageOf(buffers, other))
          continue;
        uint64_t before = moved.getOffset();
        moved.setOffset(other.getOffset());
        EXPECT_FALSE(sound()) << moved.getSymName().str() << " on " << other.getSymName().str();
        moved.setOffset(before);
        ++tried;
      }
  EXPECT_GT(tried, 100);
}

TEST_P(MutatedPlan, StateOrInputBuffersOnTheSameBytes) {
  SmallVector<BufferOp> residents;
  for (auto op : module.getOps<BufferOp>())
    if (op.getSpace() != Space::Transient)
      residents.push_back(op);
  for (size_t i = 1; i < residents.size(); ++i) {
    if (residents[i].getSpace() != residents[i - 1].getSpace())
      continue;
    uint64_t before = residents[i].getOffset();
    residents[i].setOffset(residents[i - 1].getOffset());
    EXPECT_FALSE(sound()) << residents[i].getSymName().str();
    residents[i].setOffset(before);
  }
}

TEST_P(MutatedPlan, LostInstruction) {
  int tried = 0;
  for (InstructionOp op : instructions()) {
    // What no other launch of its name writes and somebody reads later must be missed.
    bool needed = false;
    for (SliceAttr slice : slices(op)) {
      bool readLater = false, writtenElsewhere = false;
      for (InstructionOp other : instructions())
        for (SliceAttr use : slices(other)) {
          bool same = use.getBuffer() == slice.getBuffer();
          readLater |= same && use.getAccess() == Access::Read;
          writtenElsewhere |= same && other != op && use.getAccess() != Access::Read;
        }
      needed |= slice.getAccess() == Access::Write && buffer(slice).getSpace() == Space::Transient && readLater &&
                !writtenElsewhere;
    }
    if (!needed)
      continue;
    Operation *next = op->getNextNode();
    Block *block = op->getBlock();
    op->remove();
    EXPECT_FALSE(sound()) << op.getName().str();
    block->getOperations().insert(next ? Block::iterator(next) : block->end(), op);
    ++tried;
  }
  EXPECT_GT(tried, 30);
  EXPECT_TRUE(sound());
}

TEST_P(MutatedPlan, ReadBeforeWritten) {
  int tried = 0;
  for (InstructionOp op : instructions()) {
    auto previous = dyn_cast_or_null<InstructionOp>(op->getPrevNode());
    if (!previous)
      continue;
    bool depends = llvm::any_of(slices(op), [&](SliceAttr read) {
      return read.getAccess() == Access::Read && buffer(read).getSpace() == Space::Transient &&
             llvm::any_of(slices(previous), [&](SliceAttr written) {
               return written.getAccess() == Access::Write && written.getBuffer() == read.getBuffer();
             });
    });
    if (!depends)
      continue;
    op->moveBefore(previous);
    EXPECT_FALSE(sound()) << op.getName().str();
    previous->moveBefore(op);
    ++tried;
  }
  EXPECT_GT(tried, 20);
  EXPECT_TRUE(sound());
}

TEST_P(MutatedPlan, WrittenToTheWrongPlace) {
  int tried = 0;
  for (InstructionOp op : instructions())
    for (auto [i, slice] : llvm::enumerate(slices(op))) {
      if (slice.getAccess() != Access::Write)
        continue;
      // An input is never written.
      auto input = FlatSymbolRefAttr::get(op.getContext(), "input:tokens");
      EXPECT_FALSE(soundWith(op, i, SliceAttr::get(op.getContext(), Access::Write, input, 0))) << op.getName().str();
      // Nothing lies behind the end of a buffer.
      EXPECT_FALSE(soundWith(
          op, i, SliceAttr::get(op.getContext(), Access::Write, slice.getBuffer(), int64_t(buffer(slice).getBytes()))));
      ++tried;
    }
  EXPECT_GT(tried, 100);
}

TEST_P(MutatedPlan, ArenaTooSmall) {
  auto arena = *module.getOps<step::ArenaOp>().begin();
  uint64_t stride = arena.getScratchStride(), offset = arena.getScratchOffset();
  arena.setScratchStride(0);
  EXPECT_FALSE(sound());
  arena.setScratchStride(stride);
  arena.setScratchOffset(0);
  EXPECT_FALSE(sound());
  arena.setScratchOffset(offset);
  ArrayAttr rows = arena.getRows();
  for (size_t i = 0; i < rows.size(); ++i)
    for (int region = 0; region < 3; ++region) {
      auto row = cast<step::RowAttr>(rows[i]);
      SmallVector<step::ShareAttr> shares(row.getShares());
      shares[0] = step::ShareAttr::get(row.getContext(), shares[0].getCategory(), shares[0].getBytes() - 64);
      SmallVector<Attribute> changed(rows.begin(), rows.end());
      changed[i] = step::RowAttr::get(row.getContext(), row.getRanks(), row.getAccumulation(), row.getNodes(),
                                      row.getState() - (region == 0 ? 64 : 0), row.getInput() - (region == 1 ? 64 : 0),
                                      row.getTransient() - (region == 2 ? 64 : 0), shares);
      arena.setRowsAttr(ArrayAttr::get(row.getContext(), changed));
      EXPECT_FALSE(sound()) << i << " " << region;
    }
  arena.setRowsAttr(rows);
  EXPECT_TRUE(sound());
}

TEST_P(MutatedPlan, WrongPredicate) {
  // A writer that runs less often than its readers leaves them with nothing.
  int tried = 0;
  for (InstructionOp op : instructions()) {
    bool feeds = llvm::any_of(slices(op), [&](SliceAttr slice) {
      return slice.getAccess() == Access::Write && buffer(slice).getSpace() == Space::Transient &&
             llvm::any_of(instructions(), [&](InstructionOp reader) {
               return llvm::any_of(slices(reader), [&](SliceAttr read) {
                 return read.getBuffer() == slice.getBuffer() && read.getAccess() == Access::Read;
               });
             });
    });
    if (!feeds || op.getPredicate() != step::Predicate::Always)
      continue;
    op.setPredicate(step::Predicate::FirstMicrobatch);
    EXPECT_FALSE(sound()) << op.getName().str();
    op.setPredicate(step::Predicate::Always);
    ++tried;
  }
  EXPECT_GT(tried, 30);
}

INSTANTIATE_TEST_SUITE_P(Models, MutatedPlan, testing::Values(kTinyLlama, kTinyGpt2),
                         [](const auto &info) { return info.index == 0 ? "Llama" : "Gpt2"; });

} // namespace
