// Attention forward: arguments q, k, v, o, row max, row sum.
#include "passes/codegen/Attention.h"

using namespace llvm;

namespace recipe::codegen {

void AttentionEmitter::emitForward() {
  Val sample = b.idiv(b.workgroup(), spec.heads), head = b.irem(b.workgroup(), spec.heads);
  Val kvHead = b.idiv(head, spec.group());
  Rows q = rowsOf(0, sample, head, spec.heads), out = rowsOf(3, sample, head, spec.heads);
  packTransposed(rowsOf(1, sample, kvHead, spec.kvHeads), at.keysTransposed);
  packRowPanels(rowsOf(2, sample, kvHead, spec.kvHeads), at.rowPanels);
  Val rowBase = b.imul(b.iadd(b.imul(sample, spec.heads), head), spec.positions);
  Address maxOut = b.at(b.buffer(4), rowBase), sumOut = b.at(b.buffer(5), rowBase);
  Val keepScale = b.lanes(train::dropoutScale(spec.dropoutProbability));

  b.forLoop(0, spec.positions, spec.block(), [&](Val firstRow) {
    packRowBlock(q, firstRow, at.queries);
    scoreBlock(at.queries, at.keysTransposed, firstRow, at.scores, b.lanes(spec.scale));
    auto scoresOf = [&](Val i) { return b.at(part(at.scores), b.imul(i, spec.scoreStride())); };
    // All maxima come first: in one loop with the sums each row would wait for the one before it.
    forBlockRows(firstRow, [&](Val i, Val row) {
      Val lowest = b.lanes(-std::numeric_limits<double>::infinity());
      Vals highest = b.forLanes(b.i64(0), b.iadd(row, 1), {lowest}, [&](Val j, Val mask, ValRange carried) {
        Val s = b.loadLanes(b.at(scoresOf(i), j));
        return Vals{b.max(mask ? b.select(mask, s, lowest) : s, carried[0])};
      });
      b.store(b.at(maxOut, row), b.laneMax(highest[0]));
    });
    forBlockRows(firstRow, [&](Val i, Val row) {
      Val rowMax = b.broadcast(b.at(maxOut, row));
      Vals sums = b.forLanes(b.i64(0), b.iadd(row, 1), {b.lanes(0.0)}, [&](Val j, Val mask, ValRange carried) {
        Address place = b.at(scoresOf(i), j);
        Val term = train::softmaxTerm(policy, b.loadLanes(place), rowMax);
        if (mask)
          term = b.select(mask, term, b.lanes(0.0));
        Val weight =
            spec.dropout ? train::applyDropout(policy, keptLanes(sample, head, row, j), term, keepScale) : term;
        b.storeLanes(place, weight);
        return Vals{b.add(carried[0], term)};
      });
      Val rowSum = b.laneSum(sums[0]);
      b.store(b.at(sumOut, row), rowSum);
      b.store(b.at(part(at.stats), i), b.div(b.f32(1.0), rowSum));
    });
    chainKeys(firstRow, at.scores, at.rowPanels, [&](Val i, Val row, Val column, Val value, Val mask) {
      Val scaled = b.mul(value, b.broadcast(b.at(part(at.stats), i)));
      b.storeLanes(b.at(b.at(out.base, b.imul(row, out.stride)), column), scaled, mask);
    });
  });
}

static Error emitAttention(KernelBuilder &b, mlir::DictionaryAttr spec, mlir::Region &) {
  AttentionSpec attention(spec);
  AttentionEmitter emitter(b, attention);
  if (attention.backward)
    emitter.emitBackward();
  else
    emitter.emitForward();
  return Error::success();
}

ArrayRef<NamedEmitRule> attentionFamilies() {
  static const NamedEmitRule rules[] = {{"attention", emitAttention}};
  return rules;
}

} // namespace recipe::codegen
