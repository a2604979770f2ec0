// What follows a matrix product in its kernel: elementwise ops on each tile, once its chains are complete.
#ifndef PASSES_CODEGEN_GEMMEPILOGUE_H
#define PASSES_CODEGEN_GEMMEPILOGUE_H

#include "passes/codegen/Gemm.h"
#include "passes/codegen/LaneProgram.h"

namespace recipe::codegen {

class GemmEpilogue {
public:
  // `stage`: bytes before the scratch for one tile.
  GemmEpilogue(KernelBuilder &builder, const GemmSpec &spec, const LaneProgram &program, int64_t stage)
      : b(builder), spec(spec), program(program), stage(stage) {}

  // Finished values: rows x masks.size() vectors at (row, column) of C. A null mask: all columns exist.
  struct Part {
    int64_t rows;
    Val row, column;
    Vals masks;
  };
  void store(const Part &part, ValRange values) const;
  bool readsElements() const { return program.readsElements(); }
  // Operands of the vector at that element of C, which is to be finished soon.
  void prefetch(Val element) const { program.prefetch(element); }
  // The places of its results.
  void prefetchResults(Val element) const { program.prefetchResults(element); }

private:
  void storeRow(const Part &part, Val row, ValRange values) const;

  KernelBuilder &b;
  const GemmSpec &spec;
  const LaneProgram &program;
  int64_t stage;
};

} // namespace recipe::codegen
#endif
