// Attention backward: arguments dy, q, k, v, o, row max, row sum, dq, dk, dv.
#include "passes/codegen/Attention.h"
#include "passes/codegen/BF16.h"

using namespace llvm;

namespace recipe::codegen {

void AttentionEmitter::emitBackward() {
  Val sample = b.idiv(b.workgroup(), spec.kvHeads), kvHead = b.irem(b.workgroup(), spec.kvHeads);
  int64_t valuePending = at.pending + spec.groupLevels() * spec.sumFloats();
  auto chunk = [&](Val firstKey) {
    b.forLoop(0, spec.group(), 1, [&](Val headInGroup) {
      emitQueryHead(sample, kvHead, headInGroup, firstKey);
      if (spec.group() > 1) {
        mergeGroup(headInGroup, at.keySums, b.lanes(spec.scale), at.pending);
        mergeGroup(headInGroup, at.valueSums, nullptr, valuePending);
      }
    });
    storeSums(resultRows(8, sample, kvHead, spec.kvHeads), firstKey, at.keySums, b.lanes(spec.scale), at.pending);
    storeSums(resultRows(9, sample, kvHead, spec.kvHeads), firstKey, at.valueSums, nullptr, valuePending);
  };
  if (!spec.inChunks())
    return chunk(b.i64(0));
  b.forLoop(0, spec.positions, spec.keyChunk, chunk);
}

// Of one query head what belongs to a chunk of keys: a part of its dq, and its dk and dv in keySums and valueSums (dk
// not yet times scale). Keys and values are packed when the diagonal reaches them, in the group's later heads again.
void AttentionEmitter::emitQueryHead(Val sample, Val kvHead, Val headInGroup, Val firstKey) {
  Val head = b.iadd(b.imul(kvHead, spec.group()), headInGroup);
  BackwardRows rows{sample,
                    head,
                    headInGroup,
                    firstKey,
                    operandRows(0, sample, head, spec.heads),
                    operandRows(1, sample, head, spec.heads),
                    operandRows(2, sample, kvHead, spec.kvHeads),
                    operandRows(3, sample, kvHead, spec.kvHeads),
                    operandRows(4, sample, head, spec.heads),
                    resultRows(7, sample, head, spec.heads)};
  b.forLoop(0, spec.sumFloats(), kLanes, [&](Val i) {
    b.storeLanes(b.at(part(at.keySums), i), b.lanes(0.0));
    b.storeLanes(b.at(part(at.valueSums), i), b.lanes(0.0));
  });
  b.forLoop(0, std::min(spec.block(), spec.positions), 1,
            [&](Val row) { prefetchBackward(rows, b.iadd(firstKey, row)); });
  b.forLoop(firstKey, b.i64(spec.positions), b.i64(spec.block()), {b.i64(0)}, [&](Val firstRow, ValRange packed) {
    Val beyond = b.imin(b.iadd(firstRow, spec.block()), b.i64(spec.positions));
    Val end = inChunk(b.isub(beyond, firstKey));
    Vals panels = b.whileLoop(
        packed, [&](ValRange now) { return b.ilt(b.imul(now[0], spec.panelWidth()), end); },
        [&](ValRange now) {
          packPanel(rows.keys, firstKey, now[0], at.keysTransposed);
          packPanel(rows.values, firstKey, now[0], at.valuesTransposed);
          packRows(rows.keys, firstKey, b.imul(now[0], spec.panelWidth()), spec.panelWidth(), at.rowPanels);
          return Vals{b.iadd(now[0], 1)};
        });
    packRowBlock(rows.queries, firstRow, at.queries);
    packRowBlock(rows.outputGradients, firstRow, at.outputGradients);
    if (spec.pairs) {
      packRowPairs(rows.queries, firstRow, at.queryWords);
      packRowPairs(rows.outputGradients, firstRow, at.outputGradientWords);
    }
    scoreBlock(at.queries, at.keysTransposed, firstRow, firstKey, at.scores, b.lanes(spec.scale));
    scoreBlock(at.outputGradients, at.valuesTransposed, firstRow, firstKey, at.gradients, nullptr);
    if (spec.inChunks())
      b.ifThen(b.ieq(firstKey, b.i64(0)), [&] { rowStatistics(firstRow, rows); });
    else
      rowStatistics(firstRow, rows);
    backwardRows(firstRow, rows);
    sumKeys(firstRow, rows);
    int64_t gradients = spec.pairs ? at.scores + spec.scoreStride() : at.gradients; // storeWeights
    sumQueries(firstRow, firstKey, gradients, at.queryWords, at.keySums);
    sumQueries(firstRow, firstKey, at.scores, at.outputGradientWords, at.valueSums);
    return panels;
  });
}

// What the block of `row` will read and write.
void AttentionEmitter::prefetchBackward(const BackwardRows &rows, Val row) {
  for (const Rows &each : {rows.outputGradients, rows.queries, rows.dq})
    prefetchRow(each, row);
  auto prefetchWhere = [&](Val condition, ArrayRef<Rows> which) {
    auto all = [&] {
      for (const Rows &each : which)
        prefetchRow(each, row);
    };
    spec.inChunks() ? b.ifThen(condition, all) : all();
  };
  prefetchWhere(b.ilt(row, b.iadd(rows.firstKey, spec.keyChunk)), {rows.keys, rows.values});
  prefetchWhere(b.ieq(rows.firstKey, b.i64(0)), {rows.outputs});
}

Address AttentionEmitter::statistic(int64_t which, const BackwardRows &rows, Val rowInBlock, Val row) {
  Val index = spec.inChunks() ? b.iadd(b.imul(rows.headInGroup, spec.positions), row) : rowInBlock;
  return b.at(part(which), index);
}

// delta, and 1 / row sum.
void AttentionEmitter::rowStatistics(Val firstRow, const BackwardRows &rows) {
  Val rowBase = b.imul(b.iadd(b.imul(rows.sample, spec.heads), rows.head), spec.positions);
  forBlockRows(firstRow, 1, [&](Val i, Val row) {
    Val dot = b.lanes(0.0);
    for (int64_t e = 0; e < spec.size; e += kLanes)
      dot = b.fma(loadRow(rows.outputGradients, row, e), loadRow(rows.outputs, row, e), dot);
    b.store(statistic(at.deltas, rows, i, row), b.laneSum(dot));
    Val rowSum = b.loadF32(b.at(b.at(b.buffer(6), rowBase), row));
    b.store(statistic(at.stats, rows, i, row), b.div(b.f32(1.0), rowSum));
  });
}

// scores become the weights w, gradients become ds; as many rows at a time as words have terms.
void AttentionEmitter::backwardRows(Val firstRow, const BackwardRows &rows) {
  Val rowBase = b.imul(b.iadd(b.imul(rows.sample, spec.heads), rows.head), spec.positions);
  Val keepScale = b.lanes(train::dropoutScale(spec.dropoutProbability));
  struct Row {
    Val delta, reciprocal, max, end; // of the keys that it sees
    Address scores, gradients;
  };
  forBlockRows(firstRow, spec.terms(), [&](Val firstInBlock, Val first) {
    SmallVector<Row, 2> each;
    for (int64_t r = 0; r < spec.terms(); ++r) {
      Val i = b.iadd(firstInBlock, r), row = b.iadd(first, r), offset = b.imul(i, spec.scoreStride());
      each.push_back({b.broadcast(statistic(at.deltas, rows, i, row)), b.broadcast(statistic(at.stats, rows, i, row)),
                      b.broadcast(b.at(b.at(b.buffer(5), rowBase), row)),
                      inChunk(b.iadd(b.isub(row, rows.firstKey), 1)), b.at(part(at.scores), offset),
                      b.at(part(at.gradients), offset)});
      prefetchBackward(rows, b.iadd(row, spec.block())); // while exponentials keep the ports busy
    }
    auto keys = [&](Val j, ValRange masks, ValRange words) { // 16 of them; words: none without dropout
      Vals weights, gradients;
      for (auto [r, row] : enumerate(each)) {
        Val probability =
            train::attentionGradProbability(policy, b.loadLanes(b.at(row.scores, j)), row.max, row.reciprocal);
        Val u = b.loadLanes(b.at(row.gradients, j)), weight = probability;
        if (!words.empty()) {
          weight = train::applyDropout(policy, kept(words[r]), probability, keepScale);
          u = train::applyDropout(policy, kept(words[r]), u, keepScale);
        }
        weights.push_back(weight);
        gradients.push_back(train::attentionGradScore(policy, probability, u, row.delta));
      }
      storeWeights(firstInBlock, j, weights, gradients, masks);
    };
    auto masksAt = [&](Val j) {
      Vals masks;
      for (const Row &row : each)
        masks.push_back(b.tailMask(b.isub(row.end, j)));
      return masks;
    };
    if (!spec.dropout) // the first row ends first
      return b.forLanes(b.i64(0), each.front().end,
                        [&](Val j, Val mask) { keys(j, mask ? masksAt(j) : Vals(each.size(), nullptr), {}); });
    forDrawnKeys(rows.sample, rows.head, first, spec.terms(), rows.firstKey, each.back().end, {},
                 [&](Val j, ValRange words, ValRange) {
                   keys(j, masksAt(j), words);
                   return Vals();
                 });
  });
}

// w and ds of keys `key` on, where scores and gradients were. Of pairs, whose rows are two, the words of w for dv lie
// in the first row of scores, those of ds for dk in the second, and ds for dq in the rows of gradients.
void AttentionEmitter::storeWeights(Val rowInBlock, Val key, ValRange weights, ValRange gradients, ValRange masks) {
  Val offset = b.imul(rowInBlock, spec.scoreStride());
  Address scoreRow = b.at(part(at.scores), offset), gradientRow = b.at(part(at.gradients), offset);
  if (!spec.pairs) {
    b.storeLanes(b.at(scoreRow, key), productWeight(weights[0], masks[0]));
    return b.storeLanes(b.at(gradientRow, key), productWeight(gradients[0], masks[0]));
  }
  auto rounded = [&](ValRange lanes) {
    auto masked = [&](size_t r) { return masks[r] ? b.select(masks[r], lanes[r], b.lanes(0.0)) : lanes[r]; };
    return roundPairs(b, masked(0), masked(1));
  };
  auto [evenWeight, oddWeight] = rounded(weights);
  auto [even, odd] = rounded(gradients);
  b.storeLanes(b.at(scoreRow, key), pairWords(b, evenWeight, oddWeight));
  b.storeLanes(b.at(b.at(scoreRow, spec.scoreStride()), key), pairWords(b, even, odd));
  b.storeLanes(b.at(gradientRow, key, 2), even);
  b.storeLanes(b.at(b.at(gradientRow, spec.scoreStride()), key, 2), odd);
}

// dq of the block's rows: chains over the chunk's keys, which continue those of the chunks before. In the chunk with
// the diagonal they end, and are multiplied by scale.
void AttentionEmitter::sumKeys(Val firstRow, const BackwardRows &rows) {
  int64_t vectors = spec.tileVectors;
  b.forLoop(0, spec.block(), spec.tileRows, [&](Val rowInBlock) {
    Val tileRow = b.iadd(firstRow, rowInBlock), rowInChunk = b.isub(tileRow, rows.firstKey);
    auto place = [&](int64_t r, Val column) { return b.at(rows.dq.at(b, b.iadd(tileRow, r)), column); };
    auto ifExists = [&](int64_t r, function_ref<void()> body) {
      b.ifThen(b.ilt(b.iadd(tileRow, r), b.i64(spec.positions)), body);
    };
    b.ifThen(b.ilt(tileRow, b.i64(spec.positions)), [&] {
      b.forLoop(0, spec.sizePanels(), 1, [&](Val panel) {
        KeyChain chain =
            keyChain(b.at(part(at.gradients), b.imul(rowInBlock, spec.scoreStride())), at.rowPanels, panel);
        auto store = [&](const Vals &values, Val factor) {
          forTileVectors(panel, [&](int64_t r, int64_t v, Val column, Val mask) {
            Val value = values[size_t(r * vectors + v)];
            ifExists(r, [&] { b.storeLanes(place(r, column), factor ? b.mul(value, factor) : value, mask); });
          });
        };
        auto diagonal = [&](Vals begun) { store(chain.upToDiagonal(rowInChunk, begun), b.lanes(spec.scale)); };
        if (!spec.inChunks())
          return diagonal({});
        Vals zeros(size_t(spec.tileRows * vectors), b.lanes(0.0));
        Vals begun = b.ifElse(
            b.ieq(rows.firstKey, b.i64(0)), [&] { return zeros; },
            [&] {
              Vals values = zeros;
              forTileVectors(panel, [&](int64_t r, int64_t v, Val column, Val mask) {
                Val row = b.imin(b.iadd(tileRow, r), b.i64(spec.positions - 1));
                values[size_t(r * vectors + v)] = b.loadLanes(b.at(rows.dq.at(b, row), column), mask);
              });
              return values;
            });
        b.ifElse(
            b.ilt(rowInChunk, b.i64(spec.keyChunk)),
            [&] {
              diagonal(begun);
              return Vals();
            },
            [&] {
              store(chain.upTo(b.i64(spec.keyChunk), begun), nullptr);
              return Vals();
            });
      });
    });
  });
}

// A weight as products take it. Of bf16, a masked one counts where the diagonal cuts a pair.
Val AttentionEmitter::productWeight(Val lanes, Val mask) {
  if (!spec.bf16)
    return lanes;
  Val rounded = roundToBF16(b, lanes);
  return mask ? b.select(mask, rounded, b.lanes(0.0)) : rounded;
}

// sums[j][e] continues with left[i][j] * right[i][e] for the block's rows i >= j, ascending, in words.
void AttentionEmitter::sumQueries(Val firstRowOfAll, Val chunk, int64_t left, int64_t right, int64_t sums) {
  int64_t rows = spec.tileRows, vectors = spec.tileVectors;
  Val end = b.imin(b.isub(b.i64(spec.positions), firstRowOfAll), b.i64(spec.block())); // rows of the block that exist
  Val firstRow = b.isub(firstRowOfAll, chunk);                                         // in the chunk, as keys are
  b.forLoop(b.i64(0), inChunk(b.iadd(firstRow, end)), b.i64(rows), [&](Val firstKey) {
    // The first row of the block (of bf16: pair of rows) that every key of the tile sees. On the diagonal those before
    // it come one by one, for each key that sees them.
    int64_t count = spec.together();
    Val together = b.imin(b.imax(b.iadd(b.isub(firstKey, firstRow), rows - count), b.i64(0)), end);
    Address weights = b.at(part(left), firstKey);
    Address tile = b.at(part(sums), b.imul(firstKey, spec.paddedSize()));
    b.ifThen(b.ir().CreateICmpSGE(firstKey, firstRow), [&] {
      Val diagonal = b.isub(firstKey, firstRow);
      b.forLoop(diagonal, together, b.i64(count), [&](Val first) {
        b.forLoop(b.i64(0), b.iadd(b.isub(first, diagonal), count), b.i64(1), [&](Val key) {
          for (int64_t e = 0; e < spec.paddedSize(); e += kLanes) {
            Address place = b.at(b.at(tile, b.imul(key, spec.paddedSize())), e);
            Val sum = b.loadLanes(place);
            for (int64_t word = spec.wordsTogether(); word-- > 0;) {
              Val i = b.iadd(toWords(first), word);
              Val x = b.broadcast(b.at(b.at(weights, b.imul(i, spec.scoreStride() * spec.terms())), key));
              Val terms = b.loadLanes(b.at(b.at(part(right), b.imul(i, spec.paddedSize())), e));
              sum = multiplyAdd(x, terms, sum);
            }
            b.storeLanes(place, sum);
          }
        });
      });
    });
    b.forLoop(0, spec.paddedSize(), spec.panelWidth(), [&](Val column) {
      auto each = [&](function_ref<void(int64_t index, Address place)> body) {
        for (int64_t r = 0; r < rows; ++r)
          for (int64_t v = 0; v < vectors; ++v)
            body(r * vectors + v, b.at(b.at(tile, column), r * spec.paddedSize() + v * kLanes));
      };
      Vals values(size_t(rows * vectors), nullptr);
      each([&](int64_t index, Address place) { values[size_t(index)] = b.loadLanes(place); });
      values = chainColumns(weights, b.at(part(right), column), toWords(together), toWords(end), values);
      each([&](int64_t index, Address place) { b.storeLanes(place, values[size_t(index)]); });
    });
  });
}

Address AttentionEmitter::pendingSums(int64_t pending, Val level) {
  return b.at(part(pending), b.imul(level, spec.sumFloats()));
}

// Binary counter over the heads of the group: the balanced tree of adjacent pairs of sums * factor (null: 1).
void AttentionEmitter::mergeGroup(Val headInGroup, int64_t sums, Val factor, int64_t pending) {
  b.forLoop(0, spec.sumFloats(), kLanes, [&](Val i) {
    Val value = b.loadLanes(b.at(part(sums), i));
    Vals merged = b.whileLoop(
        {b.i64(0), factor ? b.mul(value, factor) : value},
        [&](ValRange now) {
          return b.ieq(b.ir().CreateAnd(b.ir().CreateLShr(headInGroup, now[0]), uint64_t(1)), b.i64(1));
        },
        [&](ValRange now) {
          return Vals{b.iadd(now[0], 1), b.add(b.loadLanes(b.at(pendingSums(pending, now[0]), i)), now[1])};
        });
    b.storeLanes(b.at(pendingSums(pending, merged[0]), i), merged[1]);
  });
}

// The finished tree of the group, without padding. What an odd group leaves pending is joined from the lowest level up;
// of a single head it is sums * factor.
void AttentionEmitter::storeSums(Rows to, Val firstKey, int64_t sums, Val factor, int64_t pending) {
  b.forLoop(b.i64(0), inChunk(b.isub(b.i64(spec.positions), firstKey)), b.i64(1), [&](Val row) {
    for (int64_t e = 0; e < spec.size; e += kLanes) {
      Val offset = b.iadd(b.imul(row, spec.paddedSize()), e);
      Val value = nullptr;
      if (spec.group() == 1) {
        value = b.loadLanes(b.at(part(sums), offset));
        value = factor ? b.mul(value, factor) : value;
      }
      for (int64_t level = 0; spec.group() > 1 && level < spec.groupLevels(); ++level) {
        if (!((spec.group() >> level) & 1))
          continue;
        Val left = b.loadLanes(b.at(pendingSums(pending, b.i64(level)), offset));
        value = value ? b.add(left, value) : left;
      }
      Val mask = spec.size - e >= kLanes ? nullptr : b.tailMask(spec.size - e);
      b.storeLanes(b.at(to.at(b, b.iadd(firstKey, row)), e), value, mask);
    }
  });
}

} // namespace recipe::codegen
