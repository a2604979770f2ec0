// Attention forward: arguments q, k, v, row max, row sum, o.
//
// One tile of rows at a time: its scores against all keys up to the diagonal, their maxima while they are in registers,
// the exponentials, the output. Keys and values are packed when the diagonal reaches them, and what the next tile needs
// from memory is fetched while this one computes exponentials.
#include "passes/codegen/Attention.h"
#include "passes/codegen/BF16.h"

using namespace llvm;

namespace recipe::codegen {

void AttentionEmitter::emitForward(const LaneProgram *epilogue) {
  Val sample = b.idiv(b.workgroup(), spec.heads), head = b.irem(b.workgroup(), spec.heads);
  Val kvHead = b.idiv(head, spec.group());
  Rows q = operandRows(0, sample, head, spec.heads), k = operandRows(1, sample, kvHead, spec.kvHeads),
       v = operandRows(2, sample, kvHead, spec.kvHeads), out = resultRows(5, sample, head, spec.heads);
  Val rowBase = b.imul(b.iadd(b.imul(sample, spec.heads), head), spec.positions);
  ForwardRows rows{sample, head, b.at(b.buffer(3), rowBase), b.at(b.buffer(4), rowBase)};
  int64_t ahead = spec.panelWidth() + spec.tileRows; // the last row of a panel that the next tile may begin
  b.forLoop(0, std::min(ahead, spec.positions), 1, [&](Val row) { prefetchRow(k, row), prefetchRow(v, row); });

  b.forLoop(b.i64(0), b.i64(spec.rowTiles()), b.i64(1), {b.i64(0)}, [&](Val tile, ValRange packed) {
    Val firstRow = tileBegin(tile), lastRow = b.iadd(firstRow, spec.tileRows - 1);
    Vals panels = b.whileLoop(
        packed, [&](ValRange now) { return b.ilt(b.imul(now[0], spec.panelWidth()), b.iadd(lastRow, 1)); },
        [&](ValRange now) {
          packPanel(k, b.i64(0), now[0], at.keysTransposed);
          packRows(v, b.i64(0), b.imul(now[0], spec.panelWidth()), spec.panelWidth(), at.rowPanels);
          return Vals{b.iadd(now[0], 1)};
        });
    packRowTile(q, firstRow, at.queries);
    scoreTile(firstRow, rows.maxOut);
    softmaxTile(firstRow, rows, [&](Val row) {
      prefetchRow(q, b.iadd(row, spec.tileRows));
      if (!epilogue)
        prefetchRow(out, b.iadd(row, spec.tileRows));
      prefetchRow(k, b.iadd(row, ahead)), prefetchRow(v, b.iadd(row, ahead));
    });
    b.forLoop(0, spec.sizePanels(), 1, [&](Val panel) {
      Vals values = keyChain(part(at.scores), at.rowPanels, panel).upToDiagonal(firstRow, {});
      forTileVectors(panel, [&](int64_t r, int64_t v, Val column, Val mask) {
        Val value = values[size_t(r * spec.tileVectors + v)];
        Val scaled = b.mul(value, b.broadcast(b.at(part(at.stats), r)));
        if (!epilogue)
          return b.storeLanes(b.at(out.at(b, b.iadd(firstRow, r)), column), scaled, mask);
        Val channel = b.iadd(b.imul(head, spec.size), column);
        Val row = b.iadd(b.imul(sample, spec.positions), b.iadd(firstRow, r));
        epilogue->run({scaled}, {b.iadd(b.imul(row, spec.heads * spec.size), channel), channel, mask});
      });
    });
    return panels;
  });
}

// Scores of a tile's rows, keys right of the diagonal -inf up to the end of its last vector; the maxima to `maxOut`.
void AttentionEmitter::scoreTile(Val firstRow, Address maxOut) {
  int64_t rows = spec.tileRows, width = spec.panelWidth();
  Val lowest = b.lanes(-std::numeric_limits<double>::infinity());
  auto maxima = [&](int64_t r) { return b.at(part(at.maxima), r * kLanes); };
  for (int64_t r = 0; r < rows; ++r)
    b.storeLanes(maxima(r), lowest);
  auto panelScores = [&](Val panel, int64_t vectors, bool diagonal) {
    Val firstKey = b.imul(panel, width);
    Address right = b.at(part(at.keysTransposed), b.imul(panel, spec.sizeWords() * width));
    Vals values =
        chainRows(part(at.queries), spec.rowWords(), right, vectors, b.i64(0), b.i64(spec.sizeWords()), scoreUnroll());
    for (int64_t r = 0; r < rows; ++r) {
      Val highest = b.loadLanes(maxima(r));
      for (int64_t v = 0; v < vectors; ++v) {
        Val score = b.mul(values[size_t(r * vectors + v)], b.lanes(spec.scale));
        if (diagonal) // as many lanes as there are keys up to the row
          score = b.select(lanesUpTo(b.isub(b.iadd(firstRow, r), b.iadd(firstKey, v * kLanes))), score, lowest);
        b.storeLanes(b.at(b.at(part(at.scores), firstKey), r * spec.scoreStride() + v * kLanes), score);
        highest = b.max(score, highest);
      }
      b.storeLanes(maxima(r), highest);
    }
  };
  Val whole = b.idiv(b.iadd(firstRow, 1), width), end = b.iadd(b.idiv(b.iadd(firstRow, rows - 1), width), 1);
  b.forLoop(b.i64(0), whole, b.i64(1), [&](Val panel) { panelScores(panel, spec.tileVectors, false); });
  b.forLoop(whole, end, b.i64(1), [&](Val panel) {
    scoreVectors(b.isub(b.iadd(firstRow, rows - 1), b.imul(panel, width)), spec.tileVectors,
                 [&](int64_t vectors) { panelScores(panel, vectors, true); });
  });
  for (int64_t r = 0; r < rows; ++r)
    b.store(b.at(b.at(maxOut, firstRow), r), b.laneMax(b.loadLanes(maxima(r))));
}

// scores become the weights w; sums and their reciprocals to their places. A few rows at a time: one would wait for its
// chain of sums, and for its end.
void AttentionEmitter::softmaxTile(Val firstRow, const ForwardRows &rows, function_ref<void(Val row)> prefetch) {
  Val keepScale = b.lanes(train::dropoutScale(spec.dropoutProbability));
  Val end = b.iadd(firstRow, spec.tileRows);
  auto together = [&](Val first, int64_t count) {
    Vals maxima, sums(size_t(count), b.lanes(0.0));
    for (int64_t r = 0; r < count; ++r) {
      prefetch(b.iadd(b.iadd(firstRow, first), r));
      maxima.push_back(b.broadcast(b.at(b.at(rows.maxOut, b.iadd(firstRow, first)), r)));
    }
    auto keys = [&](Val j, ValRange words, ValRange carried) { // 16 of them; words: none without dropout
      Vals next;
      for (int64_t r = 0; r < count; ++r) {
        Val row = b.iadd(first, r);
        Address scores = b.at(part(at.scores), b.imul(row, spec.scoreStride()));
        Val term = train::softmaxTerm(policy, b.loadLanes(b.at(scores, j)), maxima[size_t(r)]);
        Val weight = words.empty() ? term : train::applyDropout(policy, kept(words[size_t(r)]), term, keepScale);
        weight = spec.bf16 ? roundToBF16(b, weight) : weight;
        if (spec.pairs)
          storeBF16Lanes(b, b.at(scores, j, 2), weight);
        else
          b.storeLanes(b.at(scores, j), weight);
        next.push_back(b.add(carried[size_t(r)], term));
      }
      return next;
    };
    if (spec.dropout)
      sums = forDrawnKeys(rows.sample, rows.head, b.iadd(firstRow, first), count, b.i64(0), end, sums, keys);
    else
      sums =
          b.forLoop(b.i64(0), end, b.i64(kLanes), sums, [&](Val j, ValRange carried) { return keys(j, {}, carried); });
    for (int64_t r = 0; r < count; ++r) {
      Val rowSum = b.laneSum(sums[size_t(r)]);
      b.store(b.at(b.at(rows.sumOut, b.iadd(firstRow, first)), r), rowSum);
      b.store(b.at(b.at(part(at.stats), first), r), b.div(b.f32(1.0), rowSum));
    }
  };
  int64_t atOnce = spec.dropout && !isWide() ? 1 : 2, whole = spec.tileRows / atOnce * atOnce;
  b.forLoop(0, whole, atOnce, [&](Val first) { together(first, atOnce); });
  if (whole != spec.tileRows)
    together(b.i64(whole), spec.tileRows - whole);
}

static Error emitAttention(KernelBuilder &b, mlir::DictionaryAttr spec, mlir::Region &) {
  AttentionSpec attention(spec);
  AttentionEmitter emitter(b, attention);
  if (attention.backward) {
    emitter.emitBackward();
    return Error::success();
  }
  Expected<std::optional<LaneProgram>> epilogue = readEpilogue(b, spec, 5, {});
  if (!epilogue)
    return epilogue.takeError();
  emitter.emitForward(*epilogue ? &**epilogue : nullptr);
  return Error::success();
}

ArrayRef<NamedEmitRule> attentionFamilies() {
  static const NamedEmitRule rules[] = {{"attention", emitAttention}};
  return rules;
}

} // namespace recipe::codegen
