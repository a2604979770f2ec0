#include "passes/codegen/GemmEpilogue.h"

using namespace llvm;

namespace recipe::codegen {

void GemmEpilogue::storeRow(const Part &part, Val row, ValRange values) const {
  Val begin = b.iadd(b.imul(row, spec.n), part.column);
  for (auto [v, value] : enumerate(values))
    program.run({value}, {b.iadd(begin, int64_t(v) * kLanes), b.iadd(part.column, int64_t(v) * kLanes), part.masks[v]});
}

// A long program would not fit beside the tile into registers, nor its copies for each vector into the instruction
// cache: the tile goes to scratch, which the first cache level holds, and a loop takes it from there.
void GemmEpilogue::store(const Part &part, ValRange values) const {
  size_t vectors = part.masks.size();
  if (program.isShort()) {
    for (int64_t r = 0; r < part.rows; ++r)
      storeRow(part, b.iadd(part.row, r), values.slice(size_t(r) * vectors, vectors));
    return;
  }
  Address staged = b.scratch(stage);
  for (auto [i, value] : enumerate(values))
    b.storeLanes(b.at(staged, int64_t(i) * kLanes), value);
  b.forLoop(0, part.rows, 1, [&](Val r) {
    Vals row;
    Address from = b.at(staged, b.imul(r, int64_t(vectors) * kLanes));
    for (size_t v = 0; v < vectors; ++v)
      row.push_back(b.loadLanes(b.at(from, int64_t(v) * kLanes)));
    storeRow(part, b.iadd(part.row, r), row);
  });
}

} // namespace recipe::codegen
