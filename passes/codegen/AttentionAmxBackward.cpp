// Attention backward by AMX: arguments dy, q, k, v, o, row max, row sum, dq, dk, dv.
//
// Scores are made transposed, keys down and queries across: then they are the left operands for dv and dk as they are,
// and pairs of their rows the right operand for dq, which comes out transposed, too.
#include "passes/codegen/AttentionAmx.h"
#include "passes/codegen/BF16.h"
#include "passes/codegen/Transpose.h"

using namespace llvm;

namespace recipe::codegen {

static constexpr int64_t kSide = AttentionAmxShape::kSide, kTerms = AttentionAmxShape::kTerms,
                         kTileBytes = AttentionAmxShape::kTileBytes;

void AttentionAmxEmitter::emitBackward() {
  tiles.configure();
  Val sample = b.idiv(b.workgroup(), spec.kvHeads), kvHead = b.irem(b.workgroup(), spec.kvHeads);
  b.forLoop(0, spec.group(), 1, [&](Val headInGroup) { emitQueryHead(sample, kvHead, headInGroup); });
  if (spec.group() > 1) {
    storeMerged(rowsOf(8, sample, kvHead, spec.kvHeads, false), at.pending);
    storeMerged(rowsOf(9, sample, kvHead, spec.kvHeads, false),
                at.pending + spec.groupLevels() * spec.sumBytes(spec.blocks()));
  }
  tiles.release();
}

void AttentionAmxEmitter::emitQueryHead(Val sample, Val kvHead, Val headInGroup) {
  Val head = b.iadd(b.imul(kvHead, spec.group()), headInGroup);
  BackwardRows rows{
      rowsOf(0, sample, head, spec.heads, true),     rowsOf(1, sample, head, spec.heads, true),
      rowsOf(2, sample, kvHead, spec.kvHeads, true), rowsOf(3, sample, kvHead, spec.kvHeads, true),
      rowsOf(4, sample, head, spec.heads, true),     b.imul(b.iadd(b.imul(sample, spec.heads), head), spec.positions)};
  packHead(rows);
  rowStatistics(rows);
  b.forLoop(0, spec.sumBytes(spec.blocks()) / 4, kSide,
            [&](Val i) { b.storeLanes(b.at(part(at.dq), i), b.lanes(0.0)); });
  Val blocks = b.i64(spec.blocks());
  b.forLoop(b.i64(0), blocks, b.i64(spec.chunk()), [&](Val firstKey) {
    Val endKey = b.imin(b.iadd(firstKey, spec.chunk()), blocks);
    packChunk(rows, firstKey, endKey);
    b.forLoop(firstKey, blocks, b.i64(spec.chunk()),
              [&](Val firstQuery) { chunkPair(sample, head, firstKey, endKey, firstQuery); });
    int64_t levelsBytes = spec.groupLevels() * spec.sumBytes(spec.blocks());
    finishKeys(headInGroup, firstKey, endKey, rowsOf(8, sample, kvHead, spec.kvHeads, false), at.keySums, true,
               at.pending);
    finishKeys(headInGroup, firstKey, endKey, rowsOf(9, sample, kvHead, spec.kvHeads, false), at.valueSums, false,
               at.pending + levelsBytes);
  });
  storeQueryGradients(rowsOf(7, sample, head, spec.heads, false));
}

// Queries and dy in both forms.
void AttentionAmxEmitter::packHead(const BackwardRows &rows) {
  b.forLoop(0, spec.blocks(), 1, [&](Val block) {
    Val firstRow = b.imul(block, kTerms), offset = b.imul(block, spec.halfBytes(1));
    for (const Rows &each : {rows.gradients, rows.queries, rows.outputs})
      prefetchRows(each, b.iadd(firstRow, kTerms));
    packColumns(rows.queries, firstRow, b.at(part(at.queryColumns), offset, 1));
    packColumns(rows.gradients, firstRow, b.at(part(at.gradientColumns), offset, 1));
    packPairs(rows.queries, firstRow, b.at(part(at.queryPairs), offset, 1));
    packPairs(rows.gradients, firstRow, b.at(part(at.gradientPairs), offset, 1));
  });
}

// 1 / l, m and delta of each row, zeros for those beyond T, whose probabilities are zero then.
void AttentionAmxEmitter::rowStatistics(const BackwardRows &rows) {
  b.forLoop(0, spec.positions, 1, [&](Val row) {
    Val dot = b.lanes(0.0);
    for (int64_t e = 0; e < spec.size; e += kSide) {
      Val mask = spec.size - e >= kSide ? nullptr : b.tailMask(spec.size - e);
      dot = b.fma(loadBF16Lanes(b, b.at(rows.gradients.at(b, row), e, 2), mask),
                  loadBF16Lanes(b, b.at(rows.outputs.at(b, row), e, 2), mask), dot);
    }
    b.store(b.at(part(at.deltas), row), b.laneSum(dot));
    b.store(b.at(part(at.rowMax), row), b.loadF32(b.at(b.at(b.buffer(5), rows.rowBase), row)));
    b.store(b.at(part(at.reciprocals), row), b.div(b.f32(1.0), b.loadF32(b.at(b.at(b.buffer(6), rows.rowBase), row))));
  });
  b.forLoop(spec.positions, spec.paddedPositions(), 1, [&](Val row) {
    for (int64_t offset : {at.deltas, at.rowMax, at.reciprocals})
      b.store(b.at(part(offset), row), b.f32(0.0));
  });
}

void AttentionAmxEmitter::packChunk(const BackwardRows &rows, Val firstKey, Val endKey) {
  b.forLoop(firstKey, endKey, b.i64(1), [&](Val block) {
    Val firstRow = b.imul(block, kTerms), inChunk = b.isub(block, firstKey);
    Val offset = b.imul(inChunk, spec.halfBytes(1));
    for (const Rows &each : {rows.keys, rows.values})
      prefetchRows(each, b.iadd(firstRow, kTerms));
    packRows(rows.keys, firstRow, b.at(part(at.keyRows), offset, 1));
    packRows(rows.values, firstRow, b.at(part(at.valueRows), offset, 1));
    packPairs(rows.keys, firstRow, part(at.pairStage));
    packChannels(part(at.pairStage), b.at(part(at.keyChannels), b.imul(inChunk, kTileBytes), 1), spec.chunk());
  });
  b.forLoop(0, spec.sumBytes(spec.chunk()) / 4, kSide, [&](Val i) {
    b.storeLanes(b.at(part(at.keySums), i), b.lanes(0.0));
    b.storeLanes(b.at(part(at.valueSums), i), b.lanes(0.0));
  });
}

// All that a chunk of keys and a chunk of queries have together.
void AttentionAmxEmitter::chunkPair(Val sample, Val head, Val firstKey, Val endKey, Val firstQuery) {
  Val endQuery = b.imin(b.iadd(firstQuery, spec.chunk()), b.i64(spec.blocks()));
  b.forLoop(firstQuery, endQuery, b.i64(1), [&](Val query) {
    Val queryInChunk = b.isub(query, firstQuery);
    auto pair = [&](Val key, bool diagonal) {
      Val keyInChunk = b.isub(key, firstKey);
      scoresOf(keyInChunk, query);
      weightsOf(sample, head, key, keyInChunk, query, queryInChunk, diagonal);
    };
    b.forLoop(firstKey, b.imin(endKey, query), b.i64(1), [&](Val key) { pair(key, false); });
    b.ifThen(b.ilt(query, endKey), [&] { pair(query, true); });
    sumKeys(query, b.isub(b.imin(endKey, b.iadd(query, 1)), firstKey));
  });
  b.forLoop(firstKey, endKey, b.i64(1), [&](Val key) {
    Val first = b.isub(b.imax(firstQuery, key), firstQuery), end = b.isub(endQuery, firstQuery);
    Val keyInChunk = b.isub(key, firstKey);
    sumQueries(keyInChunk, firstQuery, first, end, at.scoreRows, at.queryPairs, at.keySums);
    sumQueries(keyInChunk, firstQuery, first, end, at.weights, at.gradientPairs, at.valueSums);
  });
}

// k q and v dy of 32 keys and 32 queries, to the stages.
void AttentionAmxEmitter::scoresOf(Val keyInChunk, Val query) {
  int64_t sizeBlocks = spec.sizeBlocks();
  Val keyTile = b.imul(keyInChunk, 2), queryTile = b.imul(query, 2);
  auto product = [&](int64_t left, int64_t right, int64_t stage) {
    tiles.zero();
    for (int64_t e = 0; e < sizeBlocks; ++e)
      tiles.addBlock(
          tileAt(left, keyTile, sizeBlocks, b.i64(e)), tileAt(left, b.iadd(keyTile, 1), sizeBlocks, b.i64(e)),
          tileAt(right, queryTile, sizeBlocks, b.i64(e)), tileAt(right, b.iadd(queryTile, 1), sizeBlocks, b.i64(e)));
    for (int tile = 0; tile < 4; ++tile)
      tiles.store(tile, b.at(part(stage), tile * kTileBytes, 1));
  };
  product(at.keyRows, at.queryColumns, at.scoreStage);
  product(at.valueRows, at.gradientColumns, at.gradientStage);
}

// From the stages w and ds, in bf16: as rows of keys, and ds as pairs of keys. Those have the queries in the order in
// which they are interleaved within quarters: storeQueryGradients knows.
void AttentionAmxEmitter::weightsOf(Val sample, Val head, Val key, Val keyInChunk, Val query, Val queryInChunk,
                                    bool diagonal) {
  bool drops = spec.dropoutProbability != 0;
  Val keepScale = b.lanes(train::dropoutScale(spec.dropoutProbability)), zero = b.lanes(0.0);
  Val firstQuery = b.imul(query, kTerms);
  Val rowMax[2], reciprocal[2], delta[2];
  for (int64_t half = 0; half < 2; ++half) {
    auto lanes = [&](int64_t offset) { return b.loadLanes(b.at(b.at(part(offset), firstQuery), half * kSide)); };
    rowMax[half] = lanes(at.rowMax), reciprocal[half] = lanes(at.reciprocals), delta[half] = lanes(at.deltas);
  }
  auto *words = b.lanesOf(b.i32Type());
  SmallVector<int> interleaved[2];
  for (int half = 0; half < 2; ++half)
    for (int quarter = 0; quarter < 4; ++quarter)
      for (int i = 0; i < 4; ++i)
        for (int row = 0; row < 2; ++row)
          interleaved[half].push_back(32 * row + 8 * quarter + 4 * half + i);
  // word(row, half): of key pair + row, for queries half * 16..; not called without dropout.
  auto keyPair = [&](Val pair, function_ref<Val(int64_t row, int64_t half)> word) {
    Val packed[2];
    for (int64_t row = 0; row < 2; ++row) {
      Val keyRow = b.iadd(pair, row);
      // The tile of 16 keys, and the row in it.
      Val tile = b.idiv(keyRow, kSide), inTile = b.imul(b.irem(keyRow, kSide), 64);
      Val w[2], ds[2];
      for (int64_t half = 0; half < 2; ++half) {
        auto staged = [&](int64_t stage) {
          return b.loadLanes(
              b.at(b.at(part(stage), b.iadd(b.imul(tile, 2 * kTileBytes), inTile), 1), half * kTileBytes, 1));
        };
        Val score = b.mul(staged(at.scoreStage), b.lanes(spec.scale)), u = staged(at.gradientStage);
        Val probability = train::attentionGradProbability(policy, score, rowMax[half], reciprocal[half]);
        Val weight = probability;
        if (drops) {
          Val keeps = kept(word(row, half));
          weight = train::applyDropout(policy, keeps, probability, keepScale);
          u = train::applyDropout(policy, keeps, u, keepScale);
        }
        Val gradient = train::attentionGradScore(policy, probability, u, delta[half]);
        if (diagonal) {
          Val first = b.ir().CreateTrunc(b.isub(keyRow, b.i64(half * kSide)), b.i32Type());
          Val seen = b.ir().CreateICmpSGE(b.laneIndex(), b.splat(first));
          weight = b.select(seen, weight, zero), gradient = b.select(seen, gradient, zero);
        }
        w[half] = weight, ds[half] = gradient;
      }
      Val row2 = b.iadd(b.imul(keyInChunk, 2), tile);
      packed[row] = packBF16(b, ds[0], ds[1]);
      b.store(b.at(tileAt(at.weights, row2, spec.chunk(), queryInChunk), inTile, 1), packBF16(b, w[0], w[1]));
      b.store(b.at(tileAt(at.scoreRows, row2, spec.chunk(), queryInChunk), inTile, 1), packed[row]);
    }
    for (int64_t half = 0; half < 2; ++half) {
      Val both = b.ir().CreateBitCast(b.ir().CreateShuffleVector(packed[0], packed[1], interleaved[half]), words);
      b.store(b.at(tileAt(at.scorePairs, keyInChunk, 2, b.i64(half)), b.imul(pair, 32), 1), both);
    }
  };
  if (!drops)
    return b.forLoop(0, kTerms, 2, [&](Val pair) { keyPair(pair, nullptr); });
  // Keys at the same place of the two tiles share their draws.
  b.forLoop(0, kSide, 2, [&](Val pair) {
    train::Words<EmitPolicy> draws[2][2];
    for (int64_t row = 0; row < 2; ++row)
      for (int64_t half = 0; half < 2; ++half)
        draws[row][half] =
            drawKey(sample, head, b.iadd(firstQuery, half * kSide), b.iadd(b.imul(key, kTerms), b.iadd(pair, row)));
    keyPair(pair, [&](int64_t row, int64_t half) { return draws[row][half].w0; });
    keyPair(b.iadd(pair, kSide), [&](int64_t row, int64_t half) { return draws[row][half].w1; });
  });
}

// sums of 32 keys += left [keys][queries] right [queries][channels] for the chunk's blocks of queries first..end.
void AttentionAmxEmitter::sumQueries(Val keyInChunk, Val firstQuery, Val first, Val end, int64_t left, int64_t right,
                                     int64_t sums) {
  Val keyTile = b.imul(keyInChunk, 2);
  b.forLoop(0, spec.sizeTiles(), 2, [&](Val e) {
    auto forValues = [&](function_ref<void(int tile, Address place)> body) {
      for (int tile = 0; tile < 4; ++tile)
        body(tile, tileAt(sums, b.iadd(keyTile, tile / 2), spec.sizeTiles(), b.iadd(e, tile % 2)));
    };
    forValues([&](int tile, Address place) { tiles.load(tile, place); });
    b.forLoop(first, end, b.i64(1), [&](Val query) {
      Val block = b.iadd(firstQuery, query);
      tiles.addBlock(tileAt(left, keyTile, spec.chunk(), query), tileAt(left, b.iadd(keyTile, 1), spec.chunk(), query),
                     tileAt(right, block, spec.sizeTiles(), e), tileAt(right, block, spec.sizeTiles(), b.iadd(e, 1)));
    });
    forValues([&](int tile, Address place) { tiles.store(tile, place); });
  });
}

// dq of 32 queries, transposed, += keys [channels][keys] ds [keys][queries] for the chunk's first blocks of keys.
void AttentionAmxEmitter::sumKeys(Val query, Val keys) {
  b.forLoop(0, spec.sizeTiles(), 2, [&](Val e) {
    auto forValues = [&](function_ref<void(int tile, Address place)> body) {
      for (int tile = 0; tile < 4; ++tile)
        body(tile, tileAt(at.dq, b.iadd(b.imul(query, spec.sizeTiles()), b.iadd(e, tile / 2)), 2, b.i64(tile % 2)));
    };
    forValues([&](int tile, Address place) { tiles.load(tile, place); });
    b.forLoop(b.i64(0), keys, b.i64(1), [&](Val key) {
      tiles.addBlock(tileAt(at.keyChannels, e, spec.chunk(), key),
                     tileAt(at.keyChannels, b.iadd(e, 1), spec.chunk(), key), tileAt(at.scorePairs, key, 2, b.i64(0)),
                     tileAt(at.scorePairs, key, 2, b.i64(1)));
    });
    forValues([&](int tile, Address place) { tiles.store(tile, place); });
  });
}

void AttentionAmxEmitter::storeRow(Rows to, Val row, Val column, Val value) {
  auto store = [&] {
    Val mask = spec.size % kSide == 0 && spec.sizeTiles() * kSide == spec.size
                   ? nullptr
                   : b.tailMask(b.imax(b.isub(b.i64(spec.size), column), b.i64(0)));
    b.storeLanes(b.at(to.at(b, row), column), value, mask);
  };
  if (allRowsExist())
    return store();
  b.ifThen(b.ilt(row, b.i64(spec.positions)), store);
}

void AttentionAmxEmitter::storeQueryGradients(Rows to) {
  b.forLoop(0, spec.blocks() * spec.sizeTiles(), 1, [&](Val number) {
    Val block = b.idiv(number, spec.sizeTiles()), e = b.irem(number, spec.sizeTiles());
    for (int64_t half = 0; half < 2; ++half) {
      Address tile = tileAt(at.dq, number, 2, b.i64(half));
      SmallVector<Val> rows;
      for (int64_t r = 0; r < kSide; ++r)
        rows.push_back(b.loadLanes(b.at(tile, r * kSide)));
      transpose16x16(b, rows);
      for (int64_t r = 0; r < kSide; ++r) {
        int64_t query = r / 4 * 8 + half * 4 + r % 4;
        storeRow(to, b.iadd(b.imul(block, kTerms), query), b.imul(e, kSide),
                 b.mul(rows[size_t(r)], b.lanes(spec.scale)));
      }
    }
  });
}

// The sums of a chunk's keys are complete for this query head: stored, or a leaf of the balanced tree over the group,
// a binary counter.
void AttentionAmxEmitter::finishKeys(Val headInGroup, Val firstKey, Val endKey, Rows to, int64_t sums, bool scaled,
                                     int64_t pending) {
  Val count = b.imul(b.isub(endKey, firstKey), kTerms);
  b.forLoop(b.i64(0), count, b.i64(1), [&](Val key) {
    b.forLoop(0, spec.sizeTiles(), 1, [&](Val e) {
      Address tile = tileAt(sums, b.idiv(key, kSide), spec.sizeTiles(), e);
      Val value = b.loadLanes(b.at(tile, b.imul(b.irem(key, kSide), 64), 1));
      value = scaled ? b.mul(value, b.lanes(spec.scale)) : value;
      Val row = b.iadd(b.imul(firstKey, kTerms), key);
      if (spec.group() == 1)
        return storeRow(to, row, b.imul(e, kSide), value);
      Address place = b.at(part(pending), b.iadd(b.imul(row, spec.paddedSize()), b.imul(e, kSide)));
      auto level = [&](Val number) { return b.at(place, b.imul(number, spec.sumBytes(spec.blocks())), 1); };
      Vals merged = b.whileLoop(
          {b.i64(0), value},
          [&](ValRange now) {
            return b.ieq(b.ir().CreateAnd(b.ir().CreateLShr(headInGroup, now[0]), uint64_t(1)), b.i64(1));
          },
          [&](ValRange now) { return Vals{b.iadd(now[0], 1), b.add(b.loadLanes(level(now[0])), now[1])}; });
      b.storeLanes(level(merged[0]), merged[1]);
    });
  });
}

// What an odd group leaves pending is joined from the lowest level up.
void AttentionAmxEmitter::storeMerged(Rows to, int64_t pending) {
  b.forLoop(0, spec.positions, 1, [&](Val row) {
    b.forLoop(0, spec.sizeTiles(), 1, [&](Val e) {
      Address place = b.at(part(pending), b.iadd(b.imul(row, spec.paddedSize()), b.imul(e, kSide)));
      Val value = nullptr;
      for (int64_t level = 0; level < spec.groupLevels(); ++level) {
        if (!((spec.group() >> level) & 1))
          continue;
        Val left = b.loadLanes(b.at(place, level * spec.sumBytes(spec.blocks()), 1));
        value = value ? b.add(left, value) : left;
      }
      storeRow(to, row, b.imul(e, kSide), value);
    });
  });
}

// The draws of `key`, bit 4 clear, and key + 16 in the rows firstRow...
train::Words<EmitPolicy> AttentionAmxEmitter::drawKey(Val sample, Val head, Val firstRow, Val key) {
  Val lanes = b.ir().CreateMul(
      b.laneIndex(), ConstantInt::get(b.lanesOf(b.i32Type()), uint64_t(train::attentionDrawStride(spec.positions))));
  return drawAttention(b, policy, spec.heads, spec.positions, sample, head, firstRow, key, lanes);
}

Val AttentionAmxEmitter::kept(Val word) {
  return train::wordKeeps(policy, word, policy.constantInt(train::dropoutThreshold(spec.dropoutProbability)));
}

} // namespace recipe::codegen
