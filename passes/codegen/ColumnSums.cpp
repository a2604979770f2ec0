// Sums over tokens by position segment: the gradients of gains and biases.
//
// family "column_sum": a workgroup owns one position segment and `block` columns. For each batch node it chains the
// tokens of the segment in order into a row of scratch (four tokens at a time, so that the row is read and written once
// for four), then combines the nodes by the tree.
//   spec      kind ("bias", "rms_norm" or "layer_norm"), samples, positions, channels, nodes, accumulate (0 or 1),
//   block buffers   bias: dy; rms_norm: dy, x, rstd; layer_norm: dy, x, mean, rstd; then the accumulators if there are
//   any; then the results.
//             One output; layer_norm two: gain, bias. A result may be its accumulator.
//   scratch   outputs * nodes * block floats
//
// family "position_sum": [8, C] to [C].  spec grain; scalars channels; buffers x, y
#include "dialects/train/Train.h"
#include "passes/codegen/EmitPolicy.h"
#include "passes/codegen/RowFamilies.h"

using namespace llvm;
using mlir::DictionaryAttr;

namespace recipe::codegen {
namespace {

constexpr unsigned kTokens = 4;

class ColumnSum {
public:
  ColumnSum(KernelBuilder &b, DictionaryAttr spec)
      : b(b), p(b), kind(spec.getAs<mlir::StringAttr>("kind").getValue()), samples(specInt(spec, "samples")),
        positions(specInt(spec, "positions")), channels(specInt(spec, "channels")), nodes(specInt(spec, "nodes")),
        block(specInt(spec, "block")), accumulate(specInt(spec, "accumulate")) {}

  void emit() {
    for (unsigned output = 0; accumulate && output < outputs(); ++output)
      b.mayAlias(accumulators() + output, results() + output);
    int64_t blocks = divideCeil(channels, block), length = divideCeil(positions, train::kPositionSegments);
    segment = b.idiv(b.workgroup(), blocks);
    firstColumn = b.imul(b.irem(b.workgroup(), blocks), block);
    width = b.imin(b.i64(block), b.isub(b.i64(channels), firstColumn));
    Val begin = b.imin(b.imul(segment, length), b.i64(positions)); // the last segments may be empty
    Val end = b.imin(b.iadd(begin, length), b.i64(positions));
    int64_t samplesPerNode = samples / nodes;
    b.forLoop(0, nodes, 1, [&](Val node) {
      start(node);
      Val first = b.imul(node, samplesPerNode);
      b.forLoop(first, b.iadd(first, samplesPerNode), b.i64(1), [&](Val sample) {
        Val count = b.isub(end, begin);
        Val whole = b.iadd(begin, b.isub(count, b.irem(count, kTokens)));
        Val token = b.imul(sample, positions);
        b.forLoop(begin, whole, b.i64(kTokens), [&](Val position) { chain(node, b.iadd(token, position), kTokens); });
        b.forLoop(whole, end, b.i64(1), [&](Val position) { chain(node, b.iadd(token, position), 1); });
      });
    });
    finish();
  }

private:
  unsigned outputs() const { return kind == "layer_norm" ? 2 : 1; }
  unsigned accumulators() const { return kind == "bias" ? 1 : kind == "rms_norm" ? 3 : 4; }
  unsigned results() const { return accumulators() + (accumulate ? outputs() : 0); }
  Address partial(unsigned output, Val node, Val column) {
    return b.at(b.scratch(), b.iadd(b.imul(b.iadd(node, int64_t(output) * nodes), block), column));
  }
  Address outer(unsigned buffer, Val column) { // [8, C]
    return b.at(b.buffer(buffer), b.iadd(b.imul(segment, channels), b.iadd(firstColumn, column)));
  }

  void start(Val node) {
    b.forLanes(b.i64(0), width, [&](Val column, Val mask) {
      for (unsigned output = 0; output < outputs(); ++output) {
        Val value = accumulate ? b.loadLanes(outer(accumulators() + output, column), mask) : b.lanes(0.0);
        b.storeLanes(partial(output, node, column), value);
      }
    });
  }

  // `count` consecutive tokens continue the chains of all columns. Scratch rows are whole vectors: they need no mask.
  void chain(Val node, Val token, unsigned count) {
    Vals means, rstds;
    for (unsigned t = 0; t < count && kind != "bias"; ++t) {
      if (kind == "layer_norm")
        means.push_back(b.broadcast(b.at(b.buffer(2), b.iadd(token, t))));
      rstds.push_back(b.broadcast(b.at(b.buffer(kind == "layer_norm" ? 3 : 2), b.iadd(token, t))));
    }
    b.forLanes(b.i64(0), width, [&](Val column, Val mask) {
      Vals sums;
      for (unsigned output = 0; output < outputs(); ++output)
        sums.push_back(b.loadLanes(partial(output, node, column)));
      for (unsigned t = 0; t < count; ++t) {
        Val place = b.iadd(b.imul(b.iadd(token, t), channels), b.iadd(firstColumn, column));
        Val dy = b.loadLanes(b.at(b.buffer(0), place), mask);
        if (kind == "bias") {
          sums[0] = b.add(sums[0], dy);
          continue;
        }
        Val x = b.loadLanes(b.at(b.buffer(1), place), mask);
        Val xhat =
            kind == "layer_norm" ? train::normXhat(p, x, means[t], rstds[t]) : train::rmsNormXhat(p, x, rstds[t]);
        sums[0] = b.fma(dy, xhat, sums[0]);
        if (kind == "layer_norm")
          sums[1] = b.add(sums[1], dy);
      }
      for (unsigned output = 0; output < outputs(); ++output)
        b.storeLanes(partial(output, node, column), sums[output]);
    });
  }

  void finish() {
    b.forLanes(b.i64(0), width, [&](Val column, Val mask) {
      for (unsigned output = 0; output < outputs(); ++output) {
        Vals values;
        for (int64_t node = 0; node < nodes; ++node)
          values.push_back(b.loadLanes(partial(output, b.i64(node), column)));
        b.storeLanes(outer(results() + output, column), b.treeSum(values), mask);
      }
    });
  }

  KernelBuilder &b;
  EmitPolicy p;
  StringRef kind;
  int64_t samples, positions, channels, nodes, block;
  bool accumulate;
  Val segment = nullptr, firstColumn = nullptr, width = nullptr;
};

} // namespace

Error emitColumnSum(KernelBuilder &b, DictionaryAttr spec, mlir::Region &) {
  ColumnSum(b, spec).emit();
  return Error::success();
}

Error emitPositionSum(KernelBuilder &b, DictionaryAttr spec, mlir::Region &) {
  Val channels = b.scalar(0);
  auto [lo, hi] = b.ownRange(channels, b.i64(specInt(spec, "grain")));
  b.forLanes(lo, hi, [&](Val column, Val mask) {
    Vals rows;
    for (int64_t segment = 0; segment < train::kPositionSegments; ++segment)
      rows.push_back(b.loadLanes(b.at(b.buffer(0), b.iadd(b.imul(channels, segment), column)), mask));
    b.storeLanes(b.at(b.buffer(1), column), b.treeSum(rows), mask);
  });
  return Error::success();
}

} // namespace recipe::codegen
