// The tile registers of AMX, all of 16 rows of 64 bytes, in the use that products of 32 x 32 values make of them: 0 to
// 3 hold the values, 4 and 5 rows of the left operand, 6 and 7 columns of the right one.
#ifndef PASSES_CODEGEN_AMX_H
#define PASSES_CODEGEN_AMX_H

#include "passes/codegen/KernelBuilder.h"

namespace recipe::codegen {

class AmxTiles {
public:
  explicit AmxTiles(KernelBuilder &builder) : b(builder) {}
  void configure(); // once in a kernel, before all else
  void release();

  void load(int tile, Address from, int64_t strideBytes = 64);
  void store(int tile, Address to, int64_t strideBytes = 64);
  void zero(); // the values
  // Values +=: a block of 32 terms of rows [2 tiles] x columns [2 tiles].
  void addBlock(Address rows0, Address rows1, Address columns0, Address columns1);

private:
  KernelBuilder &b;
};

// The bf16 nearest to 32 values, <32 x i16>.
Val packBF16(KernelBuilder &builder, Val low, Val high);

} // namespace recipe::codegen
#endif
