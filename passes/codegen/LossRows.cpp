// family "cross_entropy": rows of logits to losses and, in place, to their gradients.
//
//   spec      vocabulary, segment (elements of a vocabulary segment), segments, gradient (1: logits become their
//   gradients), grain (rows per
//             workgroup)
//   scalars   rows
//   buffers   logits [rows, V], labels [rows], loss of each row, 1.0 or 0.0 for each row that counts or does not
//   scratch   32 floats
#include "passes/codegen/EmitPolicy.h"
#include "passes/codegen/KernelFamily.h"
#include "passes/codegen/Spec.h"

using namespace llvm;
using mlir::DictionaryAttr;

namespace recipe::codegen {
namespace {

class LossRows {
public:
  LossRows(KernelBuilder &b, DictionaryAttr spec)
      : b(b), p(b), scalar(EmitPolicy::scalar(b)), vocabulary(specInt(spec, "vocabulary")),
        length(specInt(spec, "segment")), segments(specInt(spec, "segments")), gradient(specInt(spec, "gradient")),
        grain(specInt(spec, "grain")) {}

  void emit() {
    auto [lo, hi] = b.ownRange(b.scalar(0), b.i64(grain));
    b.forLoop(lo, hi, b.i64(1), [&](Val row) {
      logits = b.at(b.buffer(0), b.imul(row, vocabulary));
      Val label = b.loadI32(b.at(b.buffer(1), row));
      Val valid = b.ir().CreateICmpSGE(label, b.i32(0));
      Val loss = b.ifElse(valid, [&] { return Vals{countedRow(label)}; }, [&] { return Vals{ignoredRow()}; })[0];
      b.store(b.at(b.buffer(2), row), loss);
      b.store(b.at(b.buffer(3), row), b.select(valid, b.f32(1.0), b.f32(0.0)));
    });
  }

private:
  Val countedRow(Val label) {
    MaxSum total = maxAndSum();
    Val labelLogit = b.loadF32(b.at(logits, b.ir().CreateZExt(label, b.i64Type())));
    Val loss = train::tokenLoss(scalar, total, labelLogit);
    if (gradient)
      differentiate(total, label);
    return loss;
  }

  Val ignoredRow() {
    if (gradient)
      b.forLanes(b.i64(0), b.i64(vocabulary),
                 [&](Val v, Val mask) { b.storeLanes(b.at(logits, v), b.lanes(0.0), mask); });
    return b.f32(0.0);
  }

  using MaxSum = train::MaxSum<EmitPolicy>;
  static constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

  // Of each segment into scratch, then merged by the tree: all pairs of a level at once, in lanes.
  MaxSum maxAndSum() {
    Address maxima = b.scratch(), sums = b.scratch(kLanes * 4);
    b.forLoop(0, segments, 1, [&](Val segment) {
      Val begin = b.imin(b.imul(segment, length), b.i64(vocabulary)); // the last segments may be empty
      Val end = b.imin(b.iadd(begin, length), b.i64(vocabulary));
      Val max = b.laneMax(b.forLanes(begin, end, {b.lanes(kMinusInfinity)}, [&](Val v, Val mask, ValRange chain) {
        Val logit = b.loadLanes(b.at(logits, v), mask);
        Val greater = b.max(logit, chain[0]);
        return Vals{mask ? b.select(mask, greater, chain[0]) : greater};
      })[0]);
      Val spread = b.splat(max);
      Val sum = b.laneSum(b.forLanes(begin, end, {b.lanes(0.0)}, [&](Val v, Val mask, ValRange chain) {
        Val term = train::softmaxTerm(p, b.loadLanes(b.at(logits, v), mask), spread);
        return Vals{b.add(chain[0], mask ? b.select(mask, term, b.lanes(0.0)) : term)};
      })[0]);
      b.store(b.at(maxima, segment), max);
      b.store(b.at(sums, segment), sum);
    });
    Val used = b.tailMask(segments);
    MaxSum merged = {b.select(used, b.loadLanes(maxima, used), b.lanes(kMinusInfinity)), b.loadLanes(sums, used)};
    int even[kLanes], odd[kLanes];
    for (int lane = 0; lane < kLanes; ++lane)
      even[lane] = 2 * lane % kLanes, odd[lane] = 2 * lane % kLanes + 1;
    auto pick = [&](const MaxSum &from, ArrayRef<int> lanes) {
      return MaxSum{b.ir().CreateShuffleVector(from.max, lanes), b.ir().CreateShuffleVector(from.sum, lanes)};
    };
    for (int64_t width = segments; width > 1; width = divideCeil(width, 2))
      merged = train::mergeMaxSum(p, pick(merged, even), pick(merged, odd));
    return {b.ir().CreateExtractElement(merged.max, uint64_t(0)), b.ir().CreateExtractElement(merged.sum, uint64_t(0))};
  }

  void differentiate(const MaxSum &total, Val label) {
    Val reciprocal = b.splat(b.div(b.f32(1.0), total.sum));
    Val max = b.splat(total.max), labels = b.splat(label);
    b.forLanes(b.i64(0), b.i64(vocabulary), [&](Val v, Val mask) {
      Address at = b.at(logits, v);
      Val index = b.ir().CreateAdd(b.splat(b.ir().CreateTrunc(v, b.i32Type())), b.laneIndex());
      Val isLabel = b.ir().CreateICmpEQ(index, labels);
      b.storeLanes(at, train::logitGradient(p, b.loadLanes(at, mask), max, reciprocal, isLabel), mask);
    });
  }

  KernelBuilder &b;
  EmitPolicy p, scalar;
  int64_t vocabulary, length, segments;
  bool gradient;
  int64_t grain;
  Address logits;
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
