// Attention forward by AMX: arguments q, k, v, row max, row sum, o. A block of 32 rows at a time.
#include "passes/codegen/AttentionAmx.h"
#include "passes/codegen/Spec.h"

using namespace llvm;

namespace recipe::codegen {

static constexpr int64_t kSide = AttentionAmxShape::kSide, kTerms = AttentionAmxShape::kTerms;

// Rows whose chains of sums or maxima run side by side.
static constexpr int64_t kRowsAtOnce = 4;

AttentionAmxSpec::AttentionAmxSpec(mlir::DictionaryAttr spec)
    : AttentionAmxShape{specInt(spec, "samples"),  specInt(spec, "positions"), specInt(spec, "heads"),
                        specInt(spec, "kv_heads"), specInt(spec, "size"),      specInt(spec, "backward") != 0},
      scale(specFloat(spec, "scale")), dropoutProbability(specFloat(spec, "dropout")) {}

void AttentionAmxEmitter::emitForward(const LaneProgram *epilogue) {
  tiles.configure();
  Val sample = b.idiv(b.workgroup(), spec.heads), head = b.irem(b.workgroup(), spec.heads);
  Val kvHead = b.idiv(head, spec.group());
  Rows q = rowsOf(0, sample, head, spec.heads, true), k = rowsOf(1, sample, kvHead, spec.kvHeads, true),
       v = rowsOf(2, sample, kvHead, spec.kvHeads, true), out = rowsOf(5, sample, head, spec.heads, false);
  Val rowBase = b.imul(b.iadd(b.imul(sample, spec.heads), head), spec.positions);
  for (const Rows &rows : {q, k, v})
    prefetchRows(rows, b.i64(0));
  b.forLoop(0, spec.blocks(), 1, [&](Val block) {
    Val firstRow = b.imul(block, kTerms), next = b.iadd(firstRow, kTerms);
    ForwardRows rows{sample, head, firstRow, block, b.at(b.buffer(3), rowBase), b.at(b.buffer(4), rowBase)};
    Val offset = b.imul(block, spec.halfBytes(1));
    packColumns(k, firstRow, b.at(part(at.keyColumns), offset, 1));
    packPairs(v, firstRow, b.at(part(at.valuePairs), offset, 1));
    packRows(q, firstRow, part(at.queryRows));
    scoreBlock(block);
    rowMaxima(rows);
    softmax(rows, [&](Val r) {
      for (const Rows &each : {q, k, v})
        each.prefetch(b, spec.size, b.iadd(next, r));
    });
    outputs(block);
    Val end = b.imin(b.i64(kTerms), b.isub(b.i64(spec.positions), firstRow));
    b.forLoop(b.i64(0), end, b.i64(1), [&](Val r) {
      Val reciprocal = b.broadcast(b.at(part(at.reciprocals), r)), row = b.iadd(firstRow, r);
      for (int64_t e = 0; e < spec.size; e += kSide) {
        Val mask = spec.size - e >= kSide ? nullptr : b.tailMask(spec.size - e);
        Val value = b.loadLanes(b.at(b.at(part(at.outputs), b.imul(r, spec.paddedSize())), e));
        value = b.mul(value, reciprocal);
        if (!epilogue) {
          b.storeLanes(b.at(out.at(b, row), e), value, mask);
          continue;
        }
        Val channel = b.iadd(b.imul(head, spec.size), e);
        Val token = b.iadd(b.imul(sample, spec.positions), row);
        epilogue->run({value}, {b.iadd(b.imul(token, spec.heads * spec.size), channel), channel, mask});
      }
    });
  });
  tiles.release();
}

// Products of the block's queries with all keys up to its own block, not yet times scale.
void AttentionAmxEmitter::scoreBlock(Val block) {
  int64_t sizeBlocks = spec.sizeBlocks(), stride = spec.scoreStride();
  b.forLoop(b.i64(0), b.iadd(block, 1), b.i64(1), [&](Val keys) {
    tiles.zero();
    Val firstTile = b.imul(keys, 2);
    for (int64_t e = 0; e < sizeBlocks; ++e)
      tiles.addBlock(tileAt(at.queryRows, b.i64(0), sizeBlocks, b.i64(e)),
                     tileAt(at.queryRows, b.i64(1), sizeBlocks, b.i64(e)),
                     tileAt(at.keyColumns, firstTile, sizeBlocks, b.i64(e)),
                     tileAt(at.keyColumns, b.iadd(firstTile, 1), sizeBlocks, b.i64(e)));
    Address out = b.at(part(at.scores), b.imul(keys, kTerms));
    for (int tile = 0; tile < 4; ++tile)
      tiles.store(tile, b.at(out, tile / 2 * kSide * stride + tile % 2 * 64, 1), stride);
  });
}

Val AttentionAmxEmitter::scoreLanes(Val row, Val key) {
  Address place = b.at(b.at(part(at.scores), b.imul(row, spec.scoreStride()), 1), key);
  return b.mul(b.loadLanes(place), b.lanes(spec.scale));
}

// Lanes of keys firstKey.. that a row of the diagonal block sees; `row` counts from the block's first.
static Val seen(KernelBuilder &b, Val row, int64_t firstKey) {
  return b.ir().CreateICmpSLE(b.laneIndex(), b.splat(b.ir().CreateTrunc(b.isub(row, b.i64(firstKey)), b.i32Type())));
}

void AttentionAmxEmitter::rowMaxima(const ForwardRows &rows) {
  Val lowest = b.lanes(-std::numeric_limits<double>::infinity());
  b.forLoop(0, kTerms, kRowsAtOnce, [&](Val first) {
    Vals highest(size_t(kRowsAtOnce), lowest);
    highest = b.forLoop(b.i64(0), rows.firstRow, b.i64(kSide), highest, [&](Val key, ValRange carried) {
      Vals next;
      for (int64_t r = 0; r < kRowsAtOnce; ++r)
        next.push_back(b.max(scoreLanes(b.iadd(first, r), key), carried[size_t(r)]));
      return next;
    });
    for (int64_t r = 0; r < kRowsAtOnce; ++r) {
      Val row = b.iadd(first, r), value = highest[size_t(r)];
      for (int64_t key = 0; key < kTerms; key += kSide) {
        Val score = b.select(seen(b, row, key), scoreLanes(row, b.iadd(rows.firstRow, key)), lowest);
        value = b.max(score, value);
      }
      b.store(b.at(part(at.rowMax), row), b.laneMax(value));
    }
  });
}

Address AttentionAmxEmitter::weightsAt(Val row, Val key) {
  Address tile = tileAt(at.weights, b.idiv(row, kSide), spec.blocks(), b.idiv(key, kTerms));
  return b.at(tile, b.imul(b.irem(row, kSide), 64), 1);
}

// A row of what the next block reads is fetched with each row here: all at once would wait for memory.
void AttentionAmxEmitter::softmax(const ForwardRows &rows, function_ref<void(Val row)> prefetch) {
  bool drops = spec.dropoutProbability != 0;
  Val keepScale = b.lanes(train::dropoutScale(spec.dropoutProbability));
  int64_t atOnce = drops ? 1 : 2;
  b.forLoop(0, kTerms, atOnce, [&](Val first) {
    Vals maxima;
    for (int64_t r = 0; r < atOnce; ++r) {
      prefetch(b.iadd(first, r));
      maxima.push_back(b.broadcast(b.at(part(at.rowMax), b.iadd(first, r))));
    }
    auto keys = [&](Val firstKey, ValRange carried, bool diagonal) {
      Vals sums(carried.begin(), carried.end());
      for (int64_t r = 0; r < atOnce; ++r) {
        Val row = b.iadd(first, r);
        Val weights[2];
        train::Words<EmitPolicy> draw{};
        if (drops)
          draw = drawAttention(b, policy, spec.heads, spec.positions, rows.sample, rows.head,
                               b.iadd(rows.firstRow, row), firstKey, b.laneIndex());
        for (int64_t half = 0; half < 2; ++half) {
          Val key = b.iadd(firstKey, half * kSide);
          Val term = train::softmaxTerm(policy, scoreLanes(row, key), maxima[size_t(r)]);
          if (diagonal)
            term = b.select(seen(b, row, half * kSide), term, b.lanes(0.0));
          sums[size_t(r)] = b.add(sums[size_t(r)], term);
          if (drops)
            term = train::applyDropout(policy, kept(half ? draw.w1 : draw.w0), term, keepScale);
          weights[half] = term;
        }
        b.store(weightsAt(row, firstKey), packBF16(b, weights[0], weights[1]));
      }
      return sums;
    };
    Vals sums = b.forLoop(b.i64(0), rows.firstRow, b.i64(kTerms), Vals(size_t(atOnce), b.lanes(0.0)),
                          [&](Val key, ValRange carried) { return keys(key, carried, false); });
    sums = keys(rows.firstRow, sums, true);
    for (int64_t r = 0; r < atOnce; ++r) {
      Val row = b.iadd(first, r), rowSum = b.laneSum(sums[size_t(r)]);
      b.store(b.at(part(at.reciprocals), row), b.div(b.f32(1.0), rowSum));
      auto keep = [&] {
        Val place = b.iadd(rows.firstRow, row);
        b.store(b.at(rows.sumOut, place), rowSum);
        b.store(b.at(rows.maxOut, place), b.loadF32(b.at(part(at.rowMax), row)));
      };
      if (allRowsExist())
        keep();
      else
        b.ifThen(b.ilt(b.iadd(rows.firstRow, row), b.i64(spec.positions)), keep);
    }
  });
}

void AttentionAmxEmitter::outputs(Val block) {
  int64_t stride = spec.paddedSize() * 4;
  b.forLoop(0, spec.sizeTiles(), 2, [&](Val e) {
    tiles.zero();
    b.forLoop(b.i64(0), b.iadd(block, 1), b.i64(1), [&](Val keys) {
      tiles.addBlock(tileAt(at.weights, b.i64(0), spec.blocks(), keys),
                     tileAt(at.weights, b.i64(1), spec.blocks(), keys),
                     tileAt(at.valuePairs, keys, spec.sizeTiles(), e),
                     tileAt(at.valuePairs, keys, spec.sizeTiles(), b.iadd(e, 1)));
    });
    Address out = b.at(part(at.outputs), b.imul(e, kSide));
    for (int tile = 0; tile < 4; ++tile)
      tiles.store(tile, b.at(out, tile / 2 * kSide * stride + tile % 2 * 64, 1), stride);
  });
}

static Error emitAttentionAmx(KernelBuilder &b, mlir::DictionaryAttr attributes, mlir::Region &) {
  if (!b.getTarget().tilesBF16)
    return createStringError("kernels of family attention_amx need a target with AMX, got " + b.getTarget().cpu);
  AttentionAmxSpec spec(attributes);
  AttentionAmxEmitter emitter(b, spec);
  if (spec.backward) {
    emitter.emitBackward();
    return Error::success();
  }
  Expected<std::optional<LaneProgram>> epilogue = readEpilogue(b, attributes, 5, {});
  if (!epilogue)
    return epilogue.takeError();
  emitter.emitForward(*epilogue ? &**epilogue : nullptr);
  return Error::success();
}

ArrayRef<NamedEmitRule> attentionAmxFamilies() {
  static const NamedEmitRule rules[] = {{"attention_amx", emitAttentionAmx}};
  return rules;
}

} // namespace recipe::codegen
