// layer_norm and rms_norm over rows of C channels, and the gradient of their input.
//
// Up to four rows at a time, so that their chains of additions overlap: the order inside a row is fixed.
//   spec      channels, centered (1: layer_norm, 0: rms_norm), grain (rows per workgroup); norm: eps
//   scalars   rows
//             epilogue: a program over lanes (LaneProgram.h) that takes y or dx; its buffers take that one's place
//   buffers   norm: x, gain, [bias], [mean], rstd, y; norm_grad: dy, x, gain, [mean], rstd, dx ([..] when centered)
//   y may lie over x; dx over dy or x.
#include "passes/codegen/EmitPolicy.h"
#include "passes/codegen/LaneProgram.h"
#include "passes/codegen/RowFamilies.h"

using namespace llvm;
using mlir::DictionaryAttr;

namespace recipe::codegen {
namespace {

// Rows that run together when each keeps `sums` accumulators of 16 lanes: those fill half the registers at most.
unsigned rowsTogether(const step::TargetInfo &target, unsigned sums) {
  int64_t registersPerSum = kLanes * 32 / target.vectorBits;
  unsigned rows = 4;
  while (rows > 1 && rows * sums * registersPerSum > target.vectorRegisters / 2)
    rows /= 2;
  return rows;
}

// The rows row .. row + count - 1 of a [rows, C] matrix, one channel index into all of them.
struct RowBlock {
  KernelBuilder &b;
  int64_t channels;
  Val row;
  unsigned count;

  Val element(unsigned r, Val channel) const { return b.iadd(b.imul(b.iadd(row, r), channels), channel); }
  Address place(unsigned buffer, unsigned r, Val channel) const { return b.at(b.buffer(buffer), element(r, channel)); }
  Address perRow(unsigned buffer, unsigned r) const { return b.at(b.buffer(buffer), b.iadd(row, r)); }
  Val missingIsZero(Val value, Val mask) const { return mask ? b.select(mask, value, b.lanes(0.0)) : value; }

  // For each row the lane sums of `sums` chains: next(r, channel, mask, chains of row r) -> their next values.
  SmallVector<Vals> reduce(unsigned sums,
                           function_ref<Vals(unsigned r, Val channel, Val mask, ValRange chains)> next) const {
    Vals zeros(size_t(count * sums), b.lanes(0.0));
    Vals totals = b.forLanes(b.i64(0), b.i64(channels), zeros, [&](Val channel, Val mask, ValRange carried) {
      Vals following;
      for (unsigned r = 0; r < count; ++r)
        following.append(next(r, channel, mask, carried.slice(r * sums, sums)));
      return following;
    });
    SmallVector<Vals> results(count);
    for (unsigned r = 0; r < count; ++r)
      for (unsigned i = 0; i < sums; ++i)
        results[r].push_back(b.laneSum(totals[r * sums + i]));
    return results;
  }
};

// Calls body for the rows of this workgroup, `together` at a time, then one at a time.
void forRows(KernelBuilder &b, DictionaryAttr spec, unsigned together, function_ref<void(const RowBlock &)> body) {
  int64_t channels = specInt(spec, "channels");
  auto [lo, hi] = b.ownRange(b.scalar(0), b.i64(specInt(spec, "grain")));
  Val count = b.isub(hi, lo);
  Val whole = b.iadd(lo, b.isub(count, b.irem(count, together)));
  b.forLoop(lo, whole, b.i64(together), [&](Val row) { body({b, channels, row, together}); });
  b.forLoop(whole, hi, b.i64(1), [&](Val row) { body({b, channels, row, 1}); });
}

} // namespace

Error emitNorm(KernelBuilder &b, DictionaryAttr spec, mlir::Region &) {
  bool centered = specInt(spec, "centered");
  double eps = specFloat(spec, "eps");
  unsigned x = 0, gain = 1, bias = 2, mean = 3, rstd = centered ? 4 : 2, y = rstd + 1;
  b.mayAlias(x, y);
  Expected<std::optional<LaneProgram>> epilogue = readEpilogue(b, spec, y, {x});
  if (!epilogue)
    return epilogue.takeError();
  EmitPolicy p(b), scalar = EmitPolicy::scalar(b);
  forRows(b, spec, rowsTogether(b.getTarget(), 1), [&](const RowBlock &rows) {
    Val size = scalar.constant(double(rows.channels));
    Vals means, rstds;
    if (centered) {
      SmallVector<Vals> sums = rows.reduce(1, [&](unsigned r, Val channel, Val mask, ValRange chains) {
        return Vals{b.add(chains[0], b.loadLanes(rows.place(x, r, channel), mask))};
      });
      for (unsigned r = 0; r < rows.count; ++r) {
        Val value = b.div(sums[r][0], size);
        b.store(rows.perRow(mean, r), value);
        means.push_back(b.splat(value));
      }
    }
    auto load = [&](unsigned r, Val channel, Val mask) {
      Val value = b.loadLanes(rows.place(x, r, channel), mask);
      return centered ? b.sub(value, means[r]) : value;
    };
    SmallVector<Vals> squares = rows.reduce(1, [&](unsigned r, Val channel, Val mask, ValRange chains) {
      Val value = rows.missingIsZero(load(r, channel, mask), mask);
      return Vals{b.fma(value, value, chains[0])};
    });
    for (unsigned r = 0; r < rows.count; ++r) {
      Val value = train::reciprocalStd(scalar, squares[r][0], size, scalar.constant(eps));
      b.store(rows.perRow(rstd, r), value);
      rstds.push_back(b.splat(value));
    }
    b.forLanes(b.i64(0), b.i64(rows.channels), [&](Val channel, Val mask) {
      Val gains = b.loadLanes(b.at(b.buffer(gain), channel), mask);
      Val biases = centered ? b.loadLanes(b.at(b.buffer(bias), channel), mask) : nullptr;
      for (unsigned r = 0; r < rows.count; ++r) {
        Val value = load(r, channel, mask);
        Val result = centered ? train::layerNormOutput(p, value, rstds[r], gains, biases)
                              : train::rmsNormOutput(p, value, rstds[r], gains);
        if (*epilogue)
          (*epilogue)->run({result}, {rows.element(r, channel), channel, mask});
        else
          b.storeLanes(rows.place(y, r, channel), result, mask);
      }
    });
  });
  return Error::success();
}

Error emitNormGrad(KernelBuilder &b, DictionaryAttr spec, mlir::Region &) {
  bool centered = specInt(spec, "centered");
  unsigned dy = 0, x = 1, gain = 2, mean = 3, rstd = centered ? 4 : 3, dx = centered ? 5 : 4;
  b.mayAlias(dy, dx);
  b.mayAlias(x, dx);
  Expected<std::optional<LaneProgram>> epilogue = readEpilogue(b, spec, dx, {dy, x});
  if (!epilogue)
    return epilogue.takeError();
  EmitPolicy p(b), scalar = EmitPolicy::scalar(b);
  forRows(b, spec, rowsTogether(b.getTarget(), centered ? 2 : 1), [&](const RowBlock &rows) {
    Val size = scalar.constant(double(rows.channels));
    Vals means, rstds;
    for (unsigned r = 0; r < rows.count; ++r) {
      if (centered)
        means.push_back(b.broadcast(rows.perRow(mean, r)));
      rstds.push_back(b.broadcast(rows.perRow(rstd, r)));
    }
    auto xhatAt = [&](unsigned r, Val channel, Val mask) {
      Val value = b.loadLanes(rows.place(x, r, channel), mask);
      return centered ? train::normXhat(p, value, means[r], rstds[r]) : train::rmsNormXhat(p, value, rstds[r]);
    };
    auto hAt = [&](unsigned r, Val channel, Val mask) {
      return b.mul(b.loadLanes(rows.place(dy, r, channel), mask), b.loadLanes(b.at(b.buffer(gain), channel), mask));
    };
    // Chains: rowdot(h, xhat) and, when centered, rowsum(h).
    SmallVector<Vals> sums = rows.reduce(centered ? 2 : 1, [&](unsigned r, Val channel, Val mask, ValRange chains) {
      Val h = rows.missingIsZero(hAt(r, channel, mask), mask);
      Val xhat = rows.missingIsZero(xhatAt(r, channel, mask), mask);
      Vals following = {b.fma(h, xhat, chains[0])};
      if (centered)
        following.push_back(b.add(chains[1], h));
      return following;
    });
    Vals c1, c2;
    for (unsigned r = 0; r < rows.count; ++r) {
      c2.push_back(b.splat(b.div(sums[r][0], size)));
      if (centered)
        c1.push_back(b.splat(b.div(sums[r][1], size)));
    }
    b.forLanes(b.i64(0), b.i64(rows.channels), [&](Val channel, Val mask) {
      for (unsigned r = 0; r < rows.count; ++r) {
        Val h = hAt(r, channel, mask), xhat = xhatAt(r, channel, mask);
        Val result = centered ? train::layerNormDx(p, h, xhat, c1[r], c2[r], rstds[r])
                              : train::rmsNormDx(p, h, xhat, c2[r], rstds[r]);
        if (*epilogue)
          (*epilogue)->run({result}, {rows.element(r, channel), channel, mask});
        else
          b.storeLanes(rows.place(dx, r, channel), result, mask);
      }
    });
  });
  return Error::success();
}

} // namespace recipe::codegen
