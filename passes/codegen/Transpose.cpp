#include "passes/codegen/Transpose.h"
#include <numeric>

using namespace llvm;
using namespace recipe::codegen;

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

// In each quarter of 16 lanes the same four: of x where below 4, of y above.
static Val inQuarters(KernelBuilder &b, Val x, Val y, ArrayRef<int> lanes) {
  SmallVector<int> all;
  for (int quarter = 0; quarter < 16; quarter += 4)
    for (int lane : lanes)
      all.push_back(quarter + (lane < 4 ? lane : 16 + lane - 4));
  return b.ir().CreateShuffleVector(x, y, all);
}

auto recipe::codegen::transpose16x4(KernelBuilder &b, ArrayRef<Val> rows) -> SmallVector<Val, 4> {
  // Vector i: rows i, i + 4, i + 8, i + 12, which come from memory into their quarters.
  auto join = [&](Val x, Val y) {
    SmallVector<int> all(2 * cast<FixedVectorType>(x->getType())->getNumElements());
    std::iota(all.begin(), all.end(), 0);
    return b.ir().CreateShuffleVector(x, y, all);
  };
  Val r[4];
  for (size_t i = 0; i < 4; ++i)
    r[i] = join(join(rows[i], rows[i + 4]), join(rows[i + 8], rows[i + 12]));
  // Then each quarter is transposed.
  auto inEach = [&](Val x, Val y, ArrayRef<int> lanes) { return inQuarters(b, x, y, lanes); };
  Val low[2], high[2];
  for (int i = 0; i < 2; ++i) {
    low[i] = inEach(r[2 * i], r[2 * i + 1], {0, 4, 1, 5});
    high[i] = inEach(r[2 * i], r[2 * i + 1], {2, 6, 3, 7});
  }
  return {inEach(low[0], low[1], {0, 1, 4, 5}), inEach(low[0], low[1], {2, 3, 6, 7}),
          inEach(high[0], high[1], {0, 1, 4, 5}), inEach(high[0], high[1], {2, 3, 6, 7})};
}

void recipe::codegen::transpose16x16(KernelBuilder &b, MutableArrayRef<Val> r) {
  // Interleaved within each quarter: elements, then pairs of them.
  auto inEach = [&](Val x, Val y, ArrayRef<int> lanes) { return inQuarters(b, x, y, lanes); };
  Val t[16], u[16];
  for (int i = 0; i < 16; i += 2) {
    t[i] = inEach(r[i], r[i + 1], {0, 4, 1, 5});
    t[i + 1] = inEach(r[i], r[i + 1], {2, 6, 3, 7});
  }
  // u[i + c]: of rows i .. i + 3 column 4 q + c in quarter q.
  for (int i = 0; i < 16; i += 4)
    for (int j = 0; j < 2; ++j) {
      u[i + 2 * j] = inEach(t[i + j], t[i + j + 2], {0, 1, 4, 5});
      u[i + 2 * j + 1] = inEach(t[i + j], t[i + j + 2], {2, 3, 6, 7});
    }
  // Then whole quarters: the 4 x 4 of them is transposed.
  auto quarters = [&](Val x, Val y, ArrayRef<int> numbers) {
    SmallVector<int> all;
    for (int number : numbers)
      for (int lane = 0; lane < 4; ++lane)
        all.push_back(4 * number + lane);
    return b.ir().CreateShuffleVector(x, y, all);
  };
  for (int c = 0; c < 4; ++c) {
    Val even0 = quarters(u[c], u[4 + c], {0, 2, 4, 6}), odd0 = quarters(u[c], u[4 + c], {1, 3, 5, 7});
    Val even1 = quarters(u[8 + c], u[12 + c], {0, 2, 4, 6}), odd1 = quarters(u[8 + c], u[12 + c], {1, 3, 5, 7});
    r[c] = quarters(even0, even1, {0, 2, 4, 6});
    r[8 + c] = quarters(even0, even1, {1, 3, 5, 7});
    r[4 + c] = quarters(odd0, odd1, {0, 2, 4, 6});
    r[12 + c] = quarters(odd0, odd1, {1, 3, 5, 7});
  }
}
