// Packing and register tiles of the attention kernels.
#include "passes/codegen/Attention.h"
#include "passes/codegen/BF16.h"
#include "passes/codegen/Spec.h"
#include "passes/codegen/Transpose.h"
#include <numeric>

using namespace llvm;

namespace recipe::codegen {

// How far ahead of the chains the rows of a panel are fetched from L2.
static constexpr int64_t kRowsAhead = 8;

AttentionSpec::AttentionSpec(mlir::DictionaryAttr spec)
    : AttentionShape{specInt(spec, "samples"),       specInt(spec, "positions"),  specInt(spec, "heads"),
                     specInt(spec, "kv_heads"),      specInt(spec, "size"),       specFloat(spec, "dropout") != 0,
                     specInt(spec, "backward") != 0, specInt(spec, "pairs") != 0, specInt(spec, "tile_rows"),
                     specInt(spec, "tile_vectors"),  specInt(spec, "key_chunk")},
      scale(specFloat(spec, "scale")), dropoutProbability(specFloat(spec, "dropout")),
      bf16(specInt(spec, "bf16") != 0) {}

AttentionRows AttentionRows::of(KernelBuilder &b, int64_t positions, int64_t size, unsigned buffer, Val sample,
                                Val head, int64_t heads, bool bf16) {
  int64_t stride = heads * size, bytes = bf16 ? 2 : 4;
  Val offset = b.iadd(b.imul(sample, positions * stride), b.imul(head, size));
  return {b.at(b.buffer(buffer), offset, bytes), stride, bytes};
}

// The rows of one head lie apart in memory, where the processor does not foresee them.
void AttentionRows::prefetch(KernelBuilder &b, int64_t size, Val row) const {
  for (int64_t e = 0; e < size; e += 64 / bytes)
    b.prefetch(b.at(at(b, row), e, bytes));
}

// Null: 16 of `size` exist from e on.
static Val maskFrom(KernelBuilder &b, int64_t size, int64_t e) {
  return size - e >= kLanes ? nullptr : b.tailMask(std::max<int64_t>(size - e, 0));
}

Val AttentionEmitter::loadRow(Rows from, Val row, int64_t e) {
  Val mask = maskFrom(b, spec.size, e);
  Address place = b.at(from.at(b, row), e, from.bytes);
  return from.bytes == 2 ? loadBF16Lanes(b, place, mask) : b.loadLanes(place, mask);
}

Val AttentionEmitter::loadWords(Rows from, Val row, int64_t word) {
  if (!spec.pairs)
    return loadRow(from, row, word);
  return b.loadLanes(b.at(from.words(spec).at(b, row), word), maskFrom(b, spec.sizeWords(), word));
}

void AttentionEmitter::packPanel(Rows from, Val base, Val panel, int64_t to) {
  int64_t width = spec.panelWidth(), words = spec.sizeWords(), eight = 8;
  from = from.words(spec);
  bool widens = from.bytes == 2;
  auto *rowType = FixedVectorType::get(widens ? b.ir().getInt16Ty() : b.f32Type(), unsigned(eight));
  Val firstKey = b.iadd(base, b.imul(panel, width));
  Address out = b.at(part(to), b.imul(panel, words * width));
  auto blockAt = [&](Val column, Val e, bool wholeKeys, bool wholeE) {
    SmallVector<Val> rows;
    SmallVector<Constant *> on;
    for (int64_t lane = 0; lane < eight; ++lane)
      on.push_back(b.ir().getInt1(wholeE || lane < words % eight));
    for (int64_t i = 0; i < eight; ++i) {
      Val key = b.iadd(b.iadd(firstKey, column), i);
      Val inside = b.ilt(key, b.i64(spec.positions));
      Address row = b.at(from.at(b, wholeKeys ? key : b.imin(key, b.i64(spec.positions - 1))), e, from.bytes);
      Val value = wholeE ? b.load(row, rowType, unsigned(from.bytes))
                         : b.ir().CreateMaskedLoad(rowType, row.pointer, Align(unsigned(from.bytes)),
                                                   ConstantVector::get(on), Constant::getNullValue(rowType));
      value = wholeKeys ? value : b.select(inside, value, Constant::getNullValue(rowType));
      rows.push_back(widens ? widenBF16(b, value) : value);
    }
    transpose8x8(b, rows);
    for (int64_t i = 0; i < (wholeE ? eight : words % eight); ++i)
      b.store(b.at(b.at(out, column), b.imul(b.iadd(e, i), width)), rows[size_t(i)]);
  };
  auto keys = [&](bool whole) {
    b.forLoop(0, width, eight, [&](Val column) {
      int64_t wholeE = words / eight * eight;
      b.forLoop(b.i64(0), b.i64(wholeE), b.i64(eight), [&](Val e) { blockAt(column, e, whole, true); });
      if (wholeE != words)
        blockAt(column, b.i64(wholeE), whole, false);
    });
  };
  if (spec.positions % width == 0)
    return keys(true);
  b.ifElse(
      b.ilt(b.iadd(firstKey, width - 1), b.i64(spec.positions)), [&] { return keys(true), Vals(); },
      [&] { return keys(false), Vals(); });
}

void AttentionEmitter::packRows(Rows from, Val base, Val firstKey, int64_t count, int64_t to) {
  int64_t width = spec.panelWidth();
  Val end = b.imin(b.iadd(firstKey, count), b.isub(b.i64(spec.positions), base));
  b.forLoop(firstKey, end, b.i64(spec.terms()), [&](Val key) {
    for (int64_t e = 0; e < spec.paddedSize(); e += kLanes) {
      Val row = b.iadd(base, key);
      b.storeLanes(b.at(b.at(part(to), e / width * spec.rowPanelStride() + e % width), b.imul(toWords(key), width)),
                   spec.pairs ? loadPair(from, row, e) : loadRow(from, row, e));
    }
  });
}

Val AttentionEmitter::loadPair(Rows from, Val row, int64_t e) {
  Val mask = maskFrom(b, spec.size, e);
  auto load = [&](Val row) { return b.loadLanes(b.at(from.at(b, row), e, 2), b.ir().getInt16Ty(), mask); };
  return pairWords(b, load(row), load(b.iadd(row, 1)));
}

void AttentionEmitter::packRowPairs(Rows from, Val firstRow, int64_t to) {
  forBlockRows(firstRow, 2, [&](Val i, Val row) {
    for (int64_t e = 0; e < spec.paddedSize(); e += kLanes)
      b.storeLanes(b.at(b.at(part(to), e), b.imul(toWords(i), spec.paddedSize())), loadPair(from, row, e));
  });
}

void AttentionEmitter::packRowTile(Rows from, Val firstRow, int64_t to) {
  for (int64_t i = 0; i < spec.tileRows; ++i)
    for (int64_t e = 0; e < spec.rowWords(); e += kLanes)
      b.storeLanes(b.at(part(to), i * spec.rowWords() + e), loadWords(from, b.iadd(firstRow, i), e));
}

void AttentionEmitter::packRowBlock(Rows from, Val firstRow, int64_t to) {
  b.forLoop(0, spec.block(), 1, [&](Val i) {
    Val row = b.iadd(firstRow, i);
    Address out = b.at(part(to), b.imul(i, spec.rowWords()));
    auto copy = [&](bool inside) {
      for (int64_t e = 0; e < spec.rowWords(); e += kLanes)
        b.storeLanes(b.at(out, e), inside ? loadWords(from, row, e) : b.lanes(0.0));
    };
    b.ifElse(
        b.ilt(row, b.i64(spec.positions)),
        [&] {
          copy(true);
          return Vals();
        },
        [&] {
          copy(false);
          return Vals();
        });
  });
}

Vals AttentionEmitter::forRounds(Val lo, Val hi, int64_t unroll, Vals init, RoundBody body) {
  auto steps = [&](Val lo, Val hi, int64_t unroll, Vals init) {
    return b.forLoop(lo, hi, b.i64(unroll), init, [&](Val i, ValRange carried) { return body(i, unroll, carried); });
  };
  if (unroll == spec.wordsTogether())
    return steps(lo, hi, unroll, init);
  Val whole = b.isub(hi, b.irem(b.isub(hi, lo), unroll));
  return steps(whole, hi, spec.wordsTogether(), steps(lo, whole, unroll, init));
}

Val AttentionEmitter::multiplyAdd(Val left, Val right, Val chain) {
  return spec.pairs ? multiplyAddPairs(b, left, right, chain) : b.fma(left, right, chain);
}

Vals AttentionEmitter::chainRows(Address left, int64_t leftStride, Address panel, int64_t vectors, Val lo, Val hi,
                                 int64_t unroll, Vals values) {
  if (values.empty())
    values.assign(size_t(spec.tileRows * vectors), b.lanes(0.0));
  return forRounds(lo, hi, unroll, values, [&](Val first, int64_t unroll, ValRange carried) {
    Vals next(carried.begin(), carried.end());
    for (int64_t term = 0; term < unroll; ++term) {
      int64_t i = spec.wordsTogether() == 2 ? term ^ 1 : term; // of a pair the odd term is the first
      Address right = b.at(b.at(panel, b.imul(first, spec.panelWidth())), i * spec.panelWidth());
      Vals columns;
      for (int64_t v = 0; v < vectors; ++v) {
        columns.push_back(b.loadLanes(b.at(right, v * kLanes)));
        if (isWide())
          b.prefetch(b.at(right, kRowsAhead * spec.panelWidth() + v * kLanes));
      }
      for (int64_t r = 0; r < spec.tileRows; ++r) {
        Val x = b.broadcast(b.at(b.at(left, r * leftStride + i), first));
        for (int64_t v = 0; v < vectors; ++v) {
          Val &value = next[size_t(r * vectors + v)];
          value = multiplyAdd(x, columns[size_t(v)], value);
        }
      }
    }
    return next;
  });
}

Vals AttentionEmitter::chainColumns(Address left, Address right, Val lo, Val hi, Vals values) {
  return forRounds(lo, hi, keyUnroll(), values, [&](Val first, int64_t unroll, ValRange carried) {
    Vals next(carried.begin(), carried.end());
    for (int64_t term = 0; term < unroll; ++term) {
      int64_t i = spec.wordsTogether() == 2 ? term ^ 1 : term;
      Address row = b.at(b.at(right, b.imul(first, spec.paddedSize())), i * spec.paddedSize());
      Vals columns;
      for (int64_t v = 0; v < spec.tileVectors; ++v)
        columns.push_back(b.loadLanes(b.at(row, v * kLanes)));
      int64_t stride = spec.scoreStride() * spec.terms();
      Address weights = b.at(b.at(left, b.imul(first, stride)), i * stride);
      for (int64_t r = 0; r < spec.tileRows; ++r) {
        Val x = b.broadcast(b.at(weights, r));
        for (int64_t v = 0; v < spec.tileVectors; ++v) {
          Val &value = next[size_t(r * spec.tileVectors + v)];
          value = multiplyAdd(x, columns[size_t(v)], value);
        }
      }
    }
    return next;
  });
}

AttentionEmitter::KeyChain AttentionEmitter::keyChain(Address weights, int64_t panels, Val panel) {
  return {*this, weights, b.at(part(panels), b.imul(panel, spec.rowPanelStride()))};
}

Vals AttentionEmitter::KeyChain::upTo(Val end, Vals values) const {
  const AttentionSpec &spec = emitter.spec;
  return emitter.chainRows(weights, spec.scoreStride(), panel, spec.tileVectors, emitter.b.i64(0), emitter.toWords(end),
                           emitter.keyUnroll(), values);
}

// Keys that all rows see, then the others, each for the rows that see it. Of bf16 a pair goes as one, its masked weight
// zero.
Vals AttentionEmitter::KeyChain::upToDiagonal(Val row, Vals values) const {
  const AttentionSpec &spec = emitter.spec;
  KernelBuilder &b = emitter.b;
  int64_t rows = spec.tileRows, vectors = spec.tileVectors, together = spec.together();
  values = upTo(b.iadd(row, 2 - together), values);
  for (int64_t first = 2 - together; first < rows; first += together)
    for (int64_t beyond = spec.wordsTogether(); beyond-- > 0;) {
      Val key = b.iadd(emitter.toWords(row), first / spec.terms() + beyond);
      for (int64_t v = 0; v < vectors; ++v) {
        Val column = b.loadLanes(b.at(b.at(panel, b.imul(key, spec.panelWidth())), v * kLanes));
        for (int64_t r = first; r < rows; ++r) {
          Val &value = values[size_t(r * vectors + v)];
          Val weight = b.broadcast(b.at(b.at(weights, r * spec.scoreStride()), key));
          value = emitter.multiplyAdd(weight, column, value);
        }
      }
    }
  return values;
}

void AttentionEmitter::forTileVectors(Val panel, TileVector body) {
  int64_t width = spec.panelWidth();
  for (int64_t r = 0; r < spec.tileRows; ++r)
    for (int64_t v = 0; v < spec.tileVectors; ++v) {
      Val column = b.iadd(b.imul(panel, width), v * kLanes);
      Val mask = spec.size % kLanes == 0 && spec.size % width == 0
                     ? nullptr
                     : b.tailMask(b.imax(b.isub(b.i64(spec.size), column), b.i64(0)));
      body(r, v, column, mask);
    }
}

void AttentionEmitter::scoreBlock(int64_t rows, int64_t transposed, Val firstRow, Val firstKey, int64_t to,
                                  Val factor) {
  int64_t width = spec.panelWidth();
  Val count = b.isub(b.imin(b.iadd(firstRow, spec.block()), b.i64(spec.positions)), firstRow); // rows that exist
  Val rowInChunk = b.isub(firstRow, firstKey);
  Val panels = b.iadd(b.idiv(b.isub(inChunk(b.iadd(rowInChunk, count)), b.i64(1)), width), 1);
  b.forLoop(b.i64(0), panels, b.i64(1), [&](Val panel) {
    Address right = b.at(part(transposed), b.imul(panel, spec.sizeWords() * width));
    Val panelKey = b.imul(panel, width);
    b.forLoop(b.i64(0), count, b.i64(spec.tileRows), [&](Val row) {
      // Vectors wholly right of the diagonal are never read.
      Val lastRow = b.iadd(b.iadd(rowInChunk, row), spec.tileRows - 1);
      Address left = b.at(part(rows), b.imul(row, spec.rowWords()));
      Address out = b.at(b.at(part(to), b.imul(row, spec.scoreStride())), panelKey);
      auto tile = [&](int64_t vectors) {
        Vals values =
            chainRows(left, spec.rowWords(), right, vectors, b.i64(0), b.i64(spec.sizeWords()), scoreUnroll());
        for (int64_t r = 0; r < spec.tileRows; ++r)
          for (int64_t v = 0; v < vectors; ++v) {
            Val value = values[size_t(r * vectors + v)];
            b.storeLanes(b.at(out, r * spec.scoreStride() + v * kLanes), factor ? b.mul(value, factor) : value);
          }
      };
      scoreVectors(b.isub(lastRow, panelKey), spec.tileVectors, tile);
    });
  });
}

// tile(n) with as many vectors of a panel as reach the diagonal, which is `last` keys right of the panel's first.
void AttentionEmitter::scoreVectors(Val last, int64_t vectors, function_ref<void(int64_t vectors)> tile) {
  Val reaches = b.ir().CreateICmpSGE(last, b.i64((vectors - 1) * kLanes));
  b.ifElse(
      reaches,
      [&] {
        tile(vectors);
        return Vals();
      },
      [&] {
        if (vectors > 1)
          scoreVectors(last, vectors - 1, tile);
        return Vals();
      });
}

void AttentionEmitter::forBlockRows(Val firstRow, int64_t step, function_ref<void(Val rowInBlock, Val row)> body) {
  Val end = b.imin(b.isub(b.i64(spec.positions), firstRow), b.i64(spec.block()));
  b.forLoop(b.i64(0), end, b.i64(step), [&](Val i) { body(i, b.iadd(firstRow, i)); });
}

// A later tile overlaps the one before it, rather than the last one the end of the sequence: rows near the end cost
// most.
Val AttentionEmitter::tileBegin(Val tile) {
  return b.imax(b.isub(b.imul(tile, spec.tileRows), b.i64(spec.rowTiles() * spec.tileRows - spec.positions)), b.i64(0));
}

Val AttentionEmitter::lanesUpTo(Val last) {
  return b.ir().CreateICmpSLE(b.laneIndex(), b.splat(b.ir().CreateTrunc(last, b.i32Type())));
}

// A loop in a loop: draws and what follows them, side by side, would need more registers than AVX2 has.
Vals AttentionEmitter::forDrawnKeys(Val sample, Val head, Val row, int64_t rows, Val firstKey, Val end, ValRange init,
                                    DrawnBody body) {
  return b.forLoop(b.i64(0), end, b.i64(train::kKeysOfDraw), init, [&](Val first, ValRange before) {
    // The rows side by side as lanes of one draw: so their chains of 20 rounds run side by side, too.
    SmallVector<Constant *> offsets;
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t lane = 0; lane < kLanes; ++lane)
        offsets.push_back(b.ir().getInt32(uint32_t(r * train::attentionDrawStride(spec.positions) + lane)));
    EmitPolicy ofRows(b, b.f32Type(), rows * kLanes);
    auto draw = drawAttention(b, ofRows, spec.heads, spec.positions, sample, head, row, b.iadd(firstKey, first),
                              ConstantVector::get(offsets));
    Vals values, second;
    for (int64_t r = 0; r < rows; ++r) {
      SmallVector<int> lanes(static_cast<size_t>(kLanes));
      std::iota(lanes.begin(), lanes.end(), int(r * kLanes));
      values.push_back(b.ir().CreateShuffleVector(draw.w0, lanes));
      second.push_back(b.ir().CreateShuffleVector(draw.w1, lanes));
    }
    values.append(second);
    values.append(before.begin(), before.end());
    size_t words = size_t(rows);
    Val beyond = b.imin(b.iadd(first, train::kKeysOfDraw), end);
    values = b.forLoop(first, beyond, b.i64(kLanes), values, [&](Val j, ValRange now) {
      ValRange later = now.slice(words, words);
      Vals next(later);
      next.append(later.begin(), later.end());
      next.append(body(j, now.take_front(words), now.drop_front(2 * words)));
      return next;
    });
    return Vals(values.begin() + 2 * rows, values.end());
  });
}

Val AttentionEmitter::kept(Val word) {
  return train::wordKeeps(policy, word, policy.constantInt(train::dropoutThreshold(spec.dropoutProbability)));
}

train::Words<EmitPolicy> drawAttention(KernelBuilder &b, EmitPolicy &p, int64_t heads, int64_t positions, Val sample,
                                       Val head, Val row, Val key, Val lanes) {
  auto dropoutKey =
      train::dropoutKey(p, p.words(b.param(offsetof(rcp_step_params_v1, seed), b.i64Type())), p.words(b.scalar(0)).w0,
                        p.words(b.param(offsetof(rcp_step_params_v1, step), b.i64Type())).w0);
  Val globalSample = b.iadd(b.param(offsetof(rcp_step_params_v1, first_sample), b.i64Type()), sample);
  Val rowNumber = b.iadd(b.imul(b.iadd(b.imul(globalSample, heads), head), positions), row);
  Val counter = b.iadd(b.imul(rowNumber, train::attentionDrawStride(positions)), key);
  return train::threefry2x32(p, dropoutKey, train::offsetCounter(p, p.words(counter), lanes));
}

} // namespace recipe::codegen
