// The policy of dialects/train/Formulas.h whose values are LLVM values: a formula instantiated on it emits its code.
//
// Floats are f32 or f64, scalars or vectors of any number of lanes; integer words have 32 bits and as many lanes. One
// call emits one operation.
#ifndef PASSES_CODEGEN_EMITPOLICY_H
#define PASSES_CODEGEN_EMITPOLICY_H

#include "dialects/train/Formulas.h"
#include "passes/codegen/KernelBuilder.h"

namespace recipe::codegen {

class EmitPolicy {
public:
  using F = Val;
  using I = Val;
  using B = Val;
  static constexpr bool kLibm = false; // the f32 sequences; f64 formulas call none of them

  // 16 lanes of f32.
  explicit EmitPolicy(KernelBuilder &builder) : EmitPolicy(builder, builder.f32Type(), kLanes) {}
  // `lanes` 1: scalars.
  EmitPolicy(KernelBuilder &builder, llvm::Type *floatType, int64_t lanes)
      : b(builder), floatType(vectorOf(floatType, lanes)), intType(vectorOf(builder.i32Type(), lanes)) {}
  static EmitPolicy scalar(KernelBuilder &builder) { return EmitPolicy(builder, builder.f32Type(), 1); }
  static EmitPolicy scalarF64(KernelBuilder &builder) { return EmitPolicy(builder, builder.f64Type(), 1); }

  F constant(double value) { return llvm::ConstantFP::get(floatType, value); }
  I constantInt(uint32_t value) { return llvm::ConstantInt::get(intType, value); }
  F add(F a, F c) { return b.add(a, c); }
  F sub(F a, F c) { return b.sub(a, c); }
  F mul(F a, F c) { return b.mul(a, c); }
  F div(F a, F c) { return b.div(a, c); }
  F neg(F a) { return b.neg(a); }
  F fma(F a, F c, F d) { return b.fma(a, c, d); }
  F sqrt(F a) { return b.sqrt(a); }
  B gt(F a, F c) { return b.ir().CreateFCmpOGT(a, c); }
  B ge(F a, F c) { return b.ir().CreateFCmpOGE(a, c); }
  B lt(F a, F c) { return b.ir().CreateFCmpOLT(a, c); }
  B le(F a, F c) { return b.ir().CreateFCmpOLE(a, c); }
  B eq(F a, F c) { return b.ir().CreateFCmpOEQ(a, c); }
  F select(B condition, F a, F c) { return b.select(condition, a, c); }
  I selectInt(B condition, I a, I c) { return b.select(condition, a, c); }
  B notB(B condition) { return b.ir().CreateNot(condition); }
  I bitcastToInt(F a) { return b.ir().CreateBitCast(a, intType); }
  F bitcastToFloat(I a) { return b.ir().CreateBitCast(a, floatType); }
  I addInt(I a, I c) { return b.ir().CreateAdd(a, c); }
  I subInt(I a, I c) { return b.ir().CreateSub(a, c); }
  I andInt(I a, I c) { return b.ir().CreateAnd(a, c); }
  I orInt(I a, I c) { return b.ir().CreateOr(a, c); }
  I xorInt(I a, I c) { return b.ir().CreateXor(a, c); }
  I shl(I a, unsigned by) { return b.ir().CreateShl(a, by); }
  I lshr(I a, unsigned by) { return b.ir().CreateLShr(a, by); }
  B ult(I a, I c) { return b.ir().CreateICmpULT(a, c); }
  F toFloat(I a) { return b.ir().CreateSIToFP(a, floatType); }

  // f64 scalars, in the prologue.
  F roundEven(F a) { return b.ir().CreateUnaryIntrinsic(llvm::Intrinsic::roundeven, a); }
  F pow(F a, F c) { return b.hostCall(offsetof(rcp_host_v1, pow), {a, c}); }
  F cos(F a) { return b.hostCall(offsetof(rcp_host_v1, cos), {a}); }

  // A scalar of this policy's element type in every lane, and the low and high word of an i64 likewise.
  F broadcast(Val scalar) { return spread(scalar, floatType); }
  train::Words<EmitPolicy> words(Val number) {
    llvm::IRBuilder<> &ir = b.ir();
    return {spread(ir.CreateTrunc(number, b.i32Type()), intType),
            spread(ir.CreateTrunc(ir.CreateLShr(number, 32), b.i32Type()), intType)};
  }

private:
  static llvm::Type *vectorOf(llvm::Type *element, int64_t lanes) {
    return lanes == 1 ? element : llvm::FixedVectorType::get(element, unsigned(lanes));
  }
  Val spread(Val scalar, llvm::Type *type) {
    auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
    return vector ? b.ir().CreateVectorSplat(vector->getNumElements(), scalar) : scalar;
  }

  KernelBuilder &b;
  llvm::Type *floatType, *intType;
};

} // namespace recipe::codegen
#endif
