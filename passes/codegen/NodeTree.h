// The balanced tree over batch nodes inside one kernel, as a loop: code does not grow with the number of nodes.
#ifndef PASSES_CODEGEN_NODETREE_H
#define PASSES_CODEGEN_NODETREE_H

#include "passes/codegen/KernelBuilder.h"

namespace recipe::codegen {

// What a node leaves: its values (16 lanes each), and state for the next node.
struct NodeValues {
  Vals values, carried;
};
// The chains of one node, from the state that the node before it left.
using NodeBody = llvm::function_ref<NodeValues(Val node, ValRange carried)>;

// tree(values of node 0, 1, ..., nodes - 1), value by value; `nodes` is a power of two. Finished subtrees wait in
// `pending`, which has pendingBytes(nodes, values of a node) (passes/NodeTreeShape.h).
Vals treeOfNodes(KernelBuilder &b, int64_t nodes, Address pending, ValRange carried, NodeBody body);

} // namespace recipe::codegen
#endif
