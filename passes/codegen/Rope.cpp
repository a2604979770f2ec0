// family "rope": rotates pairs (i, i + E/2) of every head.
//   spec      heads, head_size, inverse (0 or 1), grain (tokens per workgroup)
//             epilogue: a program over lanes (LaneProgram.h) that takes y; its buffers take the place of y
//   scalars   tokens
//   buffers   x, cosine, sine, positions, y; y may lie over x
#include "passes/codegen/LaneProgram.h"
#include "passes/codegen/RowFamilies.h"

using namespace llvm;

namespace recipe::codegen {

Error emitRope(KernelBuilder &b, mlir::DictionaryAttr spec, mlir::Region &) {
  int64_t heads = specInt(spec, "heads"), size = specInt(spec, "head_size"), pairs = size / 2;
  bool inverse = specInt(spec, "inverse");
  b.mayAlias(0, 4);
  Expected<std::optional<LaneProgram>> epilogue = readEpilogue(b, spec, 4, {0});
  if (!epilogue)
    return epilogue.takeError();
  auto store = [&](Val element, Val channel, Val value, Val mask) {
    if (*epilogue)
      (*epilogue)->run({value}, {element, channel, mask});
    else
      b.storeLanes(b.at(b.buffer(4), element), value, mask);
  };
  EmitPolicy p(b);
  auto [lo, hi] = b.ownRange(b.scalar(0), b.i64(specInt(spec, "grain")));
  b.forLoop(lo, hi, b.i64(1), [&](Val token) {
    Val position = b.ir().CreateZExt(b.loadI32(b.at(b.buffer(3), token)), b.i64Type());
    Val entry = b.imul(position, pairs), row = b.imul(token, heads * size);
    b.forLanes(b.i64(0), b.i64(pairs), [&](Val pair, Val mask) {
      Val cosine = b.loadLanes(b.at(b.buffer(1), b.iadd(entry, pair)), mask);
      Val sine = b.loadLanes(b.at(b.buffer(2), b.iadd(entry, pair)), mask);
      b.forLoop(0, heads, 1, [&](Val head) {
        Val channel = b.iadd(b.imul(head, size), pair);
        Val first = b.iadd(row, channel), second = b.iadd(first, pairs);
        Val a = b.loadLanes(b.at(b.buffer(0), first), mask), c = b.loadLanes(b.at(b.buffer(0), second), mask);
        auto rotated = inverse ? train::ropeInverse(p, a, c, cosine, sine) : train::ropeForward(p, a, c, cosine, sine);
        store(first, channel, rotated.first, mask);
        store(second, b.iadd(channel, pairs), rotated.second, mask);
      });
    });
  });
  return Error::success();
}

} // namespace recipe::codegen
