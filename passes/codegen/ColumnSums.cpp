// Sums over tokens by position segment: the gradients of gains and biases.
//
// family "column_sum": a workgroup owns one position segment and `block` columns, `strip` vectors of them at a time.
// For each batch node it chains the tokens of the segment in order, in registers; the tree combines the nodes.
//   spec      kind ("bias", "rms_norm" or "layer_norm"), samples, positions, channels, nodes, block, strip,
//             accumulate (for each output 0 or 1)
//   buffers   bias: dy; rms_norm: dy, x, rstd; layer_norm: dy, x, mean, rstd; then the accumulators that there are;
//             then the results. One output; layer_norm two: gain, bias. A result may be its accumulator.
//   scratch   pendingBytes(nodes, outputs * strip)
//
// family "position_sum": [8, C] to [C].  spec grain; scalars channels; buffers x, y
#include "dialects/train/Train.h"
#include "passes/codegen/EmitPolicy.h"
#include "passes/codegen/NodeTree.h"
#include "passes/codegen/RowFamilies.h"

using namespace llvm;
using mlir::DictionaryAttr;

namespace recipe::codegen {
namespace {

class ColumnSum {
public:
  ColumnSum(KernelBuilder &b, DictionaryAttr spec)
      : b(b), p(b), kind(spec.getAs<mlir::StringAttr>("kind").getValue()), samples(specInt(spec, "samples")),
        positions(specInt(spec, "positions")), channels(specInt(spec, "channels")), nodes(specInt(spec, "nodes")),
        block(specInt(spec, "block")), strip(specInt(spec, "strip")), accumulate(specInts(spec, "accumulate")) {
    unsigned next = kind == "bias" ? 1 : kind == "rms_norm" ? 3 : 4;
    for (int64_t has : accumulate)
      accumulators.push_back(has ? int(next++) : -1);
    firstResult = next;
  }

  void emit() {
    for (unsigned output = 0; output < outputs(); ++output)
      if (accumulate[output])
        b.mayAlias(unsigned(accumulators[output]), firstResult + output);
    int64_t blocks = divideCeil(channels, block), length = divideCeil(positions, train::kPositionSegments);
    segment = b.idiv(b.workgroup(), blocks);
    begin = b.imin(b.imul(segment, length), b.i64(positions)); // the last segments may be empty
    end = b.imin(b.iadd(begin, length), b.i64(positions));
    Val first = b.imul(b.irem(b.workgroup(), blocks), block), last = b.imin(b.iadd(first, block), b.i64(channels));
    Val whole = b.isub(last, b.irem(b.isub(last, first), strip * kLanes));
    b.forLoop(first, whole, b.i64(strip * kLanes), [&](Val column) { sumStrip(column, strip, nullptr); });
    b.forLanes(whole, last, [&](Val column, Val mask) { sumStrip(column, 1, mask); });
  }

private:
  unsigned outputs() const { return unsigned(accumulate.size()); }
  Address outer(unsigned buffer, Val column, int64_t vector) { // [8, C]
    return b.at(b.buffer(buffer), b.iadd(b.iadd(b.imul(segment, channels), column), vector * kLanes));
  }

  // `vectors` vectors of columns from `column` on; the chains of output o are values o * vectors ...
  void sumStrip(Val column, int64_t vectors, Val mask) {
    int64_t samplesPerNode = samples / nodes;
    Vals totals = treeOfNodes(b, nodes, b.scratch(), {}, [&](Val node, ValRange) {
      Vals chains;
      for (unsigned output = 0; output < outputs(); ++output)
        for (int64_t v = 0; v < vectors; ++v)
          chains.push_back(accumulate[output] ? b.loadLanes(outer(unsigned(accumulators[output]), column, v), mask)
                                              : b.lanes(0.0));
      Val first = b.imul(node, samplesPerNode), beyond = b.iadd(first, samplesPerNode);
      chains = b.forLoop(first, beyond, b.i64(1), chains, [&](Val sample, ValRange ofSample) {
        Val token = b.imul(sample, positions);
        return b.forLoop(begin, end, b.i64(1), ofSample, [&](Val position, ValRange carried) {
          return chainToken(b.iadd(token, position), column, vectors, mask, carried);
        });
      });
      return NodeValues{chains, {}};
    });
    for (unsigned output = 0; output < outputs(); ++output)
      for (int64_t v = 0; v < vectors; ++v)
        b.storeLanes(outer(firstResult + output, column, v), totals[size_t(output * vectors + v)], mask);
  }

  Vals chainToken(Val token, Val column, int64_t vectors, Val mask, ValRange carried) {
    Vals next(carried.begin(), carried.end());
    Val mean = kind == "layer_norm" ? b.broadcast(b.at(b.buffer(2), token)) : nullptr;
    Val rstd = kind == "bias" ? nullptr : b.broadcast(b.at(b.buffer(kind == "layer_norm" ? 3 : 2), token));
    Val first = b.iadd(b.imul(token, channels), column);
    for (int64_t v = 0; v < vectors; ++v) {
      Val place = b.iadd(first, v * kLanes);
      Val dy = b.loadLanes(b.at(b.buffer(0), place), mask);
      Val &sum = next[size_t(v)];
      if (kind == "bias") {
        sum = b.add(sum, dy);
        continue;
      }
      Val x = b.loadLanes(b.at(b.buffer(1), place), mask);
      Val xhat = mean ? train::normXhat(p, x, mean, rstd) : train::rmsNormXhat(p, x, rstd);
      sum = b.fma(dy, xhat, sum);
      if (kind == "layer_norm")
        next[size_t(vectors + v)] = b.add(next[size_t(vectors + v)], dy);
    }
    return next;
  }

  KernelBuilder &b;
  EmitPolicy p;
  StringRef kind;
  int64_t samples, positions, channels, nodes, block, strip;
  ArrayRef<int64_t> accumulate;
  SmallVector<int, 2> accumulators; // buffer of each output's, or -1
  unsigned firstResult;
  Val segment = nullptr, begin = nullptr, end = nullptr; // of this workgroup
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
