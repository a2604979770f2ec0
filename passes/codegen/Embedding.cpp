// Rows of a table by token, and the sums of gradients by row.
//
// family "embedding": y[t] = table[ids[t]].   spec channels, grain (tokens); scalars tokens; buffers ids, table, y
//
// family "token_index": a stable counting sort of the tokens by id, in one workgroup.
//   scalars tokens, rows; buffers ids, starts i32 [rows + 2], order i32 [tokens + 1]. The tokens of row v, ascending,
//   are order[starts[v] .. starts[v + 1]).
//
// family "embedding_grad": a workgroup owns `rows` rows of the table and `block` columns.
//   spec      channels, nodes, accumulate (0 or 1), rows, block, strip (vectors of columns summed together)
//   scalars   rows of the table, tokens of a batch node
//   buffers   dy, starts, order, [accumulator,] result; the result may be the accumulator: then rows without a token
//   cost nothing
//   scratch   pendingBytes(nodes, strip)
#include "passes/codegen/NodeTree.h"
#include "passes/codegen/RowFamilies.h"

using namespace llvm;
using mlir::DictionaryAttr;

namespace recipe::codegen {

static Val loadIndex(KernelBuilder &b, Address from) { return b.ir().CreateZExt(b.loadI32(from), b.i64Type()); }

Error emitEmbedding(KernelBuilder &b, DictionaryAttr spec, mlir::Region &) {
  int64_t channels = specInt(spec, "channels");
  auto [lo, hi] = b.ownRange(b.scalar(0), b.i64(specInt(spec, "grain")));
  b.forLoop(lo, hi, b.i64(1), [&](Val token) {
    Val from = b.imul(loadIndex(b, b.at(b.buffer(0), token)), channels), to = b.imul(token, channels);
    b.forLanes(b.i64(0), b.i64(channels), [&](Val channel, Val mask) {
      Val row = b.loadLanes(b.at(b.buffer(1), b.iadd(from, channel)), mask);
      b.storeLanes(b.at(b.buffer(2), b.iadd(to, channel)), row, mask);
    });
  });
  return Error::success();
}

Error emitTokenIndex(KernelBuilder &b, DictionaryAttr, mlir::Region &) {
  Val tokens = b.scalar(0), rows = b.scalar(1);
  Address ids = b.buffer(0), starts = b.buffer(1), order = b.buffer(2);
  Val none = Constant::getNullValue(b.lanesOf(b.i32Type()));
  b.forLanes(b.i64(0), b.iadd(rows, 2), [&](Val row, Val mask) { b.storeLanes(b.at(starts, row), none, mask); });
  auto forTokens = [&](int64_t shift, function_ref<void(Val token, Val count)> use) {
    b.forLoop(b.i64(0), tokens, b.i64(1), [&](Val token) {
      Address place = b.at(starts, b.iadd(loadIndex(b, b.at(ids, token)), shift));
      Val count = b.loadI32(place);
      use(token, count);
      b.store(place, b.iadd(count, b.i32(1)));
    });
  };
  // Counts two places on; their sums then are the starts one place on; filling a row moves its start to its end.
  forTokens(2, [](Val, Val) {});
  b.forLoop(b.i64(0), b.iadd(rows, 2), b.i64(1), {b.i32(0)}, [&](Val row, ValRange sum) {
    Val next = b.iadd(sum[0], b.loadI32(b.at(starts, row)));
    b.store(b.at(starts, row), next);
    return Vals{next};
  });
  forTokens(1, [&](Val token, Val slot) {
    b.store(b.at(order, b.ir().CreateZExt(slot, b.i64Type())), b.ir().CreateTrunc(token, b.i32Type()));
  });
  return Error::success();
}

namespace {

class EmbeddingGrad {
public:
  EmbeddingGrad(KernelBuilder &b, DictionaryAttr spec)
      : b(b), channels(specInt(spec, "channels")), nodes(specInt(spec, "nodes")), rows(specInt(spec, "rows")),
        block(specInt(spec, "block")), strip(specInt(spec, "strip")), accumulate(specInt(spec, "accumulate")),
        accumulator(b.buffer(3)), result(accumulate ? b.buffer(4) : b.buffer(3)), tokensPerNode(b.scalar(1)) {}

  void emit() {
    if (accumulate)
      b.mayAlias(3, 4);
    int64_t blocks = divideCeil(channels, block);
    Val firstRow = b.imul(b.idiv(b.workgroup(), blocks), rows);
    Val endRow = b.imin(b.iadd(firstRow, rows), b.scalar(0));
    Val firstColumn = b.imul(b.irem(b.workgroup(), blocks), block);
    Val endColumn = b.imin(b.iadd(firstColumn, block), b.i64(channels));
    b.forLoop(firstRow, endRow, b.i64(1), [&](Val row) {
      Val begin = loadIndex(b, b.at(b.buffer(1), row)), end = loadIndex(b, b.at(b.buffer(1), b.iadd(row, 1)));
      b.ifElse(
          b.ilt(begin, end),
          [&] {
            sumRow(row, begin, end, firstColumn, endColumn);
            return Vals();
          },
          [&] {
            emptyRow(row, firstColumn, endColumn);
            return Vals();
          });
    });
  }

private:
  Address place(Address table, Val row, Val column) { return b.at(table, b.iadd(b.imul(row, channels), column)); }

  void emptyRow(Val row, Val firstColumn, Val endColumn) {
    if (!accumulate)
      return b.forLanes(firstColumn, endColumn,
                        [&](Val column, Val mask) { b.storeLanes(place(result, row, column), b.lanes(0.0), mask); });
    b.ifThen(b.ir().CreateICmpNE(accumulator.pointer, result.pointer), [&] {
      b.forLanes(firstColumn, endColumn, [&](Val column, Val mask) {
        b.storeLanes(place(result, row, column), b.loadLanes(place(accumulator, row, column), mask), mask);
      });
    });
  }

  void sumRow(Val row, Val begin, Val end, Val firstColumn, Val endColumn) {
    int64_t step = strip * kLanes;
    Val count = b.isub(endColumn, firstColumn);
    Val whole = b.iadd(firstColumn, b.isub(count, b.irem(count, step)));
    b.forLoop(firstColumn, whole, b.i64(step), [&](Val column) { sumStrip(row, begin, end, column, strip, nullptr); });
    b.forLanes(whole, endColumn, [&](Val column, Val mask) { sumStrip(row, begin, end, column, 1, mask); });
  }

  void sumStrip(Val row, Val begin, Val end, Val column, int64_t vectors, Val mask) {
    auto at = [&](Address table, Val place, int64_t v) { return b.at(table, b.iadd(place, v * kLanes)); };
    Val target = b.iadd(b.imul(row, channels), column);
    // One chain for each node, through the row's tokens in order.
    Vals totals = treeOfNodes(b, nodes, b.scratch(), {begin}, [&](Val node, ValRange first) {
      Vals carried = {first[0]};
      for (int64_t v = 0; v < vectors; ++v)
        carried.push_back(accumulate ? b.loadLanes(at(accumulator, target, v), mask) : b.lanes(0.0));
      Val limit = b.imul(tokensPerNode, b.iadd(node, 1));
      carried = b.whileLoop(
          carried,
          [&](ValRange now) {
            Val more = b.ilt(now[0], end);
            // order has one entry more than tokens, so that this load is legal.
            return nodes == 1 ? more : b.ir().CreateAnd(more, b.ilt(tokenAt(now[0]), limit));
          },
          [&](ValRange now) {
            Val from = b.iadd(b.imul(tokenAt(now[0]), channels), column);
            Vals following = {b.iadd(now[0], 1)};
            for (int64_t v = 0; v < vectors; ++v)
              following.push_back(b.add(now[size_t(1 + v)], b.loadLanes(at(b.buffer(0), from, v), mask)));
            return following;
          });
      return NodeValues{Vals(carried.begin() + 1, carried.end()), {carried[0]}};
    });
    for (int64_t v = 0; v < vectors; ++v)
      b.storeLanes(at(result, target, v), totals[size_t(v)], mask);
  }

  Val tokenAt(Val index) { return loadIndex(b, b.at(b.buffer(2), index)); }

  KernelBuilder &b;
  int64_t channels, nodes, rows, block, strip;
  bool accumulate;
  Address accumulator, result;
  Val tokensPerNode;
};

} // namespace

Error emitEmbeddingGrad(KernelBuilder &b, DictionaryAttr spec, mlir::Region &) {
  EmbeddingGrad(b, spec).emit();
  return Error::success();
}

} // namespace recipe::codegen
