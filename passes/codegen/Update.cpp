// The kernels around an update that work on StepParams: loss, gradient norm, schedule. One workgroup unless said
// otherwise.
//
// "step_loss"    buffers loss [8], count [8]
// "eval_loss"    scalars tokens; buffers losses, counts of tokens
// "schedule"     spec beta1, beta2
// The gradient norm is four launches. Tensors are told apart by a table, so that any number of them is one launch:
//   scalars      count of tensors n, then n first workgroups, then n numbers of elements; `grain` elements per
//   workgroup
// "norm_max"     many workgroups; buffers partials i32 [workgroups] (bits of the largest magnitude), tensors
// "norm_bound"   buffers partials; scalars workgroups; writes StepParams.norm_max
// "norm_bins"    many workgroups; buffers partials f64 [workgroups][3], tensors
// "norm_finish"  buffers partials; scalars workgroups; spec clip; writes grad_norm, grad_scale, skip_update
// Maxima of bit patterns and bin sums are exact: neither workgroups nor lanes enter the result.
#include "dialects/train/RunValues.h"
#include "passes/codegen/EmitPolicy.h"
#include "passes/codegen/KernelFamily.h"
#include "passes/codegen/Spec.h"

using namespace llvm;
using mlir::DictionaryAttr;

namespace recipe::codegen {
namespace {

Val readParam(KernelBuilder &b, size_t offset) { return b.param(offset, b.f64Type()); }

Error emitStepLoss(KernelBuilder &b, DictionaryAttr, mlir::Region &) {
  auto total = [&](unsigned buffer) {
    Vals rows;
    for (int64_t segment = 0; segment < 8; ++segment)
      rows.push_back(b.loadF32(b.at(b.buffer(buffer), segment)));
    return b.treeSum(rows);
  };
  b.setParam(offsetof(rcp_step_params_v1, loss_sum), b.ir().CreateFPExt(total(0), b.f64Type()));
  b.setParam(offsetof(rcp_step_params_v1, valid_tokens), b.ir().CreateFPToSI(total(1), b.i64Type()));
  return Error::success();
}

Error emitEvalLoss(KernelBuilder &b, DictionaryAttr, mlir::Region &) {
  EmitPolicy p = EmitPolicy::scalarF64(b);
  Val none = p.constant(0.0);
  Vals sums = b.forLoop(b.i64(0), b.scalar(0), b.i64(1), {none, none}, [&](Val token, ValRange carried) {
    auto wide = [&](unsigned buffer) {
      return b.ir().CreateFPExt(b.loadF32(b.at(b.buffer(buffer), token)), b.f64Type());
    };
    return Vals{b.add(carried[0], train::evalTerm(p, wide(0))), b.add(carried[1], wide(1))};
  });
  b.setParam(offsetof(rcp_step_params_v1, loss_sum), sums[0]);
  b.setParam(offsetof(rcp_step_params_v1, valid_tokens), b.ir().CreateFPToSI(sums[1], b.i64Type()));
  return Error::success();
}

Error emitSchedule(KernelBuilder &b, DictionaryAttr spec, mlir::Region &) {
  EmitPolicy p = EmitPolicy::scalarF64(b);
  auto runValue = [&](train::RunValueSlot slot) {
    return readParam(b, offsetof(rcp_step_params_v1, run_values) + 8 * size_t(slot));
  };
  Val step = b.param(offsetof(rcp_step_params_v1, step), b.i64Type());
  train::ScheduleInputs<EmitPolicy> inputs{b.ir().CreateSIToFP(step, b.f64Type()),
                                           runValue(train::LearningRate),
                                           runValue(train::MinLrRatio),
                                           runValue(train::Scheduler),
                                           runValue(train::WarmupSteps),
                                           runValue(train::WarmupRatio),
                                           runValue(train::MaxSteps),
                                           p.constant(specFloat(spec, "beta1")),
                                           p.constant(specFloat(spec, "beta2"))};
  auto values = train::scheduleOf(p, inputs);
  b.setParam(offsetof(rcp_step_params_v1, learning_rate), values.learningRate);
  b.setParam(offsetof(rcp_step_params_v1, bias_correction1), values.biasCorrection1);
  b.setParam(offsetof(rcp_step_params_v1, bias_correction2), values.biasCorrection2);
  return Error::success();
}

// The elements of this workgroup: a tensor (buffer 1 + number) and a range.
struct OwnElements {
  Address tensor;
  Val lo, hi;
};

OwnElements findOwn(KernelBuilder &b, DictionaryAttr spec) {
  Val count = b.scalar(0), workgroup = b.workgroup();
  auto firstOf = [&](Val tensor) { return b.scalarAt(b.iadd(tensor, 1)); };
  // The last tensor whose first workgroup is not after this one, by bisection.
  Val tensor = b.whileLoop(
      {b.i64(0), count}, [&](ValRange now) { return b.ilt(b.i64(1), b.isub(now[1], now[0])); },
      [&](ValRange now) {
        Val middle = b.idiv(b.iadd(now[0], now[1]), 2);
        Val after = b.ilt(workgroup, firstOf(middle));
        return Vals{b.select(after, now[0], middle), b.select(after, middle, now[1])};
      })[0];
  Val grain = b.i64(specInt(spec, "grain"));
  Val lo = b.imul(b.isub(workgroup, firstOf(tensor)), grain);
  Val elements = b.scalarAt(b.iadd(b.iadd(tensor, count), 1));
  return {b.bufferAt(1, tensor), lo, b.imin(b.iadd(lo, grain), elements)};
}

Val largerWord(KernelBuilder &b, Val a, Val c) { return b.ir().CreateBinaryIntrinsic(Intrinsic::umax, a, c); }

Val largestWord(KernelBuilder &b, Val words) { return b.ir().CreateIntMaxReduce(words, /*IsSigned=*/false); }

Error emitNormMax(KernelBuilder &b, DictionaryAttr spec, mlir::Region &) {
  OwnElements own = findOwn(b, spec);
  Val magnitude = ConstantInt::get(b.lanesOf(b.i32Type()), 0x7fffffff);
  Val none = Constant::getNullValue(b.lanesOf(b.i32Type()));
  Val words = b.forLanes(own.lo, own.hi, {none}, [&](Val element, Val mask, ValRange largest) {
    Val bits = b.loadLanes(b.at(own.tensor, element), b.i32Type(), mask);
    return Vals{largerWord(b, largest[0], b.ir().CreateAnd(bits, magnitude))};
  })[0];
  b.store(b.at(b.buffer(0), b.workgroup()), largestWord(b, words));
  return Error::success();
}

Error emitNormBound(KernelBuilder &b, DictionaryAttr, mlir::Region &) {
  Val none = Constant::getNullValue(b.lanesOf(b.i32Type()));
  Val words = b.forLanes(b.i64(0), b.scalar(0), {none}, [&](Val index, Val mask, ValRange largest) {
    return Vals{largerWord(b, largest[0], b.loadLanes(b.at(b.buffer(0), index), b.i32Type(), mask))};
  })[0];
  Val largest = b.ir().CreateBitCast(largestWord(b, words), b.f32Type());
  b.setParam(offsetof(rcp_step_params_v1, norm_max), b.ir().CreateFPExt(largest, b.f64Type()));
  return Error::success();
}

// Positive and finite.
Val isUsable(KernelBuilder &b, Val largest) {
  Val infinity = ConstantFP::getInfinity(b.f64Type());
  return b.ir().CreateAnd(b.ir().CreateFCmpOGT(largest, b.f64(0.0)), b.ir().CreateFCmpOLT(largest, infinity));
}

// Additions as multiply-adds by a one that the optimiser does not see: processors with units of their own for additions
// then use both kinds.
class FusedAdditions : public EmitPolicy {
public:
  FusedAdditions(KernelBuilder &builder, unsigned lanes, Val one)
      : EmitPolicy(builder, builder.f64Type(), lanes), builder(builder), one(one) {}
  F add(F a, F c) { return builder.fma(a, one, c); }

private:
  KernelBuilder &builder;
  Val one;
};

// Eight f64 lanes at a time: three bins of 16 would not fit the registers of AVX2.
Error emitNormBins(KernelBuilder &b, DictionaryAttr spec, mlir::Region &) {
  constexpr unsigned kWide = 8;
  EmitPolicy p(b, b.f64Type(), kWide);
  IRBuilder<> &ir = b.ir();
  OwnElements own = findOwn(b, spec);
  Val largest = readParam(b, offsetof(rcp_step_params_v1, norm_max));
  b.ifThen(isUsable(b, largest), [&] {
    Val exponent = ir.CreateLShr(ir.CreateBitCast(b.mul(largest, largest), b.i64Type()), 52);
    Val constants[train::kNormBins];
    for (int bin = 0; bin < train::kNormBins; ++bin) {
      // binConstantBits(exponent, bin) for an exponent known at run time: its bits for exponent 0, plus the exponent.
      Val bits = ir.CreateAdd(ir.CreateShl(exponent, 52), b.i64(int64_t(train::binConstantBits(0, bin))));
      constants[bin] = p.broadcast(ir.CreateBitCast(bits, b.f64Type()));
    }
    FusedAdditions fused(b, kWide, b.div(constants[0], constants[0]));
    Val none = p.constant(0.0);
    Vals bins = b.forLanes(own.lo, own.hi, {none, none, none}, [&](Val element, Val mask, ValRange carried) {
      Val values = b.loadLanes(b.at(own.tensor, element), mask);
      Val sums[train::kNormBins] = {carried[0], carried[1], carried[2]};
      for (int half = 0; half < 2; ++half) {
        SmallVector<int> lanes;
        for (unsigned lane = 0; lane < kWide; ++lane)
          lanes.push_back(int(half * kWide + lane));
        Val wide = ir.CreateFPExt(ir.CreateShuffleVector(values, lanes), FixedVectorType::get(b.f64Type(), kWide));
        train::addToBins(fused, b.mul(wide, wide), constants, sums);
      }
      return Vals{sums[0], sums[1], sums[2]};
    });
    for (auto [bin, lanes] : enumerate(bins)) {
      Vals items;
      for (unsigned lane = 0; lane < kWide; ++lane)
        items.push_back(ir.CreateExtractElement(lanes, uint64_t(lane)));
      b.store(b.at(b.buffer(0), b.iadd(b.imul(b.workgroup(), train::kNormBins), int64_t(bin)), 8), b.treeSum(items), 8);
    }
  });
  return Error::success();
}

Error emitNormFinish(KernelBuilder &b, DictionaryAttr spec, mlir::Region &) {
  EmitPolicy p = EmitPolicy::scalarF64(b);
  IRBuilder<> &ir = b.ir();
  double clip = specFloat(spec, "clip");
  Val largest = readParam(b, offsetof(rcp_step_params_v1, norm_max));
  Val total = b.ifElse(
      isUsable(b, largest),
      [&] {
        Val none = p.constant(0.0);
        Vals bins = b.forLoop(b.i64(0), b.scalar(0), b.i64(1), {none, none, none}, [&](Val group, ValRange carried) {
          Vals next;
          for (int bin = 0; bin < train::kNormBins; ++bin)
            next.push_back(
                b.add(carried[bin],
                      b.load(b.at(b.buffer(0), b.iadd(b.imul(group, train::kNormBins), bin), 8), b.f64Type(), 8)));
          return next;
        });
        return Vals{b.add(b.add(bins[2], bins[1]), bins[0])};
      },
      [&] { return Vals{largest}; })[0]; // 0, infinite or NaN
  auto isFinite = [&](Val value) { return ir.CreateFCmpOLT(b.abs(value), ConstantFP::getInfinity(b.f64Type())); };
  Val validTokens = b.param(offsetof(rcp_step_params_v1, valid_tokens), b.i64Type());
  Val valid = ir.CreateSIToFP(validTokens, b.f64Type());
  Val norm = b.div(b.sqrt(total), valid);
  Val factor = p.constant(1.0);
  if (clip > 0) {
    Val ratio = b.div(p.constant(clip), b.add(norm, p.constant(1e-6)));
    factor = b.select(p.lt(ratio, factor), ratio, factor);
  }
  Val usable =
      ir.CreateAnd(ir.CreateAnd(isFinite(total), isFinite(readParam(b, offsetof(rcp_step_params_v1, loss_sum)))),
                   b.ilt(b.i64(0), validTokens));
  b.setParam(offsetof(rcp_step_params_v1, grad_norm), norm);
  b.setParam(offsetof(rcp_step_params_v1, grad_scale), b.div(factor, valid));
  b.setParam(offsetof(rcp_step_params_v1, skip_update), b.select(usable, b.i64(0), b.i64(1)));
  return Error::success();
}

} // namespace

ArrayRef<NamedEmitRule> updateFamilies() {
  static constexpr NamedEmitRule families[] = {
      {"step_loss", emitStepLoss},     {"eval_loss", emitEvalLoss},   {"schedule", emitSchedule},
      {"norm_max", emitNormMax},       {"norm_bound", emitNormBound}, {"norm_bins", emitNormBins},
      {"norm_finish", emitNormFinish},
  };
  return families;
}

} // namespace recipe::codegen
