// Kernels over all elements of equally shaped tensors.
//
// family "elementwise": a straight line of elementwise ops.
//   buffers   inputs, results
//   scalars   flat: elements; rows: rows, channels, rows per workgroup; then those of each op, in order
//   spec      inputs, program, results: see LaneProgram.h; an input of one value per channel makes the kernel run by
//             rows. grain     flat: elements per workgroup
//
// family "tree_merge": see train.tree_merge.
//   buffers   value, result, pending levels in, pending levels out; in and out may be the same
//   scalars   elements
//   spec      levels, grain
//
// family "combine": part of a sum over ranks.
//   buffers   this rank's part, which takes the sum; the part that arrived
//   scalars   elements; 1 where the part that arrived is the left one of the two, else 0
//   spec      grain
#include "passes/codegen/KernelFamily.h"
#include "passes/codegen/LaneProgram.h"
#include "passes/codegen/Spec.h"

using namespace llvm;
using mlir::ArrayAttr;
using mlir::DictionaryAttr;

namespace recipe::codegen {
namespace {

Error emitElementwise(KernelBuilder &b, DictionaryAttr spec, mlir::Region &) {
  bool byRows = is_contained(specInts(spec, "inputs"), 1);
  Expected<LaneProgram> program = LaneProgram::read(b, spec, /*firstBuffer=*/0, byRows ? 3 : 1);
  if (!program)
    return program.takeError();
  if (!byRows) {
    auto [lo, hi] = b.ownRange(b.scalar(0), b.i64(specInt(spec, "grain")));
    b.forLanes(lo, hi, [&](Val element, Val mask) { program->run({}, {element, nullptr, mask}); });
    return Error::success();
  }
  Val channels = b.scalar(1);
  auto [lo, hi] = b.ownRange(b.scalar(0), b.scalar(2));
  b.forLoop(lo, hi, b.i64(1), [&](Val row) {
    Val begin = b.imul(row, channels);
    b.forLanes(b.i64(0), channels,
               [&](Val channel, Val mask) { program->run({}, {b.iadd(begin, channel), channel, mask}); });
  });
  return Error::success();
}

Error emitTreeMerge(KernelBuilder &b, DictionaryAttr spec, mlir::Region &) {
  unsigned levels = unsigned(specInt(spec, "levels"));
  Val node = b.param(offsetof(rcp_step_params_v1, node), b.i64Type());
  Val count = b.param(offsetof(rcp_step_params_v1, node_count), b.i64Type());
  Val merged =
      b.ir().CreateBinaryIntrinsic(Intrinsic::cttz, b.ir().CreateNot(node), b.ir().getFalse()); // trailing ones
  Val last = b.ieq(node, b.isub(count, b.i64(1)));
  auto in = [&](unsigned level) { return b.buffer(2 + level); };
  auto out = [&](unsigned level) { return b.buffer(2 + levels + level); };
  b.mayAlias(0, 1);
  for (unsigned level = 0; level < levels; ++level)
    b.mayAlias(2 + level, 2 + levels + level);

  auto [lo, hi] = b.ownRange(b.scalar(0), b.i64(specInt(spec, "grain")));
  b.forLanes(lo, hi, [&](Val element, Val mask) {
    Val value = b.loadLanes(b.at(b.buffer(0), element), mask);
    for (unsigned level = 0; level < levels; ++level)
      value = b.ifElse(
          b.ilt(b.i64(level), merged), [&] { return Vals{b.add(b.loadLanes(b.at(in(level), element), mask), value)}; },
          [&] { return Vals{value}; })[0];
    for (unsigned level = 0; level < levels; ++level) {
      Val waits = b.ir().CreateAnd(b.ieq(merged, b.i64(level)), b.ir().CreateNot(last));
      b.ifElse(
          waits,
          [&] {
            b.storeLanes(b.at(out(level), element), value, mask);
            return Vals();
          },
          [&] {
            // Untouched levels move only when they live elsewhere.
            b.ifThen(b.ir().CreateICmpNE(in(level).pointer, out(level).pointer), [&] {
              b.storeLanes(b.at(out(level), element), b.loadLanes(b.at(in(level), element), mask), mask);
            });
            return Vals();
          });
    }
    b.storeLanes(b.at(b.buffer(1), element), value, mask);
  });
  return Error::success();
}

Error emitCombine(KernelBuilder &b, DictionaryAttr spec, mlir::Region &) {
  Val arrivedIsLeft = b.ieq(b.scalar(1), b.i64(1));
  auto [lo, hi] = b.ownRange(b.scalar(0), b.i64(specInt(spec, "grain")));
  b.forLanes(lo, hi, [&](Val element, Val mask) {
    Val own = b.loadLanes(b.at(b.buffer(0), element), mask), arrived = b.loadLanes(b.at(b.buffer(1), element), mask);
    // The order of the operands shows in the bits of a NaN only; keeping it costs nothing that memory does not hide.
    Val sum = b.add(b.select(arrivedIsLeft, arrived, own), b.select(arrivedIsLeft, own, arrived));
    b.storeLanes(b.at(b.buffer(0), element), sum, mask);
  });
  return Error::success();
}

} // namespace

ArrayRef<NamedEmitRule> elementwiseFamilies() {
  static constexpr NamedEmitRule families[] = {
      {"elementwise", emitElementwise}, {"tree_merge", emitTreeMerge}, {"combine", emitCombine}};
  return families;
}

} // namespace recipe::codegen
