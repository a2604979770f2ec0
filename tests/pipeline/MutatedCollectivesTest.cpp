// The layouts of a plan's buffers and the collectives between them: a real plan for several ranks is changed in one
// place at a time, and no change passes the verifier.
#include "TinyRecipe.h"
#include "dialects/dist/Dist.h"
#include "dialects/step/Step.h"
#include "mlir/IR/Verifier.h"
#include <gtest/gtest.h>

using namespace recipe;
using namespace recipe::test;
using namespace mlir;
using step::Access;
using step::BufferOp;
using step::CollectiveOp;
using step::InstructionOp;
using step::Predicate;
using step::SliceAttr;

namespace {

class MutatedCollectives : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    compiled = compileText(GetParam(), "plan-arena");
    ASSERT_EQ(compiled->outcome, Outcome::Done) << compiled->messages;
    module = *compiled->compilation->module;
    module.walk([&](CollectiveOp op) { collectives.push_back(op); });
    module.walk([&](InstructionOp op) {
      if (!op.getWaits().empty())
        waiters.push_back(op);
    });
    compiled->context.getDiagEngine().registerHandler([](Diagnostic &) { return success(); });
    ASSERT_TRUE(sound());
    // Small models send everything at once; more to change is there when each sum goes by itself.
    splitBundles();
    ASSERT_TRUE(sound());
    ASSERT_GE(collectives.size(), 20u); // each gradient, the loss and the count
  }

  void splitBundles() {
    SmallVector<CollectiveOp> single;
    int64_t signal = 1000;
    DenseMap<int64_t, SmallVector<int64_t>> parts; // signals of those that a bundle became
    for (CollectiveOp op : collectives) {
      OpBuilder builder(op);
      for (auto name : op.getBuffers().getAsRange<FlatSymbolRefAttr>()) {
        auto buffer = module.lookupSymbol<BufferOp>(name);
        auto part = cast<CollectiveOp>(builder.clone(*op));
        part.setBuffersAttr(builder.getArrayAttr({name}));
        part.setElements(buffer.getBytes() / 4);
        part.setName("all_reduce " + name.getValue().str());
        part.setSignal(++signal);
        parts[op.getSignal()].push_back(signal);
        single.push_back(part);
      }
      op.erase();
    }
    collectives = single;
    for (InstructionOp op : waiters) {
      SmallVector<int64_t> waits;
      for (int64_t bundle : op.getWaits())
        llvm::append_range(waits, parts[bundle]);
      op.setWaits(waits);
    }
  }

  static FlatSymbolRefAttr bufferOf(CollectiveOp op) { return cast<FlatSymbolRefAttr>(op.getBuffers()[0]); }

  bool sound() { return succeeded(verify(module)); }

  void expectRejected(const std::string &what) {
    EXPECT_FALSE(sound()) << what;
    ++mutants;
  }

  // Elsewhere for the time of a question.
  void expectRejectedBefore(Operation *op, Operation *place, const std::string &what) {
    Operation *next = op->getNextNode();
    Block *block = op->getBlock();
    op->moveBefore(place);
    expectRejected(what);
    op->moveBefore(block, next ? Block::iterator(next) : block->end());
  }

  static std::string nameOf(CollectiveOp op) { return op.getName().str(); }

  // In the collective's program before it, else in forward.
  InstructionOp lastWriter(CollectiveOp collective) {
    InstructionOp last;
    auto search = [&](Block &block) {
      for (Operation &op : block) {
        if (&op == collective.getOperation())
          return;
        if (auto instruction = dyn_cast<InstructionOp>(op))
          for (auto slice : instruction.getArguments().getAsRange<SliceAttr>())
            if (slice.getBuffer() == bufferOf(collective) && slice.getAccess() == Access::Write)
              last = instruction;
      }
    };
    search(module.lookupSymbol<step::ProgramOp>("forward").getBody().front());
    search(*collective->getBlock());
    return last;
  }

  std::unique_ptr<Compiled> compiled;
  ModuleOp module;
  SmallVector<CollectiveOp> collectives;
  SmallVector<InstructionOp> waiters;
  int mutants = 0;
};

TEST_P(MutatedCollectives, EachIsNeeded) {
  for (CollectiveOp op : collectives) {
    Operation *next = op->getNextNode();
    Block *block = op->getBlock();
    op->remove();
    expectRejected(nameOf(op) + " dropped");
    block->getOperations().insert(next ? Block::iterator(next) : block->end(), op);
  }
  EXPECT_TRUE(sound());
}

TEST_P(MutatedCollectives, NoneIsDoubled) {
  for (CollectiveOp op : collectives) {
    for (uint64_t signal : {op.getSignal(), uint64_t(12345)}) {
      auto again = cast<CollectiveOp>(op->clone());
      again.setSignal(signal);
      op->getBlock()->getOperations().insertAfter(Block::iterator(op), again);
      expectRejected(nameOf(op) + " doubled");
      again.erase();
    }
  }
  EXPECT_TRUE(sound());
}

TEST_P(MutatedCollectives, NoneIsAimedElsewhere) {
  SmallVector<FlatSymbolRefAttr> buffers;
  for (CollectiveOp op : collectives)
    buffers.push_back(bufferOf(op));
  for (auto [i, op] : llvm::enumerate(collectives)) {
    for (StringRef axis : {"tensor", "pipeline", "", "date"}) {
      op.setAxis(axis);
      expectRejected(nameOf(op) + " over " + axis.str());
    }
    op.setAxis("data");
    Builder builder(op.getContext());
    op.setBuffersAttr(builder.getArrayAttr({buffers[(i + 1) % buffers.size()]}));
    expectRejected(nameOf(op) + " on another sum");
    op.setBuffersAttr(builder.getArrayAttr({buffers[i]}));
    op.setElements(op.getElements() - 1);
    expectRejected(nameOf(op) + " without its last element");
    op.setElements(op.getElements() + 1);
    for (Predicate predicate : {Predicate::Always, Predicate::FirstMicrobatch, Predicate::SegmentBegin,
                                Predicate::SegmentEnd, Predicate::Accumulating}) {
      op.setPredicate(predicate);
      expectRejected(nameOf(op) + " when " + stringifyPredicate(predicate).str());
    }
    op.setPredicate(Predicate::LastMicrobatch);
  }
  EXPECT_TRUE(sound());
}

TEST_P(MutatedCollectives, EachComesAfterWhatItSums) {
  auto forward = module.lookupSymbol<step::ProgramOp>("forward");
  for (CollectiveOp op : collectives) {
    InstructionOp writer = lastWriter(op);
    ASSERT_TRUE(writer) << nameOf(op);
    expectRejectedBefore(op, writer, nameOf(op) + " before its last term");
    expectRejectedBefore(op, &forward.getBody().front().front(), nameOf(op) + " before everything");
  }
  EXPECT_TRUE(sound());
}

TEST_P(MutatedCollectives, EachIsWaitedForByTheFirstThatReads) {
  auto update = module.lookupSymbol<step::ProgramOp>("update");
  for (InstructionOp op : waiters) {
    SmallVector<int64_t> waits(op.getWaits());
    for (size_t i = 0; i < waits.size(); ++i) {
      SmallVector<int64_t> fewer = waits;
      fewer.erase(fewer.begin() + i);
      op.setWaits(fewer);
      expectRejected(op.getName().str() + " does not wait");
      auto last = cast<InstructionOp>(update.getBody().front().back());
      if (last != op) {
        SmallVector<int64_t> later(last.getWaits());
        last.setWaits({waits[i]});
        expectRejected(op.getName().str() + " waits too late");
        last.setWaits(later);
      }
      SmallVector<int64_t> other = waits;
      other[i] += 1;
      op.setWaits(other);
      expectRejected(op.getName().str() + " waits for nothing");
      op.setWaits(waits);
    }
  }
  EXPECT_GE(mutants, 50);
  EXPECT_TRUE(sound());
}

TEST_P(MutatedCollectives, NoneBelongsToProgramsOfOneRank) {
  for (StringRef name : {"eval", "init", "prologue"})
    for (CollectiveOp op : collectives) {
      auto program = module.lookupSymbol<step::ProgramOp>(name);
      expectRejectedBefore(op, &program.getBody().front().front(), nameOf(op) + " in " + name.str());
    }
  EXPECT_TRUE(sound());
}

// Each buffer that holds a sum over ranks, laid out as if it were whole, and each whole one as if it were a sum.
TEST_P(MutatedCollectives, NoLayoutIsAnother) {
  for (auto buffer : module.getOps<BufferOp>()) {
    auto type = cast<RankedTensorType>(buffer.getType());
    dist::LayoutAttr layout = dist::layoutOf(type);
    bool split = layout && llvm::any_of(layout.getDims(), [](dist::DimAttr dim) { return !dim.getAxes().empty(); });
    if (!layout || split || buffer.getData())
      continue;
    bool used = false;
    module.walk([&](InstructionOp op) {
      for (auto slice : op.getArguments().getAsRange<SliceAttr>())
        used |= slice.getBuffer().getAttr() == buffer.getSymNameAttr();
    });
    if (!used)
      continue;
    SmallVector<dist::AxisAttr> partial;
    if (!layout.isPartial())
      partial.push_back(dist::AxisAttr::get(&compiled->context, StringAttr::get(&compiled->context, "data"), 1, 0));
    auto other = dist::LayoutAttr::get(&compiled->context, layout.getMesh(), layout.getDims(), partial);
    buffer.setType(RankedTensorType::get(type.getShape(), type.getElementType(), other));
    expectRejected(buffer.getSymName().str() + (layout.isPartial() ? " whole" : " Partial"));
    buffer.setType(type);
  }
  EXPECT_GE(mutants, 100);
  EXPECT_TRUE(sound());
}

INSTANTIATE_TEST_SUITE_P(Models, MutatedCollectives, testing::Values(kTinyLlama, kTinyGpt2),
                         [](const auto &info) { return info.index == 0 ? "Llama" : "Gpt2"; });

} // namespace
