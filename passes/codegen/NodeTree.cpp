#include "passes/codegen/NodeTree.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace recipe::codegen {

// A binary counter: the one bits of `node` are the subtrees that wait, the trailing ones are complete with this node.
// Returns the merged values behind the number of subtrees merged.
static Vals mergePending(KernelBuilder &b, Address pending, Val node, ValRange values) {
  auto place = [&](Val level, size_t i) {
    return b.at(pending, b.iadd(b.imul(level, int64_t(values.size()) * kLanes), int64_t(i) * kLanes));
  };
  Vals init = {b.i64(0)};
  init.append(values.begin(), values.end());
  return b.whileLoop(
      init,
      [&](ValRange now) { return b.ieq(b.ir().CreateAnd(b.ir().CreateLShr(node, now[0]), uint64_t(1)), b.i64(1)); },
      [&](ValRange now) {
        Vals next = {b.iadd(now[0], 1)};
        for (size_t i = 0; i < values.size(); ++i)
          next.push_back(b.add(b.loadLanes(place(now[0], i)), now[1 + i]));
        return next;
      });
}

Vals treeOfNodes(KernelBuilder &b, int64_t nodes, Address pending, ValRange carried, NodeBody body) {
  assert(isPowerOf2_64(uint64_t(nodes)) && "the verifiers of train ops see to it");
  if (nodes == 1)
    return body(b.i64(0), carried).values;
  Vals merged;
  b.forLoop(b.i64(0), b.i64(nodes), b.i64(1), carried, [&](Val node, ValRange state) {
    NodeValues finished = body(node, state);
    merged = mergePending(b, pending, node, finished.values);
    Address place = b.at(pending, b.imul(merged[0], int64_t(finished.values.size()) * kLanes));
    b.ifThen(b.ilt(node, b.i64(nodes - 1)), [&] {
      for (size_t i = 0; i < finished.values.size(); ++i)
        b.storeLanes(b.at(place, int64_t(i) * kLanes), merged[1 + i]);
    });
    return finished.carried;
  });
  // The last node took all that waited: its values dominate the loop's end.
  return Vals(merged.begin() + 1, merged.end());
}

} // namespace recipe::codegen
