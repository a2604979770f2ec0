// family "cross_entropy": rows of logits to losses and, in place, to their gradients.
//
// Sixteen rows together: (max, sum of exponentials) of each row and vocabulary segment go to scratch, with rows in the
// lanes; what follows of a row's few numbers is then one vector for all.
//   spec      vocabulary, stride (elements between rows of logits), segment (elements of a vocabulary segment),
//             segments, gradient (1: logits become their gradients), bf16 (1: the gradients are bf16), in_place (1:
//             those of a row begin where its logits do, 0: they go elsewhere, row behind row), grain (rows per
//             workgroup)
//   scalars   rows
//   buffers   logits [rows, stride], labels [rows], loss of each row, 1.0 or 0.0 for each row that counts or does not;
//             gradients [rows, V] that go elsewhere
//   scratch   LossScratch
#include "passes/LossScratch.h"
#include "passes/codegen/BF16.h"
#include "passes/codegen/EmitPolicy.h"
#include "passes/codegen/KernelFamily.h"
#include "passes/codegen/Spec.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using mlir::DictionaryAttr;

namespace recipe::codegen {
namespace {

class LossRows {
public:
  LossRows(KernelBuilder &b, DictionaryAttr spec)
      : b(b), p(b), vocabulary(specInt(spec, "vocabulary")), stride(specInt(spec, "stride")),
        length(specInt(spec, "segment")), segments(specInt(spec, "segments")), gradient(specInt(spec, "gradient")),
        bf16(specInt(spec, "bf16")), inPlace(specInt(spec, "in_place")), grain(specInt(spec, "grain")), at{segments} {}

  void emit() {
    auto [lo, hi] = b.ownRange(b.scalar(0), b.i64(grain));
    b.forLanes(lo, hi,
               [&, hi = hi](Val first, Val mask) { rowsFrom(first, mask ? b.isub(hi, first) : b.i64(kLanes), mask); });
  }

private:
  using MaxSum = train::MaxSum<EmitPolicy>;
  static constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

  void rowsFrom(Val first, Val count, Val mask) {
    Val labels = b.loadLanes(b.at(b.buffer(1), first), b.i32Type(), mask);
    Val valid = b.ir().CreateICmpSGE(labels, Constant::getNullValue(labels->getType()));
    forRows(first, count, [&](Val row, Address logits, Val label) {
      b.ifThen(isValid(label), [&] {
        maximaAndSums(row, logits);
        b.store(b.at(part(at.labelLogits()), row), b.loadF32(b.at(logits, b.ir().CreateZExt(label, b.i64Type()))));
      });
    });
    MaxSum total = mergeSegments();
    Val loss = train::tokenLoss(p, total, b.loadLanes(part(at.labelLogits())));
    b.storeLanes(b.at(b.buffer(2), first), b.select(valid, loss, b.lanes(0.0)), mask);
    b.storeLanes(b.at(b.buffer(3), first), b.select(valid, b.lanes(1.0), b.lanes(0.0)), mask);
    if (!gradient)
      return;
    b.storeLanes(part(at.rowMaxima()), total.max);
    b.storeLanes(part(at.reciprocals()), b.div(b.lanes(1.0), total.sum));
    forRows(first, count, [&](Val row, Address logits, Val label) {
      // Of the row's gradients. They are no longer than logits, so that none overtakes what is still to be read.
      Val begin = b.imul(b.iadd(first, row), !inPlace ? vocabulary : bf16 ? 2 * stride : stride);
      b.ifElse(
          isValid(label),
          [&] {
            differentiate(row, logits, label, begin);
            return Vals();
          },
          [&] {
            b.forLanes(b.i64(0), b.i64(vocabulary),
                       [&](Val v, Val tail) { storeGradients(b.iadd(begin, v), b.lanes(0.0), tail); });
            return Vals();
          });
    });
  }

  void storeGradients(Val element, Val gradients, Val mask) {
    if (bf16)
      storeBF16Lanes(b, b.at(b.buffer(inPlace ? 0 : 4), element, 2), roundToBF16(b, gradients), mask);
    else
      b.storeLanes(b.at(b.buffer(0), element), gradients, mask);
  }

  Address part(int64_t floats) { return b.scratch(floats * 4); }
  Val isValid(Val label) { return b.ir().CreateICmpSGE(label, b.i32(0)); }
  void forRows(Val first, Val count, function_ref<void(Val row, Address logits, Val label)> body) {
    b.forLoop(b.i64(0), count, b.i64(1), [&](Val row) {
      Val token = b.iadd(first, row);
      body(row, b.at(b.buffer(0), b.imul(token, stride)), b.loadI32(b.at(b.buffer(1), token)));
    });
  }

  // Of each segment of a row. All maxima come first: in one loop each sum would wait for its maximum.
  void maximaAndSums(Val row, Address logits) {
    forSegments([&](Val segment, Val begin, Val end) {
      Vals max = b.forLanes(begin, end, {b.lanes(kMinusInfinity)}, [&](Val v, Val mask, ValRange chain) {
        Val greater = b.max(b.loadLanes(b.at(logits, v), mask), chain[0]);
        return Vals{mask ? b.select(mask, greater, chain[0]) : greater};
      });
      b.store(b.at(maximaOf(segment), row), b.laneMax(max[0]));
    });
    forSegments([&](Val segment, Val begin, Val end) {
      Val max = b.broadcast(b.at(maximaOf(segment), row));
      Vals sum = b.forLanes(begin, end, {b.lanes(0.0)}, [&](Val v, Val mask, ValRange chain) {
        Val term = train::softmaxTerm(p, b.loadLanes(b.at(logits, v), mask), max);
        return Vals{b.add(chain[0], mask ? b.select(mask, term, b.lanes(0.0)) : term)};
      });
      b.store(b.at(sumsOf(segment), row), b.laneSum(sum[0]));
    });
  }
  void forSegments(function_ref<void(Val segment, Val begin, Val end)> body) {
    b.forLoop(0, segments, 1, [&](Val segment) {
      Val begin = b.imin(b.imul(segment, length), b.i64(vocabulary)); // the last segments may be empty
      body(segment, begin, b.imin(b.iadd(begin, length), b.i64(vocabulary)));
    });
  }
  Address maximaOf(Val segment) { return b.at(part(at.maxima()), b.imul(segment, kLanes)); }
  Address sumsOf(Val segment) { return b.at(part(at.sums()), b.imul(segment, kLanes)); }

  // The tree of adjacent pairs, in place.
  MaxSum mergeSegments() {
    auto load = [&](Val segment) { return MaxSum{b.loadLanes(maximaOf(segment)), b.loadLanes(sumsOf(segment))}; };
    auto store = [&](Val segment, const MaxSum &value) {
      b.storeLanes(maximaOf(segment), value.max);
      b.storeLanes(sumsOf(segment), value.sum);
    };
    for (int64_t width = segments; width > 1; width = divideCeil(width, 2)) {
      b.forLoop(0, width / 2, 1, [&](Val pair) {
        Val left = b.imul(pair, 2);
        store(pair, train::mergeMaxSum(p, load(left), load(b.iadd(left, 1))));
      });
      if (width % 2)
        store(b.i64(width / 2), load(b.i64(width - 1)));
    }
    return load(b.i64(0));
  }

  void differentiate(Val row, Address logits, Val label, Val begin) {
    Val max = b.broadcast(b.at(part(at.rowMaxima()), row)), labels = b.splat(label);
    Val reciprocal = b.broadcast(b.at(part(at.reciprocals()), row));
    b.forLanes(b.i64(0), b.i64(vocabulary), [&](Val v, Val mask) {
      Val index = b.ir().CreateAdd(b.splat(b.ir().CreateTrunc(v, b.i32Type())), b.laneIndex());
      Val isLabel = b.ir().CreateICmpEQ(index, labels);
      Val logit = b.loadLanes(b.at(logits, v), mask);
      storeGradients(b.iadd(begin, v), train::logitGradient(p, logit, max, reciprocal, isLabel), mask);
    });
  }

  KernelBuilder &b;
  EmitPolicy p;
  int64_t vocabulary, stride, length, segments;
  bool gradient, bf16, inPlace;
  int64_t grain;
  LossScratch at;
};

} // namespace

static Error emitLossRows(KernelBuilder &b, DictionaryAttr spec, mlir::Region &) {
  LossRows(b, spec).emit();
  return Error::success();
}

ArrayRef<NamedEmitRule> lossFamilies() {
  static constexpr NamedEmitRule families[] = {{"cross_entropy", emitLossRows}};
  return families;
}

} // namespace recipe::codegen
