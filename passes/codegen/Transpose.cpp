#include "passes/codegen/Transpose.h"

using namespace llvm;

void recipe::codegen::transpose8x8(KernelBuilder &b, MutableArrayRef<Val> r) {
  auto shuffle = [&](Val x, Val y, ArrayRef<int> lanes) { return b.ir().CreateShuffleVector(x, y, lanes); };
  Val t[8];
  for (int i = 0; i < 8; i += 2) { // pairs of rows, 32-bit elements interleaved in each half
    t[i] = shuffle(r[i], r[i + 1], {0, 8, 1, 9, 4, 12, 5, 13});
    t[i + 1] = shuffle(r[i], r[i + 1], {2, 10, 3, 11, 6, 14, 7, 15});
  }
  Val u[8];
  for (int i = 0; i < 8; i += 4)
    for (int j = 0; j < 2; ++j) { // 64-bit elements
      u[i + 2 * j] = shuffle(t[i + j], t[i + j + 2], {0, 1, 8, 9, 4, 5, 12, 13});
      u[i + 2 * j + 1] = shuffle(t[i + j], t[i + j + 2], {2, 3, 10, 11, 6, 7, 14, 15});
    }
  for (int i = 0; i < 4; ++i) { // halves
    r[i] = shuffle(u[i], u[i + 4], {0, 1, 2, 3, 8, 9, 10, 11});
    r[i + 4] = shuffle(u[i], u[i + 4], {4, 5, 6, 7, 12, 13, 14, 15});
  }
}
