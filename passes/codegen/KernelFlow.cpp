// Loops, branches and lanes of KernelBuilder. Loops are emitted rotated (test at the bottom, a guard above), the shape
// that the code generator wants, so that no loop pass has to run.
#include "passes/codegen/KernelBuilder.h"

using namespace llvm;

namespace recipe::codegen {

Vals KernelBuilder::forLoop(Val lo, Val hi, Val step, ValRange init, LoopBody body) {
  LLVMContext &context = builder.getContext();
  Val enter = ilt(lo, hi);
  auto *always = dyn_cast<ConstantInt>(enter);
  if (always && always->isZero())
    return Vals(init.begin(), init.end());

  BasicBlock *before = builder.GetInsertBlock();
  auto *head = BasicBlock::Create(context, "loop", function);
  auto *exit = BasicBlock::Create(context, "done", function);
  if (always)
    builder.CreateBr(head);
  else
    builder.CreateCondBr(enter, head, exit);

  builder.SetInsertPoint(head);
  PHINode *iv = builder.CreatePHI(lo->getType(), 2, "iv");
  iv->addIncoming(lo, before);
  SmallVector<PHINode *> phis;
  for (Val value : init) {
    phis.push_back(builder.CreatePHI(value->getType(), 2));
    phis.back()->addIncoming(value, before);
  }
  Vals carried(phis.begin(), phis.end());
  Vals next = body(iv, carried);
  assert(next.size() == init.size() && "a loop body returns one value for each it carries");

  BasicBlock *latch = builder.GetInsertBlock();
  Val following = builder.CreateAdd(iv, step, "", true, true);
  iv->addIncoming(following, latch);
  for (auto [phi, value] : zip(phis, next))
    phi->addIncoming(value, latch);
  builder.CreateCondBr(ilt(following, hi), head, exit);

  exit->moveAfter(latch);
  builder.SetInsertPoint(exit);
  Vals results;
  for (auto [first, last] : zip(init, next)) {
    PHINode *phi = builder.CreatePHI(last->getType(), 2);
    if (!always)
      phi->addIncoming(first, before);
    phi->addIncoming(last, latch);
    results.push_back(phi);
  }
  return results;
}

void KernelBuilder::forLoop(Val lo, Val hi, Val step, function_ref<void(Val)> body) {
  forLoop(lo, hi, step, {}, [&](Val iv, ValRange) {
    body(iv);
    return Vals();
  });
}

Vals KernelBuilder::whileLoop(ValRange init, function_ref<Val(ValRange)> condition, function_ref<Vals(ValRange)> body) {
  LLVMContext &context = builder.getContext();
  BasicBlock *before = builder.GetInsertBlock();
  auto *head = BasicBlock::Create(context, "while", function);
  auto *inside = BasicBlock::Create(context, "do", function);
  auto *exit = BasicBlock::Create(context, "done", function);
  builder.CreateBr(head);
  builder.SetInsertPoint(head);
  SmallVector<PHINode *> phis;
  for (Val value : init) {
    phis.push_back(builder.CreatePHI(value->getType(), 2));
    phis.back()->addIncoming(value, before);
  }
  Vals carried(phis.begin(), phis.end());
  builder.CreateCondBr(condition(carried), inside, exit);
  builder.SetInsertPoint(inside);
  Vals next = body(carried);
  for (auto [phi, value] : zip(phis, next))
    phi->addIncoming(value, builder.GetInsertBlock());
  builder.CreateBr(head);
  exit->moveAfter(builder.GetInsertBlock());
  builder.SetInsertPoint(exit);
  return carried;
}

Vals KernelBuilder::forLanes(Val lo, Val hi, ValRange init, LanesBody body) {
  Val count = isub(hi, lo);
  Val whole = iadd(lo, builder.CreateAnd(count, ~uint64_t(kLanes - 1)));
  Vals carried =
      forLoop(lo, whole, i64(kLanes), init, [&](Val iv, ValRange values) { return body(iv, nullptr, values); });
  Val rest = isub(hi, whole);
  return ifElse(ilt(i64(0), rest), [&] { return body(whole, tailMask(rest), carried); }, [&] { return carried; });
}

void KernelBuilder::forLanes(Val lo, Val hi, function_ref<void(Val, Val)> body) {
  forLanes(lo, hi, {}, [&](Val index, Val mask, ValRange) {
    body(index, mask);
    return Vals();
  });
}

Vals KernelBuilder::ifElse(Val condition, function_ref<Vals()> then, function_ref<Vals()> otherwise) {
  if (auto *known = dyn_cast<ConstantInt>(condition))
    return known->isZero() ? otherwise() : then();
  LLVMContext &context = builder.getContext();
  auto *thenBlock = BasicBlock::Create(context, "then", function);
  auto *elseBlock = BasicBlock::Create(context, "else", function);
  auto *exit = BasicBlock::Create(context, "end", function);
  builder.CreateCondBr(condition, thenBlock, elseBlock);
  builder.SetInsertPoint(thenBlock);
  Vals thenValues = then();
  BasicBlock *thenEnd = builder.GetInsertBlock();
  builder.CreateBr(exit);
  elseBlock->moveAfter(thenEnd);
  builder.SetInsertPoint(elseBlock);
  Vals elseValues = otherwise();
  BasicBlock *elseEnd = builder.GetInsertBlock();
  builder.CreateBr(exit);
  exit->moveAfter(elseEnd);
  builder.SetInsertPoint(exit);
  assert(thenValues.size() == elseValues.size() && "both branches give the same values");
  Vals results;
  for (auto [first, second] : zip(thenValues, elseValues)) {
    PHINode *phi = builder.CreatePHI(first->getType(), 2);
    phi->addIncoming(first, thenEnd);
    phi->addIncoming(second, elseEnd);
    results.push_back(phi);
  }
  return results;
}

void KernelBuilder::ifThen(Val condition, function_ref<void()> then) {
  ifElse(
      condition,
      [&] {
        then();
        return Vals();
      },
      [] { return Vals(); });
}

Val KernelBuilder::tailMask(Val count) {
  if (auto *known = dyn_cast<ConstantInt>(count))
    return tailMask(known->getSExtValue());
  Val clamped = imin(count, i64(kLanes)); // the lane numbers are 32 bits wide
  return builder.CreateICmpULT(laneIndex(), splat(builder.CreateTrunc(clamped, i32Type())));
}

Val KernelBuilder::tailMask(int64_t count) {
  SmallVector<Constant *> bits;
  for (int64_t lane = 0; lane < kLanes; ++lane)
    bits.push_back(builder.getInt1(lane < count));
  return ConstantVector::get(bits);
}

// Halves of a vector of 2w lanes: lanes 0..w-1 and w..2w-1.
static std::pair<Val, Val> halves(IRBuilder<> &builder, Val v, int w) {
  SmallVector<int> low, high;
  for (int lane = 0; lane < w; ++lane) {
    low.push_back(lane);
    high.push_back(lane + w);
  }
  return {builder.CreateShuffleVector(v, low), builder.CreateShuffleVector(v, high)};
}

Val KernelBuilder::laneSum(Val v) {
  for (int w = kLanes / 2; w >= 1; w /= 2) {
    auto [low, high] = halves(builder, v, w);
    v = add(low, high);
  }
  return builder.CreateExtractElement(v, uint64_t(0));
}

Val KernelBuilder::laneMax(Val v) {
  for (int w = kLanes / 2; w >= 1; w /= 2) {
    auto [low, high] = halves(builder, v, w);
    v = max(high, low);
  }
  return builder.CreateExtractElement(v, uint64_t(0));
}

Val KernelBuilder::treeSum(ValRange values) {
  Vals items(values.begin(), values.end());
  while (items.size() > 1) {
    Vals next;
    for (size_t i = 0; i + 1 < items.size(); i += 2)
      next.push_back(add(items[i], items[i + 1]));
    if (items.size() % 2)
      next.push_back(items.back());
    items = std::move(next);
  }
  return items[0];
}

} // namespace recipe::codegen
