#include "passes/codegen/Amx.h"
#include "passes/codegen/BF16.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/Module.h"
#include <numeric>

using namespace llvm;

namespace recipe::codegen {

static Val number(KernelBuilder &b, int tile) { return b.ir().getInt8(uint8_t(tile)); }

void AmxTiles::configure() {
  Function *function = b.ir().GetInsertBlock()->getParent();
  uint8_t shapes[64] = {1}; // palette
  for (int tile = 0; tile < 8; ++tile)
    shapes[16 + 2 * tile] = 64, shapes[48 + tile] = 16;
  auto *data = ConstantDataArray::get(b.ir().getContext(), ArrayRef<uint8_t>(shapes));
  auto *global = new GlobalVariable(*function->getParent(), data->getType(), /*isConstant=*/true,
                                    GlobalValue::PrivateLinkage, data, function->getName() + ".tiles");
  global->setAlignment(Align(64));
  b.ir().CreateIntrinsic(Intrinsic::x86_ldtilecfg, {}, {global});
}

// A thread without tiles in use is cheaper to switch.
void AmxTiles::release() { b.ir().CreateIntrinsic(Intrinsic::x86_tilerelease, ArrayRef<Value *>()); }

void AmxTiles::load(int tile, Address from, int64_t strideBytes) {
  b.ir().CreateIntrinsic(Intrinsic::x86_tileloadd64, {}, {number(b, tile), from.pointer, b.i64(strideBytes)});
}

void AmxTiles::store(int tile, Address to, int64_t strideBytes) {
  b.ir().CreateIntrinsic(Intrinsic::x86_tilestored64, {}, {number(b, tile), to.pointer, b.i64(strideBytes)});
}

void AmxTiles::zero() {
  for (int tile = 0; tile < 4; ++tile)
    b.ir().CreateIntrinsic(Intrinsic::x86_tilezero, {}, {number(b, tile)});
}

void AmxTiles::addBlock(Address rows0, Address rows1, Address columns0, Address columns1) {
  auto multiplyAdd = [&](int value, int left, int right) {
    b.ir().CreateIntrinsic(Intrinsic::x86_tdpbf16ps, {}, {number(b, value), number(b, left), number(b, right)});
  };
  load(4, rows0);
  load(6, columns0);
  multiplyAdd(0, 4, 6);
  load(7, columns1);
  multiplyAdd(1, 4, 7);
  load(5, rows1);
  multiplyAdd(2, 5, 6);
  multiplyAdd(3, 5, 7);
}

Val packBF16(KernelBuilder &b, Val low, Val high) {
  auto *halves = FixedVectorType::get(b.ir().getInt16Ty(), 32);
  if (hasBF16Instructions(b.getTarget()))
    return b.ir().CreateBitCast(b.ir().CreateIntrinsic(Intrinsic::x86_avx512bf16_cvtne2ps2bf16_512, {}, {high, low}),
                                halves);
  auto upper = [&](Val lanes) {
    Val words = b.ir().CreateBitCast(roundToBF16(b, lanes), b.lanesOf(b.i32Type()));
    return b.ir().CreateTrunc(b.ir().CreateLShr(words, 16), b.lanesOf(b.ir().getInt16Ty()));
  };
  SmallVector<int> all(32);
  std::iota(all.begin(), all.end(), 0);
  return b.ir().CreateShuffleVector(upper(low), upper(high), all);
}

} // namespace recipe::codegen
